"""`turgor export`: a recording as other files."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["export"]


def export(
    recording: Annotated[
        str, typer.Argument(metavar="IN", help="A recording that turgor made (.vtkhdf), or the folder of a study.")
    ],
    outputs: Annotated[list[str], typer.Argument(metavar="OUT", help="Files to write, formats by their endings.")],
    every: Annotated[int, typer.Option(metavar="N", help="Take every Nth frame; videos keep their speed.")] = 1,
    number: Annotated[
        int | None, typer.Option("--run", metavar="N", help="Of a study with --record: the run, as in its table.")
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(metavar="METRES|SHARE%", help="How far a .glb may be from the recording. Default: 0.5%."),
    ] = None,
    looks: Annotated[
        list[str] | None,
        typer.Option("--look", metavar="KEY=VALUE", help="How pictures are drawn. May be repeated."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing (but errors).")] = False,
) -> None:
    """Convert a recording, without simulating again.

    IN is a .vtkhdf file of `turgor run -o` or of the playground, or the folder of `turgor sweep --record`.

    \b
    turgor export drop.vtkhdf drop.glb               for Blender, engines, web
    turgor export drop.vtkhdf drop.usdc drop.mp4     several at once
    turgor export drop.vtkhdf frame_%04d.obj --every 10
    turgor export drop.vtkhdf small.glb --tolerance 1%
    turgor export balls best.mp4 --run 12            a run of a study

    \b
    Formats of OUT, by the ending:
      .glb             glTF: bodies, walls, colours and textures in one file,
                       as an animation with few shapes; y is up, as glTF has it
      .usd .usda .usdc .usdz
                       USD: points and velocities of all frames, pressure, and
                       stress of materials (pip install 'turgor[export]')
      .obj .ply        the bodies of the last frame; frame_%04d.obj: of every one
      .html            a page that plays in any browser ([play])
      .mp4 .webm .gif  video; .png: a picture of the last frame ([render])
      .npz .vtkhdf     the numbers, as NumPy arrays or for ParaView
      .rrd             for the Rerun viewer ([rerun])

    \b
    --tolerance, for .glb: no vertex is further from where it was recorded than
    this; in metres (0.001) or as a share of the size of each body (0.5%). More
    makes the file smaller. How far it really is, at most, is reported.

    \b
    --look KEY=VALUE, for videos and pictures, as in `turgor run --help`:
      size=[640,360]   color_by=stress   timestamp=true   texture=flag.png
    texture=none also leaves the textures out of models.

    Exit codes: 0 fine, 1 writing failed, 2 bad input. Nothing is left half-written.
    """
    from turgor import record
    from turgor.cli.arguments import looks_of
    from turgor.cli.printing import wrote
    from turgor.cli.terminal import interruptible
    from turgor.output.progress import shown

    options: dict[str, Any] = looks_of(looks)
    if tolerance is not None:
        options["tolerance"] = tolerance
    with contextlib.redirect_stdout(sys.stderr), _opened(recording, number) as run:  # stdout stays ours
        with shown(not quiet, "", run.layout.fps / max(every, 1)) as report, interruptible(report) as progress:
            sinks = record.export(run, *outputs, every=every, progress=progress, **options)
        scene, frames = run.layout.scene, len(range(0, len(run), every))
    if quiet:
        return
    print(f"{scene}: {frames} frames of {recording}" + ("" if number is None else f", run {number}"))
    for sink in sinks:
        print(wrote(sink))


def _opened(path: str, number: int | None) -> contextlib.AbstractContextManager[Any]:
    """A recording, or a run of a study."""
    from turgor import record
    from turgor.errors import SceneError

    if not Path(path).is_dir():
        if number is not None:
            raise SceneError(f"--run {number}: {path} is not the folder of a study; leave --run out")
        return record.read(path)
    from turgor.study.trajectories import Trajectories

    data = Trajectories(path)
    if number is None:
        raise SceneError(f"{path}: is a study with {len(data):,} recorded runs; say which one, as in --run 12")
    return contextlib.nullcontext(data.recording(number))
