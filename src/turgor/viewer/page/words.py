"""Sentences of the engine in the words of the page: names of fields and Python's `name=value` become plain English.

The engine speaks to those who write scenes; a visitor of the page has sliders and lists. All that the page says goes
through `page_words`, so that the engine needs no second set of sentences. What is wrong in a file that someone edits is
told as it is: there the fields have the names of the engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from turgor.shapes.reading import FORMATS

__all__ = ["CODE", "page_words", "unmarked"]

# Whole phrases first: what the engine proposes, as the page offers it.
PHRASES: tuple[tuple[str, str], ...] = (
    (r"(?:use |set )?solver ?= ?'implicit'", "use the fast solver"),
    (r"(?:use |set )?solver ?= ?'symplectic'", "use the exact solver"),
    (r"\bat t = ", "after "),
    (r"solver 'implicit'", "the fast solver"),
    (r"solver '([\w-]+)'", r"the solver \1"),
    (r"use substeps ?= ?'auto'", "set the substeps to auto"),
    (r"raise fps(?:, max_substeps or accuracy| or max_substeps)?\b", "let it run in slow motion"),
    (r"more than max_substeps = (\d+)", r"more than the \1 that are allowed"),
    (r"simulation\.max_substeps \((\w+)\)", r"the most that is allowed (\1)"),
    (r"max_substeps", "the most substeps that are allowed"),
    (r"with `turgor check --repair` or close_holes = true", 'with "Close the holes"'),
    (r"(?:close it with|(?:pass|repair) \w+ (?:through|with)) turgor\.shapes\.repair", "close its holes"),
    (r"repair them \(turgor\.shapes\.check\)", "repair the mesh"),
    (r"use gas ?= ?Gas\.at\(gauge=\.\.\.\), or \{ gauge = \.\.\. \} in a file", "choose its gauge pressure"),
    (r"Gas\.at needs exactly one of gauge= or absolute=", "it needs a gauge pressure or an absolute one"),
    (r"make the simulation with readings=True", "run the scene from Python for that"),
    (r"parts=\"all\" or shell", 'as "all, a body each"'),
    (r"a function of turgor\.shapes", "a shape of turgor"),
    (r"turgor\.shapes\.§?\w*", "a shape of turgor"),
    (r" of turgor\.materials", ""),
    (r"write one with sim\.save\(path\)", "save one first"),
    (r" \(add_ground\)", ""),
    (r", or raise the limit[\w ]* with --limit \w+=N", ""),
    (r"give its extract_surface\(\)", "give its surface"),
    (r": describe it with (?:\w+|§)=", ": it cannot be changed while it runs"),
    (r"binary_little_endian", "binary (little endian)"),
    (r"state\.npz", "state"),
    (r"\(gas\.pressure_at = '(\w+)'\)", r"(\1)"),
    (r">= -ambient\b", "at least minus the pressure outside"),
    (r">= ?", "at least "),
    (r"<= ?", "at most "),
    (r" > 0\b", " above 0"),
)  # fmt: skip

# Fields of a scene, as the page calls them.
NAMES = {
    "springs.stiffness": "stiffness", "springs.damping": "damping", "material.young": "Young's modulus",
    "material.thickness": "thickness", "material.damping": "damping of the skin", "material.rigidity": "rigidity",
    "gas.gauge": "gauge pressure", "gas.absolute": "absolute pressure", "gas.moles": "amount of gas",
    "gas.nRT": "amount of gas", "gas.temperature": "temperature", "gas.ambient": "pressure outside",
    "gas.pressure_at": "where the pressure is measured", "gas.law": "gas law", "gas.inflate": "inflation",
    "velocity_damping.stiffness_max": "largest stiffness", "stiffness_max": "largest stiffness",
    "simulation.substeps": "Substeps", "simulation.accuracy": "Accuracy", "simulation.solver": "Solver",
    "simulation.sleeping": "Bodies sleep",
    "simulation.contact": "Contact", "drag_coefficient": "air drag", "wind_drag": "drag of the wind",
    "self_contact": "contact of a body with itself", "mass_distribution": "how mass is spread",
    "pressure_at": "where the pressure is measured", "young": "Young's modulus", "ambient": "pressure outside",
}  # fmt: skip

SETTING = re.compile(r"\b(\w{2,}) ?= ?(?:'([^']*)'|\"([^\"]*)\"|(true|false|True|False|[\d.]+|§))")  # kind = 'static'
DOTTED = re.compile(r"\b([a-z]+(?:_[a-z]+)*)\.([a-z][a-z_]*|§)(?![\w(])")  # gas.gamma
SNAKE = re.compile(r"\b[a-z]+(?:_[a-z\d]+)+\b")  # velocity_damping
FILE = re.compile(rf"[^\s'\"]+\.(?:{'|'.join(sorted({*FORMATS, 'toml', 'png', 'ttf', 'otf'}))})\b", re.IGNORECASE)
CODE = re.compile(r"\b\w+ ?= ?['\"\w]|\b[a-z]+_[a-z]+|\b[a-z]{2,}\.[a-z_]{2,}\b|\w+\(\)|`|=")  # none of it is left
MARKUP, ESCAPED = re.compile(r"([\\`*_{}\[\]<>#|~$])"), r"\\\1"


def unmarked(text: str) -> str:
    """A text for a place that takes markdown: a name may have what markdown takes for its own."""
    return MARKUP.sub(ESCAPED, text)


def page_words(sentence: str, names: Iterable[str] = ()) -> str:
    """A sentence for a visitor of the page; names of bodies and of files stay as they are."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\x00{len(kept) - 1}\x00"

    text = FILE.sub(keep, sentence)
    for name in sorted(set(names), key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", keep, text)
    for pattern, words in PHRASES:
        text = re.sub(pattern, words, text)
    for name in sorted(NAMES, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.(])", NAMES[name], text)
    text = SETTING.sub(_setting, text)
    text = DOTTED.sub(lambda found: f"{found[2]} of the {found[1]}", text)
    text = SNAKE.sub(lambda found: found[0].replace("_", " "), text).replace("_", " ").replace("`", "")
    return re.sub("\x00(\\d+)\x00", lambda found: kept[int(found[1])], text)


def _setting(found: re.Match[str]) -> str:
    value = found[2] or found[3] or found[4]
    on = {"true": "on", "True": "on", "false": "off", "False": "off"}
    return f"{found[1].replace('_', ' ')} {on.get(value, value)}"
