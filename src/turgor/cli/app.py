"""The `turgor` program: its commands, and how every error becomes one message and an exit code."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from typing import Annotated, TextIO

import typer

from turgor.cli.bench import bench
from turgor.cli.check import check
from turgor.cli.export import export
from turgor.cli.papers import papers
from turgor.cli.play import play
from turgor.cli.run import run
from turgor.cli.scenes import scenes
from turgor.cli.sweep import sweep
from turgor.cli.validate import validate
from turgor.errors import RecordError, TurgorError, TurgorWarning, UnstableError
from turgor.version import __version__

__all__ = ["main"]

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
BROKEN_PIPE = 141  # what a shell reports for a program that SIGPIPE ended
TRACEBACK = "TURGOR_TRACEBACK"  # set it to see where an error came from
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

app = typer.Typer(
    name="turgor",
    help="Pressure soft bodies: closed membranes of masses and springs filled with gas, in 2D and 3D.",
    epilog="Exit codes: 0 fine, 1 the simulation failed, 2 bad input. `turgor COMMAND --help` shows the options.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
)
for command in (scenes, run, play, sweep, export, papers, validate, check, bench):
    app.command(context_settings=CONTEXT)(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"turgor {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Pressure soft bodies: closed membranes of masses and springs filled with gas, in 2D and 3D."""


def main() -> None:
    """Entry point of the `turgor` program."""
    _open_standard_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):  # on Windows a file or a pipe has a code page, which may lack ² and ×
        sys.stdout.reconfigure(errors="replace")
    code = execute(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        _flush(stream)
    sys.exit(code)


def _open_standard_streams() -> None:
    """Where a stream was closed (`turgor run drop >&-`) it leads nowhere; else the next file would take its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _flush(stream: TextIO) -> OSError | None:
    """Writes what is left. Where that cannot be, it is dropped, as the interpreter would try again at its end."""
    try:
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return error
    return None


def execute(arguments: list[str]) -> int:
    """Runs one command; returns the exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TurgorWarning)  # commands show the warnings of a simulation themselves
            code = app(arguments, prog_name="turgor", standalone_mode=False)
        if error := _flush(sys.stdout):
            raise error
        return code if isinstance(code, int) else 0
    except BrokenPipeError:  # `turgor scenes | head -1`
        _flush(sys.stdout)
        return BROKEN_PIPE
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # click has its own way with it
            return BROKEN_PIPE
        raise
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        code, message = explain(error)
        if message:
            with contextlib.suppress(OSError):  # a terminal that is gone
                print(f"turgor: {message}", file=sys.stderr)
        return code


def explain(error: Exception) -> tuple[int, str]:
    """Exit code and message of an error."""
    if isinstance(error, TurgorError):
        return (FAILED if isinstance(error, (RecordError, UnstableError)) else BAD_INPUT), str(error)
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # typer's and click's own errors
        return _usage(error)
    if isinstance(error, MemoryError):
        return FAILED, "out of memory; use fewer vertices or worlds, or another device"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else "the output cannot be written: "
        return FAILED, f"{where}{error.strerror or error}"
    return FAILED, (
        f"internal error, please report it: {type(error).__name__}: {error} (set {TRACEBACK}=1 to see where)"
    )


def _usage(error: Exception) -> tuple[int, str]:
    """A wrong command line, in one sentence that names the command whose help explains it."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":  # `turgor` alone: print the help
        print(error.format_message())  # type: ignore[attr-defined]
        return 0, ""
    sentence = " ".join(str(error.format_message()).split()).rstrip(".")  # type: ignore[attr-defined]
    command = getattr(context, "command_path", "turgor")
    return BAD_INPUT, f"{sentence[:1].lower()}{sentence[1:]} (see `{command} --help`)"
