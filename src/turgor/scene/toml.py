"""Scene data to TOML and back: typed decoding with messages that name the field, and a minimal writer.

Decoding walks the fields of the dataclasses, so a key of a scene file is always the name of the Python argument.
Paths (mesh files, textures) are relative to the scene file in the file, and to the working directory in memory.
"""

from __future__ import annotations

import os
import re
import tomllib
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

from turgor.errors import SceneError
from turgor.scene.data import Body
from turgor.scene.from_material import FromMaterial
from turgor.scene.material import Membrane
from turgor.scene.plain import map_paths, plain
from turgor.scene.references import References
from turgor.scene.validate import ZERO, check_keys, context
from turgor.shapes.recipes import from_recipe, parts_of_recipe
from turgor.shapes.shape import Shape

__all__ = ["changed", "decode", "encode", "make", "one_each", "parse", "parse_value", "with_component", "write"]

# Written even when they have their default: what a reader of a scene file looks for first.
ALWAYS = frozenset({"name", "shape", "at", "mass", "springs", "stiffness", "damping", "young", "thickness"})
OF_SPRINGS = frozenset({"mass", "springs"})  # those of them that a body with a material has no need of
NOTHING = "none"  # stands for None, which TOML does not have
ANYWHERE = References()  # what the user's own code names
ZEROS = (ZERO, 0.0, (0.0, 0.0), (0.0, 0.0, 0.0))
AXES = "xyz"


HINTS: dict[type[Any], dict[str, Any]] = {}  # types of the fields: a study sets thousands of values


def _hints(cls: type[Any]) -> dict[str, Any]:
    if cls not in HINTS:
        HINTS[cls] = get_type_hints(cls)
    return HINTS[cls]


def parse(text: str) -> dict[str, Any]:
    """TOML text to tables, with the parser's line and column in the message of an error."""
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise SceneError(f"not valid TOML: {error}") from None
    except RecursionError:
        raise SceneError("not valid TOML: nested too deeply") from None


def parse_value(text: str) -> Any:
    """A value in TOML syntax (`3`, `[0, 0, 1]`, `{ gauge = 200 }`); anything else is a plain string."""
    try:
        document = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return document["value"] if len(document) == 1 else text


def _parts(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the type itself."""
    return get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


def _table_type(hint: Any) -> type[Any] | None:
    """The dataclass that a field holds, or None for a plain value."""
    return next((part for part in _parts(hint) if is_dataclass(part) and isinstance(part, type)), None)


def make(cls: type[Any], values: Mapping[str, Any]) -> Any:
    """`cls(**values)`, with a SceneError for an unknown or a missing field."""
    check_keys(cls, values)
    for entry in fields(cls):
        if entry.name not in values and entry.default is MISSING and entry.default_factory is MISSING:
            example = ", for example { icosphere = { radius = 0.5 } }" if entry.name == "shape" else ""
            raise SceneError(f"{entry.name!r} is missing: give {entry.name}{example}")
    return cls(**values)


def decode(cls: type[Any], table: Mapping[str, Any], files: References = ANYWHERE) -> dict[str, Any]:
    """The arguments of `cls` from a TOML table, which may name `files`."""
    check_keys(cls, table)
    hints = _hints(cls)
    clearable = {entry.name for entry in fields(cls) if _can_be_cleared(entry, hints[entry.name])}
    return {
        key: None if value == NOTHING and key in clearable else _decode_value(key, hints[key], value, files)
        for key, value in table.items()
    }


def _can_be_cleared(entry: Field[Any], hint: Any) -> bool:
    """Whether None must be written out: it is allowed, and not the default."""
    return types.NoneType in _parts(hint) and entry.default is not None


def _decode_value(key: str, hint: Any, value: Any, files: References) -> Any:
    kind = _table_type(hint)
    if kind is None:
        if key == "texture" and isinstance(value, str) and value:
            with context(key):
                return files.joined(value)
        return value
    if isinstance(value, kind) or (str in _parts(hint) and not isinstance(value, Mapping)):
        return value  # such as the name of a material, which the body checks
    if not isinstance(value, Mapping):
        example = "{ icosphere = { radius = 0.5 } }" if kind is Shape else f"{{ {fields(kind)[0].name} = ... }}"
        raise SceneError(f"{key} must be a table such as {example}, got {value!r}")
    if kind is Shape:
        with context(key):
            return from_recipe(map_paths(value, files.joined), None)
    with context(key):
        check_keys(kind, value)
    return make(kind, decode(kind, value, files))


def one_each(table: Mapping[str, Any], files: References) -> list[Mapping[str, Any]]:
    """The table of a body; of one whose shape is all parts of a file a table for each, named name-1, name-2, ..."""
    with context("shape"):
        parts = parts_of_recipe(map_paths(table.get("shape"), files.joined))
    if parts is None:
        return [table]
    name = table.get("name")
    named = isinstance(name, str) and bool(name) and len(parts) > 1
    return [
        {**table, "shape": part} | ({"name": f"{name}-{number}"} if named else {})
        for number, part in enumerate(parts, 1)
    ]


def changed(thing: Any, keys: Sequence[str], value: Any, where: str = "") -> Any:
    """A copy of the dataclass `thing` with the field at the path `keys` replaced and everything checked again."""
    cls = type(thing)
    if not keys:
        raise SceneError(f"say which value to set; known: {', '.join(entry.name for entry in fields(cls))}")
    key, *rest = keys
    if where:
        with context(where):
            check_keys(cls, [key])
    else:
        check_keys(cls, [key])
    hint, current = _hints(cls)[key], getattr(thing, key)
    kind = _table_type(hint)
    if not rest:
        nothing = isinstance(value, str) and value == NOTHING and types.NoneType in _parts(hint)
        return _replaced(thing, key, None if nothing else _decode_value(key, hint, value, ANYWHERE))
    if kind is None:
        return _replaced(thing, key, with_component(key, current, rest, value))
    if isinstance(thing, Body) and key == "material":
        current = thing.membrane  # of a preset its numbers
    if kind is Shape:
        new = _decode_value(key, hint, _with_entry(plain(current.recipe), rest, value), ANYWHERE)
    elif current is None and len(rest) == 1:
        new = _decode_value(key, hint, {rest[0]: value}, ANYWHERE)
    elif current is None:
        raise SceneError(f"{key} is not set: set {key} as a whole, as a table")
    else:
        new = changed(current, rest, value, key)
    return _replaced(thing, key, new)


def with_component(key: str, vector: Any, keys: Sequence[str], value: Any) -> tuple[Any, ...]:
    """A vector with the component `x`, `y`, `z` or `0`, `1`, `2` replaced."""
    if not isinstance(vector, tuple) or not vector:
        raise SceneError(f"{key} has no parts: set {key} itself, as a whole")
    known = [*AXES[: len(vector)], *map(str, range(len(vector)))]
    if len(keys) != 1 or keys[0] not in known:
        raise SceneError(f"{key} has no part {'.'.join(keys)!r}; known: {', '.join(known)}")
    place = known.index(keys[0]) % len(vector)
    return tuple(value if index == place else old for index, old in enumerate(vector))


def _replaced(thing: Any, key: str, value: Any) -> Any:
    """A copy with one field changed; of bodies and materials also with what follows from it."""
    return thing.replaced(**{key: value}) if isinstance(thing, (Body, Membrane)) else replace(thing, **{key: value})


def _with_entry(table: Any, keys: Sequence[str], value: Any) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise SceneError(f"shape has no part {keys[0]!r}: set the whole shape as a table")
    key, *rest = keys
    return {**table, key: _with_entry(table.get(key), rest, value) if rest else value}


def encode(thing: Any, folder: Path | None = None) -> dict[str, Any]:
    """The TOML table of a dataclass: the fields that differ from their defaults and those always wanted."""
    table: dict[str, Any] = {}
    always = ALWAYS - OF_SPRINGS if isinstance(thing, Body) and thing.material is not None else ALWAYS
    for entry in sorted(fields(thing), key=lambda entry: entry.name != "name"):  # the name first
        value = getattr(thing, entry.name)
        if entry.name not in always and _is_default(thing, entry, value):
            continue
        if value is None:
            value = NOTHING
        if isinstance(value, Shape):
            value = plain(value.recipe)
            if not value:
                raise SceneError("shape has no recipe and cannot be written: make it with a function of turgor.shapes")
            value = map_paths(value, lambda path: _relative(path, folder))
        elif is_dataclass(value):
            value = encode(value, folder)
        elif entry.name == "texture":
            value = _relative(value, folder)
        table[entry.name] = value
    return table


def _is_default(thing: Any, entry: Field[Any], value: Any) -> bool:
    default = thing.implied[entry.name] if isinstance(entry.default, FromMaterial) else entry.default
    return bool(value in ZEROS if default == ZERO else value == default)


def _relative(path: str, folder: Path | None) -> str:
    """The path as written into a file in `folder`: relative, unless it was absolute and lies elsewhere."""
    if folder is None:
        return path
    try:
        relative = os.path.relpath(path, folder)
    except ValueError:  # another drive
        return os.path.abspath(path)
    outside = relative.split(os.sep)[0] == os.pardir
    return path if outside and os.path.isabs(path) else Path(relative).as_posix()


def write(document: Mapping[str, Any]) -> str:
    """TOML text: plain values first, then tables, then arrays of tables; what lies deeper is inline."""
    lines = [f"{key} = {_inline(value)}" for key, value in document.items() if not _is_section(value)]
    for key, value in document.items():
        if not _is_section(value):
            continue
        title = f"[{key}]" if isinstance(value, dict) else f"[[{key}]]"
        for table in [value] if isinstance(value, dict) else value:
            lines += ["", title, *(f"{name} = {_inline(entry)}" for name, entry in table.items())]
    return "\n".join(lines) + "\n"


def _is_section(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)  # the shortest text that reads back as the same number
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_inline(entry) for entry in value)}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_inline(entry)}" for key, entry in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    raise SceneError(f"a {type(value).__name__} cannot be written to a scene file: {value!r}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\u{ord(match[0]):04x}", escaped) + '"'


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)
