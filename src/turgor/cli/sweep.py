"""`turgor sweep`: many runs of a scene with varied values, as one table."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from turgor.cli import completion

__all__ = ["sweep"]


def sweep(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            help="A scene of the gallery, or a scene file (.toml).",
            autocompletion=completion.scenes,
        ),
    ],
    folder: Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="Folder for the table and the report.")],
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="PATH=VALUES", help="Values of a path of the scene. May be repeated."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", metavar="NAME=EXPRESSION", help="A column of the table. May be repeated."),
    ] = None,
    combine: Annotated[str, typer.Option(help="grid, zip or latin.")] = "grid",
    samples: Annotated[int | None, typer.Option(help="Sets of a Latin hypercube.")] = None,
    repeat: Annotated[int, typer.Option(help="Runs per set, each with its own seed.")] = 1,
    seed: Annotated[int, typer.Option(help="Of all that is random.")] = 0,
    seconds: Annotated[float | None, typer.Option(help="Simulated time, s. Default: the scene's.")] = None,
    device: Annotated[
        str,
        typer.Option(
            help="cpu, cuda (an NVIDIA GPU), or auto (a GPU if there is one).", autocompletion=completion.devices
        ),
    ] = "auto",
    solver: Annotated[str | None, typer.Option(help="As of `turgor run`.", autocompletion=completion.solvers)] = None,
    substeps: Annotated[
        str | None,
        typer.Option(metavar="N|auto", help="Steps per frame. With auto, runs that share a simulation share them."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a value of the scene in all runs. May be repeated."),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Simulations at once. Default: one per core.")] = None,
    on: Annotated[
        str, typer.Option(metavar="local|ray|ADDRESS", help="This machine, Ray on it, or a Ray cluster.")
    ] = "local",
    record: Annotated[
        str | None, typer.Option(metavar="every=N", help="Keep every N-th frame of all runs, in DIR/data.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the study in DIR: finished runs stay.")] = False,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="Let the scene file name files outside its folder.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing (but errors).")] = False,
) -> None:
    """Run a scene with many sets of values, and measure.

    \b
    turgor sweep drop --vary ball.gas.gauge=20:400:40 --vary ball.mass=0.5,1,2 \\
        --measure height=max(ball.center.z) -o out
    turgor sweep drop --vary ball.gas.gauge=log:10:1000 --vary ball.drag=0:2 \\
        --combine latin --samples 200 --measure lost=energy.dissipated -o out

    \b
    --vary PATH=VALUES: PATH as in `turgor run --set`; VALUES is one of
      1,2,5                     a list; also of words, and of vectors: [0,0,1],[0,0,2]
      start:stop:count          evenly spaced, both ends included
      log:start:stop:count      evenly spaced in the logarithm
      random:low:high:count     drawn once, evenly; normal:mean:deviation:count
      random:low:high           drawn by each run, with its own seed
    Sets are a grid of all values, or values side by side (zip), or a Latin hypercube of
    --samples sets (latin) over ranges that are written without a count.

    \b
    --measure NAME=EXPRESSION: quantities are
      BODY.center.x .y .z   BODY.velocity.x ...  BODY.momentum.x ...  BODY.speed
      BODY.volume  .rest_volume  .pressure  .gauge  .temperature  .nRT  .mass
      BODY.lowest  .highest; of a material .stretch  .stress  .tension (largest)
      energy.kinetic  .elastic  .gas  .gravity  .total  .dissipated  .work
      contacts.count  .penetration    time
    Functions over time, of the start and every frame, are max min mean rms sum final,
    and of conditions first last (s; nan if never) any. Others: abs sqrt exp log sin cos.
    A quantity outside of them is that at the end.
      high=max(ball.center.z)   squashed=first(ball.volume < 0.5*ball.rest_volume)
      lost=energy.dissipated    roll=measures.py:distance (a function of the Simulation,
      called after every frame; it returns a number per world, and the last one counts)

    Runs that differ only in numbers that a world may have of its own are worlds of one simulation; the first line says
    how many. A run that goes unstable is a row with its reason. DIR gets results.csv, results.parquet and report.html.
    Finished runs are kept as they finish: after Ctrl-C or a kill, the same command with --resume goes on.

    Exit codes: 0 fine (also where runs have failed), 1 nothing could be written, 2 bad input, 130 interrupted.
    """
    from turgor.cli.arguments import pairs_of
    from turgor.cli.printing import print_json
    from turgor.cli.run import load_scene
    from turgor.cli.terminal import ended_by, signals
    from turgor.errors import SceneError
    from turgor.output.progress import Stop
    from turgor.study.progress import shown
    from turgor.study.study import Study

    described = load_scene(scene, allow_outside)
    for path, value in pairs_of("--set", changes, "ball.mass=2").items():
        described.set(path, value)
    if not vary:
        raise SceneError("--vary is missing: say what to vary, as in --vary ball.mass=1,2,3")
    if not measure:
        raise SceneError("--measure is missing: say what to measure, as in --measure height=max(ball.center.z)")
    study = Study(
        described,
        pairs_of("--vary", vary, "ball.mass=1,2,3"),
        pairs_of("--measure", measure, "height=max(ball.center.z)"),
        combine=combine, samples=samples, repeat=repeat, seed=seed, device=device, record=_every(record),
        seconds=seconds, solver=solver,
        substeps=int(substeps) if substeps is not None and substeps.isdecimal() else substeps,
    )  # fmt: skip
    talk = not (quiet or as_json)
    if talk:
        print(study.plan.sentence, flush=True)
    with contextlib.redirect_stdout(sys.stderr), signals() as caught, shown(talk, 0) as report:

        def progress(done: int, total: int, failed: int) -> None:
            report(done, total, failed)
            if caught:
                raise Stop

        results = study.run(on, workers=workers, out=folder, resume=resume, progress=progress)
    failed = results.failed
    if as_json:
        print_json(
            {
                **results.study,
                "finished": len(results),
                "failed": len(failed),
                "interrupted": bool(caught),
                "folder": folder,
            }
        )
    elif talk:
        wall = results.study["wall_seconds"]
        print(f"{len(results):,} runs in {wall:.3g} s, {len(failed):,} failed: {folder}/results.csv")
        for row in failed[:3]:
            print(f"run {row['run']} failed: {row['reason']}")
        if caught:
            print(f"interrupted: {len(results):,} of {study.design.runs:,} runs are finished; --resume goes on")
    if caught:
        raise typer.Exit(ended_by(caught[0]))


def _every(text: str | None) -> int | None:
    """N of every=N."""
    from turgor.errors import SceneError

    if text is None:
        return None
    key, _, value = text.partition("=")
    if key.strip() != "every" or not value.strip().isdecimal() or int(value) < 1:
        raise SceneError(f"--record {text}: write --record every=N, with a whole number of frames >= 1")
    return int(value)
