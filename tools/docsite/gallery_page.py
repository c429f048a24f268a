"""The page of the gallery: each scene with a film, what happens in it and the commands that show it."""

from __future__ import annotations

from pathlib import Path

from turgor import gallery

__all__ = ["page"]

FILMS = Path(__file__).resolve().parents[2] / "docs/films"
START = (
    "# Gallery\n\nThe built-in scenes. `turgor play NAME` opens one in the browser, `turgor run NAME -o NAME.mp4` "
    "films it, `turgor scenes NAME` prints its file, to be changed. The films are made by `tools/films`; point at one "
    "to stop it.\n"
)


def page() -> str:
    """Markdown with a card per scene."""
    return START + '\n<div class="scenes" markdown>\n\n' + "\n".join(map(_card, gallery.describe())) + "\n</div>\n"


def _card(row: dict[str, object]) -> str:
    name = str(row["name"])
    film = FILMS / f"{name}.webm"
    poster = f"images/scenes/{name}.webp"
    shown = (
        f'<video src="films/{name}.webm" poster="{poster}" autoplay loop muted playsinline '
        f'onmouseenter="this.pause()" onmouseleave="this.play()" title="{name}"></video>'
        if film.is_file()
        else f'<img src="{poster}" alt="{name}" loading="lazy">'
    )
    bodies = row["bodies"]
    assert isinstance(bodies, list)
    return (
        f'<div class="scene" id="{name}" markdown>\n{shown}\n\n**{name}** · {row["dim"]}D · {row["seconds"]:g} s · '
        f"{len(bodies)} {'body' if len(bodies) == 1 else 'bodies'}\n\n{row['description']}\n\n`turgor play {name}`\n"
        "</div>\n"
    )
