"""How `turgor run` survives a kill: where its checkpoint lies, whether one fits, and outputs that go on with it.

turgor run pile --seconds 60 -o pile.vtkhdf --checkpoint every=60            killed at some moment ...
turgor run pile --seconds 60 -o pile.vtkhdf --checkpoint every=60 --resume   ... goes on, to the same state and file
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turgor.errors import SceneError
from turgor.record import read
from turgor.scene import Scene

if TYPE_CHECKING:
    from turgor.record import FileSink
    from turgor.simulation.checkpoint import Every
    from turgor.simulation.simulation import Simulation

__all__ = ["Recovery", "every_of", "place_of"]

STREAMED = ".vtkhdf"  # the format that can go on


def every_of(option: str | None) -> Every | None:
    """`every=50` (frames) or `every=30s` (wall time), as --checkpoint takes it."""
    if option is None:
        return None
    key, equals, value = option.partition("=")
    if key.strip() != "every" or not equals:
        raise SceneError(f"--checkpoint {option}: write --checkpoint every=50 (frames) or every=30s (wall time)")
    return int(value) if value.isdecimal() else value


def place_of(scene: str, outputs: Sequence[Path]) -> Path:
    """Beside the first output, a.vtkhdf -> a.checkpoint.npz; without outputs in this folder, by the scene's name."""
    first = outputs[0] if outputs else Path(Path(scene).name)
    stem = first.stem.partition("%")[0].rstrip("_-. ") or "run"
    return first.with_name(f"{stem}.checkpoint.npz")


class Recovery:
    """The options --checkpoint, --checkpoint-file and --resume of a run.

    every: of checkpoints; None makes none. resume: whether to go on with the checkpoint that is there, if one is.
    """

    def __init__(self, path: Path, every: Every | None = None, resume: bool = False) -> None:
        self.path, self.every, self.resume = path, every, resume
        self.resumed_from: int | None = None  # frame

    @property
    def options(self) -> dict[str, Any]:
        """What `Simulation.run` is told of checkpoints."""
        if self.every is None:
            return {}
        return {"checkpoint": self.path, "every": self.every}

    @property
    def goes_on(self) -> bool:
        """Whether there is a checkpoint to go on with."""
        return self.resume and self.path.exists()

    def check(self, outputs: Sequence[Path], static: bool) -> None:
        """Raises what can be found wrong before anything is computed."""
        if static and (self.every is not None or self.resume):
            raise SceneError("--static computes no frames: leave --checkpoint and --resume out")
        if self.every is not None:
            from turgor.simulation.checkpoint import Checkpoint  # late: it needs Warp, which takes a second to load

            Checkpoint(self.path, self.every)
        if self.path.absolute() in [output.absolute() for output in outputs]:
            raise SceneError(f"{self.path}: is an output and the checkpoint; name another one with --checkpoint-file")
        others = [path for path in outputs if path.suffix.lower() != STREAMED]
        if others and len(others) == len(outputs) and (self.every is not None or self.goes_on):
            raise SceneError(
                f"{others[0]}: cannot go on after a kill; record a {STREAMED} file too, from which it is made again, "
                f"as in -o {others[0].with_suffix(STREAMED).name}"
            )

    def simulation(
        self, scene: Scene, device: str, worlds: int, readings: bool, threads: int | str
    ) -> Simulation | None:
        """The simulation as the checkpoint has it; None if there is none. SceneError if it is not of this run."""
        if not self.goes_on:
            return None
        from turgor.simulation.devices import chosen_device
        from turgor.simulation.save import described, inlined
        from turgor.simulation.simulation import Simulation

        kept = described(self.path)
        now = {"worlds": worlds, "readings": readings, "device": str(chosen_device(device)).partition(":")[0]}
        before = {
            "worlds": kept.settings.get("worlds"), "readings": kept.settings.get("readings"),
            "device": kept.device.partition(":")[0],
        }  # fmt: skip
        other = next((key for key in now if now[key] != before[key]), None)
        if other is None and _timeless(inlined(scene).to_toml()) != _timeless(kept.scene):
            other = "scene"
        if other is not None:
            what = "of another scene, or made with other settings" if other == "scene" else f"made with other {other}"
            raise SceneError(
                f"{self.path}: this checkpoint is {what}; run it as it was started, or anew, without --resume"
            )
        sim = Simulation.load(self.path, device, threads=threads)
        self.resumed_from = sim.frame_index
        return sim

    def frames_left(self, sim: Simulation, seconds: float) -> int:
        """Until the end of a run of so many seconds."""
        left = round(seconds * sim.settings.fps) - sim.frame_index
        if left < 0:
            raise SceneError(
                f"{self.path}: this checkpoint is at {sim.time:g} s, beyond the end of the run, {seconds:g} s; "
                "ask for more --seconds"
            )
        return left

    def open_sinks(
        self, outputs: Sequence[Path], open_sink: Callable[..., FileSink], stack: ExitStack
    ) -> list[FileSink]:
        """A sink for each path, closed by `stack`. Those of a run that goes on have its first frames already: a
        trajectory keeps them, and all else is made again from the trajectory."""
        if not self.resumed_from:
            return [stack.enter_context(open_sink(path)) for path in outputs]
        streamed = {
            path: stack.enter_context(open_sink(path, keep=self.resumed_from))
            for path in outputs
            if path.suffix.lower() == STREAMED
        }
        others = {path: stack.enter_context(open_sink(path)) for path in outputs if path not in streamed}
        if others:
            with read(next(iter(streamed))) as run:
                for index in range(self.resumed_from):
                    frame = run[index]
                    for sink in others.values():
                        sink.add(frame)
        return [(streamed | others)[path] for path in outputs]


def _timeless(scene: str) -> Scene:
    """The scene of a text, without how long it runs: a run may go on for longer than was planned."""
    described = Scene.from_toml(scene)
    described.set("simulation.seconds", 1.0)
    return described
