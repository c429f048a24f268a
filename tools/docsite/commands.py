"""The reference of the command line: what `turgor COMMAND --help` prints, from the program itself."""

from __future__ import annotations

import contextlib
import functools
import io
from typing import Any

import typer

from turgor.cli.app import app

__all__ = ["commands", "page", "parse"]

WIDTH = 100  # columns of the help


@functools.cache
def commands() -> dict[str, Any]:
    """The commands by name, as typer has them."""
    group: Any = typer.main.get_command(app)
    found: dict[str, Any] = group.commands
    return found


def parse(arguments: list[str]) -> None:
    """Reads `turgor ARGUMENTS` as the program would, and runs nothing; ValueError says what is wrong."""
    name, *rest = arguments
    if name.startswith("-"):
        known: Any = typer.main.get_command(app)
        if name not in {"-h", "--help"} | {option for entry in known.params for option in entry.opts}:
            raise ValueError(f"there is no option {name}")
        return
    if name not in commands():
        raise ValueError(f"there is no command {name!r}")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            commands()[name].make_context(f"turgor {name}", rest)
    except typer.Exit:
        pass  # --help was printed
    except Exception as error:
        raise ValueError(str(error)) from error


def page() -> str:
    """Markdown."""
    known = commands()
    rows = [f"| [`turgor {name}`](#{name}) | {command.get_short_help_str(90)} |" for name, command in known.items()]
    lines = [
        "# Command line",
        "What `turgor --help` and `turgor COMMAND --help` print. From the repository without installing: "
        "`.venv/bin/turgor`. Exit codes: 0 fine, 1 the simulation failed, 2 bad input.",
        "| command | |\n|---|---|\n" + "\n".join(rows),
    ]
    for name, command in known.items():
        context = command.make_context(f"turgor {name}", [], resilient_parsing=True, terminal_width=WIDTH)
        lines.append(f"## {name}\n\n```text\n{command.get_help(context).strip()}\n```")
    return "\n\n".join(lines) + "\n"
