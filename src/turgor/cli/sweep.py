"""`turgor sweep`: many runs of a scene with varied values, as one table."""

from __future__ import annotations

import contextlib
import math
import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from turgor.cli import completion

if TYPE_CHECKING:
    from turgor.study.results import Results

__all__ = ["sweep"]

EXAMPLE = '"low=min(ball.center.z)"'
FEW = 3  # failed runs that are named


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
        --measure "low=min(ball.center.z)" -o out
    turgor sweep drop --vary ball.gas.gauge=log:10:1000 --vary ball.drag=0:2 \\
        --combine latin --samples 200 --measure lost=energy.dissipated -o out
    (quotes keep the shell from reading parentheses, < and >)

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
    from turgor.study.progress import Progress, shown
    from turgor.study.study import Study

    described = load_scene(scene, allow_outside)
    for path, value in pairs_of("--set", changes, "ball.mass=2").items():
        described.set(path, value)
    if not vary:
        raise SceneError("--vary is missing: say what to vary, as in --vary ball.mass=1,2,3")
    if not measure:
        raise SceneError(f"--measure is missing: say what to measure, as in --measure {EXAMPLE}")
    study = Study(
        described,
        _once("--vary", vary, "ball.mass=1,2,3", "put all its values into one --vary"),
        _once("--measure", measure, EXAMPLE, "give each measure a name of its own"),
        combine=combine, samples=samples, repeat=repeat, seed=seed, device=device, record=_every(record),
        seconds=seconds, solver=solver,
        substeps=int(substeps) if substeps is not None and substeps.isdecimal() else substeps,
    )  # fmt: skip
    study.about["command"] = shlex.join(["turgor", *sys.argv[1:]])
    talk, output, before = not (quiet or as_json), sys.stdout, list[int]()
    with contextlib.redirect_stdout(sys.stderr), signals() as caught, contextlib.ExitStack() as stack:
        bars: list[Progress] = []

        def progress(done: int, total: int, failed: int) -> None:
            if not bars:  # nothing was wrong so far, and nothing has run
                before.append(done)
                if talk:
                    there = f"; {done:,} are finished already" if done else ""
                    print(study.plan.sentence + there, file=output, flush=True)
                bars.append(stack.enter_context(shown(talk, done)))
            bars[0](done, total, failed)
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
        _say(results, before[0], folder)
        if caught:
            print(f"interrupted: {len(results):,} of {study.design.runs:,} runs are finished; --resume goes on")
    if caught:
        raise typer.Exit(ended_by(caught[0]))


def _say(results: Results, before: int, folder: str) -> None:
    """What came out, for people. before: runs that were finished by an earlier command."""
    from turgor.study.results import parquet_missing

    failed, wall = results.failed, results.study["wall_seconds"]
    now = f", {len(results) - before:,} of them now," if before else ""
    print(
        f"{len(results):,} run{'s' * (len(results) != 1)}{now} in {wall:.3g} s, {len(failed):,} failed: "
        f"{folder}/results.csv and report.html"
    )
    for row in failed[:FEW]:
        print(f"run {row['run']} failed: {row['reason']}")
    if len(failed) > FEW:
        print(f"{len(failed) - FEW:,} more have failed: the report lists them")
    good = len(results) - len(failed)
    for name in results.outputs:
        if lost := good - sum(row["status"] == "ok" and math.isfinite(row[name]) for row in results.rows):
            print(f"{name} is no finite number in {lost:,} of {good:,} runs")
    if missing := parquet_missing():
        print(missing)


def _once(option: str, texts: list[str], example: str, remedy: str) -> dict[str, str]:
    """KEY=VALUE arguments, of which none is there twice."""
    from turgor.cli.arguments import pairs_of
    from turgor.errors import SceneError

    keys = [text.partition("=")[0].strip() for text in texts]
    for key in keys:
        if keys.count(key) > 1:
            raise SceneError(f"{option} {key} is there {keys.count(key)} times: {remedy}")
    return pairs_of(option, texts, example)


def _every(text: str | None) -> int | None:
    """N of every=N."""
    from turgor.errors import SceneError

    if text is None:
        return None
    key, _, value = text.partition("=")
    if key.strip() != "every" or not value.strip().isdecimal() or int(value) < 1:
        raise SceneError(f"--record {text}: write --record every=N, with a whole number of frames >= 1")
    return int(value)
