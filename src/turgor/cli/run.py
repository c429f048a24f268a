"""`turgor run`: simulate a scene, record it, report."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from turgor.cli import completion

if TYPE_CHECKING:
    from turgor.scene import Scene

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
    static: Annotated[
        bool, typer.Option("--static", help="Find the state of rest instead of simulating; records that one frame.")
    ] = False,
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
      .mp4 .gif      video (needs the extra: pip install 'turgor[render]')
      .png           the last frame; frame_%04d.png: every frame (same extra)
      .vtkhdf        all frames, for ParaView; readable even after a kill
      .npz           all frames, as NumPy arrays

    \b
    --set PATH=VALUE: PATH starts with the name of a body or a wall, or is
    gravity, wind, air_density or simulation.KEY; VALUE is as in a scene file:
      ball.springs.stiffness=200     ball.gas.gauge=5000
      ball.gas={gauge=500,ambient=0} ball.shape.icosphere.subdivisions=3
      ball.gas.pressure_at=equilibrium (the gauge that holds, not that at rest)
      flag.pins=left                 ground.friction=0.1
      wind=[3,0,0]                   simulation.max_substeps=10000

    \b
    --look KEY=VALUE, for videos and pictures:
      size=[640,360]      view=[-66,17] (azimuth, elevation)   zoom=1.5
      velocities=true     normals=true     timestamp=true
      color_by=pressure   color_by=speed   color_by=stress   texture=flag.png

    What looks wrong (volume lost, pressures that do not hold, units) is listed under the summary, and in --json.

    Exit codes: 0 fine, 1 the simulation failed, 2 bad input. A failed run leaves no half-written video.
    """
    from turgor.cli.job import Job
    from turgor.cli.printing import print_json
    from turgor.errors import SceneError

    job = Job(load_scene(scene), outputs or [], _pairs("--look", looks, "timestamp=true"), worlds, readings, static)
    for path, value in _pairs("--set", changes, "ball.mass=2").items():
        job.scene.set(path, value)
    settings = {
        "seconds": seconds,
        "solver": solver,
        "fps": fps,
        "substeps": int(substeps) if substeps is not None and substeps.isdecimal() else substeps,
        "accuracy": accuracy if accuracy in (None, "auto") else _number("--accuracy", accuracy),
        "precision": precision,
        "contact": contact,
    }
    if static and seconds is not None:
        raise SceneError("--static finds the state of rest, which takes no time: leave --seconds out")
    for key, setting in settings.items():
        if setting is not None:
            job.scene.set(f"simulation.{key}", setting)
    job.check()
    with contextlib.redirect_stdout(sys.stderr):  # whatever a library prints, stdout stays ours
        job.simulate(device, talk=not (quiet or as_json))
    if as_json:
        print_json(job.result())
    elif not quiet:
        job.report()


def load_scene(name: str) -> Scene:
    """A scene by the name of the gallery, or from a file."""
    from pathlib import Path

    from turgor import gallery
    from turgor.errors import SceneError
    from turgor.scene import Scene

    if name in gallery.names():
        return gallery.load(name)
    path = Path(name)
    if path.suffix == ".toml":
        return Scene.load(path)
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


def _pairs(option: str, texts: list[str] | None, example: str) -> dict[str, str]:
    """KEY=VALUE arguments as a dict."""
    from turgor.errors import SceneError

    pairs = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not (key.strip() and equals):
            raise SceneError(f"{option} {text}: write {option} KEY=VALUE, as in {option} {example}")
        pairs[key.strip()] = value.strip()
    return pairs
