"""The reference of scene files, from the data classes that read them: each key with type, unit, default, meaning."""

from __future__ import annotations

import inspect
import types
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from turgor import gallery, materials
from turgor.scene.attachments import Attachment
from turgor.scene.from_material import FromMaterial
from turgor.scene.gas import Gas
from turgor.scene.material import Membrane
from turgor.scene.scene import ATTACH, KINDS
from turgor.scene.settings import Settings
from turgor.scene.springs import Springs, VelocityDamping
from turgor.scene.validate import ZERO, Color, Rotation, Vector, Vertices
from turgor.shapes.files import load
from turgor.shapes.recipes import MAKERS
from turgor.shapes.shape import Shape

__all__ = ["page"]

EXAMPLE = "drop-2d"
PARTS = {"gas": Gas, "springs": Springs, "material": Membrane, "velocity_damping": VelocityDamping}
NAMED = {Vector: "numbers", Vertices: "numbers, or text", Color: "numbers, or text"}  # aliases, in words
PLAIN = {float: "number", int: "whole number", str: "text", bool: "true, false"}
HEAD = (
    ("name", "text", "", "`scene`", "shown in lists and reports"),
    ("description", "text", "", "", "one sentence: what happens"),
    ("dim", "2, 3", "", "3", "dimension of the scene"),
    ("gravity", "numbers", "m/s²", "9.81 downwards", "-y in 2D, -z in 3D"),
    ("wind", "numbers", "m/s", "zeros", "velocity of the air"),
    ("air_density", "number", "kg/m³", "1.2", "0 is a vacuum; kg/m² in 2D"),
)


def page() -> str:
    """Markdown."""
    parts = [
        "# Scene files\n\nA scene file is [TOML](https://toml.io). Its keys are the names of the Python arguments, so "
        "`help(turgor.Scene.add_soft_body)` and this page say the same: both are made from the fields of the data "
        "classes. All quantities are in SI units. `turgor scenes NAME` prints the file of a built-in scene; "
        '`turgor run my.toml --set ball.gas.gauge=20` changes one value by its path. `"none"` stands for nothing, '
        "which TOML does not have.",
        f'```toml title="turgor scenes {EXAMPLE}"\n{gallery.source(EXAMPLE).strip()}\n```',
        "## The scene\nPlain values at the top of the file.\n\n" + _table(HEAD),
        _section("[simulation]", Settings),
        *(_section(f"[[{kind}]]", cls) for kind, (_, cls) in KINDS.items()),
        _section(f"[[{ATTACH}]]", Attachment),
        "## Tables inside a body\nThey are written inline, as in `gas = { gauge = 200.0 }`.",
        *(_section(key, cls, level=3) for key, cls in PARTS.items()),
        f"Names of materials: {', '.join(f'`{name}`' for name in materials.names())} "
        "([what they are](../materials.md)).",
        _shapes(),
    ]
    return "\n\n".join(parts) + "\n"


def _section(title: str, cls: type[Any], level: int = 2) -> str:
    hints = get_type_hints(cls, include_extras=True)
    summary = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")
    rows = []
    for entry in fields(cls):
        hint = hints[entry.name]
        unit, meaning = hint.__metadata__ if get_origin(hint) is Annotated else ("", "")
        kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        rows.append((entry.name, _words(kind), unit, _default(entry, unit), meaning))
    return f"{'#' * level} `{title}`\n{summary}\n\n{_table(rows)}"


def _table(rows: Any) -> str:
    lines = ["| key | type | unit | default | meaning |", "|---|---|---|---|---|"]
    lines += [
        f"| `{name}` | {kind} | {unit} | {default} | {meaning.replace('|', chr(92) + '|')} |"
        for name, kind, unit, default, meaning in rows
    ]
    return "\n".join(lines)


def _words(kind: Any) -> str:
    """A type as a writer of TOML sees it."""
    for alias, word in NAMED.items():
        if kind == alias:
            return word
    if kind == Rotation:
        return "number, or numbers"
    if isinstance(kind, types.UnionType):
        known = [_words(part) for part in get_args(kind) if part is not types.NoneType]
        if Color in get_args(kind):
            known = ["numbers, or text"]
        return ", or ".join(dict.fromkeys(known))
    if kind is Shape:
        return "[shape](#shapes)"
    if is_dataclass(kind):
        key = next((key for key, cls in PARTS.items() if cls is kind), "")
        return f"[table](#{key})" if key else "table"
    if get_origin(kind) is tuple:
        return "numbers"
    return PLAIN.get(kind, getattr(kind, "__name__", str(kind)))


def _default(entry: Field[Any], unit: str) -> str:
    default = entry.default
    if isinstance(default, FromMaterial):
        return "that of the material" + ("" if default.plain is None else f", or {_value(default.plain, unit)}")
    if default is MISSING:
        return "**needed**" if entry.default_factory is MISSING else ""
    return _value(default, unit)


def _value(value: Any, unit: str) -> str:
    if value is None:
        return "none"
    if value is ZERO or value == ZERO:
        return "zeros" if unit else "none"
    if isinstance(value, bool):
        return str(value).lower()
    if is_dataclass(value):
        return ", ".join(f"{entry.name} {getattr(value, entry.name)}" for entry in fields(value)[:2])
    if value == "":
        return "none"
    return f"`{value}`" if isinstance(value, str) else repr(value)


def _shapes() -> str:
    lines = [
        "## Shapes",
        "`shape = { icosphere = { radius = 0.5, subdivisions = 2 } }`: one name, with its arguments. The same "
        "functions are in `turgor.shapes` ([reference](python/shapes.md)).",
        "",
        "| shape | arguments, with their defaults | what |",
        "|---|---|---|",
    ]
    lines += [f"| `{name}` | {_arguments(maker)} | {_first(maker)} |" for name, maker in sorted(MAKERS.items())]
    lines.append(f"| `file` | {_arguments(load, ('path', 'folder'))} | {_first(load)} |")
    lines.append('\nA mesh file is `shape = { file = "cat.obj", size = 1.0, up = "y" }`.')
    return "\n".join(lines)


def _arguments(maker: Any, hidden: tuple[str, ...] = ()) -> str:
    given = [entry for entry in inspect.signature(maker).parameters.values() if entry.name not in hidden]
    return ", ".join(
        f"`{entry.name}`" if entry.default is entry.empty else f"`{entry.name} = {_toml(entry.default)}`"
        for entry in given
    )


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(part) for part in value)}]"
    return str(value).lower() if isinstance(value, bool) or value is None else repr(value).replace("'", '"')


def _first(maker: Any) -> str:
    """The first sentence of what a function does."""
    return (inspect.getdoc(maker) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
