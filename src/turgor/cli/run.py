"""`turgor run`: simulate a scene, record it, report."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from turgor.cli import completion

if TYPE_CHECKING:
    from turgor.scene import Scene
    from turgor.shapes.limits import Limits

__all__ = ["run"]


def run(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            help="A scene of the gallery, or a scene file (.toml).",
            autocompletion=completion.scenes,
        ),
    ],
    seconds: Annotated[float | None, typer.Option(help="Simulated time, s. Default: the scene's.")] = None,
    device: Annotated[
        str,
        typer.Option(
            help="cpu, cuda (an NVIDIA GPU), cuda:1, or auto (a GPU if there is one).",
            autocompletion=completion.devices,
        ),
    ] = "cpu",
    solver: Annotated[
        str | None,
        typer.Option(
            help="auto, euler, symplectic, midpoint, heun, rk4, rk4-martin or implicit. Default: the scene's.",
            autocompletion=completion.solvers,
        ),
    ] = None,
    fps: Annotated[float | None, typer.Option(help="Frames per simulated second. Default: the scene's.")] = None,
    substeps: Annotated[
        str | None, typer.Option(metavar="N|auto", help="Steps per frame; auto picks a stable number.")
    ] = None,
    accuracy: Annotated[
        str | None,
        typer.Option(metavar="X|auto", help="Share of energy that a solver may add or take in a minute, as 0.01."),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(help="single or double. Default: the scene's.", autocompletion=completion.precisions),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(
            help="features, particles, particles-martin, particles-adaptive, bounding or none.",
            autocompletion=completion.contacts,
        ),
    ] = None,
    worlds: Annotated[int, typer.Option(help="Copies of the scene that run at once; the first is recorded.")] = 1,
    threads: Annotated[
        str, typer.Option(metavar="N|auto", help="CPU threads that share a frame; auto: all cores where that gains.")
    ] = "auto",
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a value of the scene. May be repeated."),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Record to a file, format by its ending. May be repeated.",
            autocompletion=completion.recordings,
        ),
    ] = None,
    looks: Annotated[
        list[str] | None,
        typer.Option("--look", metavar="KEY=VALUE", help="How pictures are drawn. May be repeated."),
    ] = None,
    readings: Annotated[
        bool, typer.Option("--readings", help="Sum up contact forces, and report those of the last frame.")
    ] = False,
    sleeping: Annotated[
        bool, typer.Option("--sleeping", help="Leave bodies at rest out until something disturbs them.")
    ] = False,
    static: Annotated[
        bool, typer.Option("--static", help="Find the state of rest instead of simulating; records that one frame.")
    ] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="every=N", help="Save the state every N frames (every=30s: of wall time), to go on after a kill."
        ),
    ] = None,
    checkpoint_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where to save it. Default: beside the first output, NAME.checkpoint.npz."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the checkpoint; without one, start from the beginning.")
    ] = False,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="Let the scene file name files outside its folder.")
    ] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option("--limit", metavar="KEY=N", help="Let the scene file ask for more. May be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing (but errors).")] = False,
) -> None:
    """Simulate a scene, record it, and report.

    SCENE is a name that `turgor scenes` lists, or a scene file.

    \b
    turgor run drop                             simulate and report
    turgor run drop -o drop.mp4 -o drop.vtkhdf  and record
    turgor run drop --set ball.mass=2 --set gravity=[0,0,-1.6]
    turgor run my.toml --seconds 10 --json > result.json
    turgor run drop --static -o rest.png        where it comes to rest

    \b
    Formats of -o, by the ending:
      .mp4 .webm .gif  video (needs the extra: pip install 'turgor[render]')
      .png             the last frame; frame_%04d.png: every frame (same extra)
      .html            a page that plays in any browser, offline ([play])
      .glb             animated model, for Blender, engines and web pages
      .usd .usda .usdc .usdz  all frames, for Blender, Houdini ([export])
      .obj .ply        the last frame as a mesh; frame_%04d.obj: every frame
      .vtkhdf          all frames, for ParaView; readable even after a kill
      .npz             all frames, as NumPy arrays
      .rrd             all frames and plots of pressure, for Rerun ([rerun])
    A .vtkhdf file becomes any of the others later: turgor export --help.

    \b
    --set PATH=VALUE: PATH starts with the name of a body or a wall, or is
    gravity, wind, air_density or simulation.KEY; VALUE is as in a scene file:
      ball.springs.stiffness=200     ball.gas.gauge=5000
      ball.gas={gauge=500,ambient=0} ball.shape.icosphere.subdivisions=3
      ball.gas.pressure_at=equilibrium (the gauge that holds, not that at rest)
      flag.pins=left                 ground.friction=0.1
      ball.velocity.z=-3             gravity.x=2
      wind=[3,0,0]                   simulation.max_substeps=10000

    \b
    --look KEY=VALUE, for videos and pictures:
      size=[640,360]      view=[-66,17] (azimuth, elevation)   zoom=1.5
      velocities=true     normals=true     timestamp=true
      color_by=pressure   color_by=speed   color_by=stress   texture=flag.png

    \b
    --limit KEY=N, where a scene file may ask for more than it should:
      vertices=2e7 (of all bodies)   mesh_bytes=5e8 (of a mesh file)
      scene_bytes=6e7 (of the scene file)

    What looks wrong (volume lost, pressures that do not hold, units) is listed under the summary, and in --json.

    A run with --checkpoint that was killed goes on with the same command and --resume: to the same state (state_hash
    in --json) and the same .vtkhdf file; videos and others are made again from that file, so record one too.
    The checkpoint is removed when the run is complete.

    Exit codes: 0 fine, 1 the simulation failed, 2 bad input. A failed run leaves no half-written video. Ctrl-C (also
    SIGTERM, or a terminal that is closed) finishes all files with what was simulated, and reports; code 130 (143, 129).
    """
    from pathlib import Path

    from turgor.cli.arguments import pairs_of
    from turgor.cli.job import Job
    from turgor.cli.printing import print_json
    from turgor.cli.recovery import Recovery, every_of, place_of
    from turgor.cli.terminal import ended_by
    from turgor.errors import SceneError

    paths = [Path(output) for output in outputs or []]
    place = Path(checkpoint_file) if checkpoint_file else place_of(scene, paths)
    recovery = Recovery(place, every_of(checkpoint), resume)
    if checkpoint_file and checkpoint is None and not resume:
        raise SceneError("--checkpoint-file has no effect alone: add --checkpoint every=60, or --resume")
    pictured = pairs_of("--look", looks, "timestamp=true")
    limits = limits_of(pairs_of("--limit", limit, "vertices=5e7"))
    of_cpu = int(threads) if threads.isdecimal() else threads
    job = Job(load_scene(scene, allow_outside, limits), paths, pictured, worlds, recovery, readings, static, of_cpu)
    for path, value in pairs_of("--set", changes, "ball.mass=2").items():
        job.scene.set(path, value)
    settings = {
        "seconds": seconds,
        "solver": solver,
        "fps": fps,
        "substeps": int(substeps) if substeps is not None and substeps.isdecimal() else substeps,
        "accuracy": accuracy if accuracy in (None, "auto") else _number("--accuracy", accuracy),
        "precision": precision,
        "contact": contact,
        "sleeping": sleeping or None,
    }
    if static and seconds is not None:
        raise SceneError("--static finds the state of rest, which takes no time: leave --seconds out")
    for key, setting in settings.items():
        if setting is not None:
            job.scene.set(f"simulation.{key}", setting)
    job.check()
    talk = not (quiet or as_json)
    if resume and talk and not recovery.goes_on:
        print(f"turgor: there is no checkpoint {place}: starts from the beginning", file=sys.stderr)
    with contextlib.redirect_stdout(sys.stderr):  # whatever a library prints, stdout stays ours
        job.simulate(device, talk)
    if as_json:
        print_json(job.result())
    elif not quiet:
        job.report()
    if job.signal:
        raise typer.Exit(ended_by(job.signal))


def limits_of(pairs: dict[str, str]) -> Limits:
    """The limits of --limit KEY=N."""
    from turgor.errors import SceneError, did_you_mean
    from turgor.shapes.limits import Limits

    numbers = {}
    for key, value in pairs.items():
        if key not in Limits.__dataclass_fields__:
            raise SceneError(f"--limit {key}: unknown; {did_you_mean(key, Limits.__dataclass_fields__)}")
        try:
            numbers[key] = int(float(value))
        except (ValueError, OverflowError):
            raise SceneError(f"--limit {key} must be a number such as 5e7, got {value!r}") from None
    return Limits(**numbers)


def load_scene(name: str, allow_outside: bool = False, limits: Limits | None = None) -> Scene:
    """A scene by the name of the gallery, or from a file."""
    from pathlib import Path

    from turgor import gallery
    from turgor.errors import SceneError
    from turgor.scene import Scene

    if name in gallery.names():
        return gallery.load(name)
    path = Path(name)
    if path.suffix == ".toml":
        return Scene.load(path, allow_outside=allow_outside, limits=limits)
    if path.exists() or path.name != name:
        raise SceneError(f"{name}: not a scene file; its name must end in .toml")
    return gallery.load(name)  # raises, with a suggestion


def _number(option: str, text: str) -> float:
    """An argument as a number."""
    from turgor.errors import SceneError

    try:
        return float(text)
    except ValueError:
        raise SceneError(f"{option} must be 'auto' or a number such as 0.01, got {text!r}") from None
