"""`turgor scenes`: the gallery."""

from __future__ import annotations

from typing import Annotated

import typer

from turgor.cli import completion

__all__ = ["scenes"]


def scenes(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Print the file of this scene: a start for your own.",
            autocompletion=completion.scenes,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list and nothing else.")] = False,
) -> None:
    """List the built-in scenes, or print one.

    \b
    turgor scenes                      names and what happens
    turgor scenes drop > my.toml       copy one, to change it
    turgor run my.toml
    """
    from turgor import gallery
    from turgor.cli.printing import print_json, print_table

    if name is not None:
        text = gallery.source(name)
        if as_json:
            import tomllib

            print_json(tomllib.loads(text))
        else:
            print(text, end="")
        return
    rows = gallery.describe()
    if as_json:
        print_json(rows)
        return
    print_table(
        ["scene", "dim", "seconds", "what happens"],
        [[row["name"], f"{row['dim']}D", f"{row['seconds']:g}", row["description"]] for row in rows],
        left=4,
    )
