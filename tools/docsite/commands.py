"""The reference of the command line: what `turgor COMMAND --help` prints, from the program itself."""

from __future__ import annotations

import click
import typer

from turgor.cli.app import app

__all__ = ["page", "parse"]

WIDTH = 100  # columns of the help


def group() -> click.Group:
    """The program as click has it."""
    made = typer.main.get_command(app)
    assert hasattr(made, "commands")
    return made  # type: ignore[return-value]


def parse(arguments: list[str]) -> None:
    """Reads `turgor ARGUMENTS` as the program would, and runs nothing; click's exceptions say what is wrong."""
    program = group()
    name, *rest = arguments
    if name.startswith("-"):
        program.make_context("turgor", [name])
        return
    command = program.get_command(click.Context(program), name)
    if command is None:
        raise click.UsageError(f"there is no command {name!r}")
    command.make_context(f"turgor {name}", rest)


def page() -> str:
    """Markdown."""
    program = group()
    names = list(program.commands)
    lines = [
        "# Command line",
        "What `turgor --help` and `turgor COMMAND --help` print. From the repository without installing: "
        "`.venv/bin/turgor`. Exit codes: 0 fine, 1 the simulation failed, 2 bad input.",
        "| command | |\n|---|---|\n"
        + "\n".join(f"| [`turgor {name}`](#{name}) | {program.commands[name].get_short_help_str(90)} |" for name in names),
    ]
    for name in names:
        command = program.commands[name]
        context = click.Context(command, info_name=f"turgor {name}", max_content_width=WIDTH, terminal_width=WIDTH)
        lines.append(f"## {name}\n\n```text\n{command.get_help(context).strip()}\n```")
    return "\n\n".join(lines) + "\n"
