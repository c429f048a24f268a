"""Recipes: a shape as plain data, {name: {arguments}} or {"file": path}, the way a scene file stores it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from turgor.errors import MeshError, did_you_mean
from turgor.shapes.animals import cat, hand
from turgor.shapes.files import load, mesh
from turgor.shapes.letters import letter
from turgor.shapes.outlines import circle, outline, polygon, star
from turgor.shapes.shape import Shape
from turgor.shapes.sheets import sheet
from turgor.shapes.surfaces import box, capsule, cone, icosphere, torus, uv_sphere

__all__ = ["MAKERS", "from_recipe", "parts_of_recipe"]

MAKERS: dict[str, Callable[..., Shape]] = {
    maker.__name__: maker
    for maker in (
        box, capsule, cat, circle, cone, hand, icosphere, letter, mesh, outline, polygon, sheet, star, torus, uv_sphere,
    )
}  # fmt: skip


def from_recipe(recipe: Mapping[str, Any], folder: str | Path | None = None) -> Shape:
    """The shape that a recipe describes: the inverse of Shape.recipe. Files are looked up relative to `folder`."""
    if not isinstance(recipe, Mapping) or not recipe:
        raise MeshError(f"a shape must be a table such as {{ icosphere = {{ radius = 0.5 }} }}, got {recipe!r}")
    if "file" in recipe:
        made = _from_file(recipe, folder)
        if isinstance(made, list):
            raise MeshError(
                f'file: parts = "all" gives {len(made)} shapes, and one is needed; choose it, as in shell = 0'
            )
        return made
    if len(recipe) != 1:
        raise MeshError(
            f"a shape must have one name, got {len(recipe)}: {', '.join(map(str, recipe))}; keep one of them"
        )
    name, arguments = next(iter(recipe.items()))
    if name not in MAKERS:
        raise MeshError(f"unknown shape {name!r}; {_suggestion(name, [*MAKERS, 'file'])}")
    if not isinstance(arguments, Mapping):
        raise MeshError(f"{name}: arguments must be a table, such as {{ {name} = {{ }} }}, got {arguments!r}")
    maker = MAKERS[name]
    _known_arguments(name, arguments, _parameters(maker))
    for key, parameter in inspect.signature(maker).parameters.items():
        if parameter.default is parameter.empty and key not in arguments:
            raise MeshError(f"{name}: the argument {key!r} is missing")
    return maker(**arguments)


def parts_of_recipe(recipe: Any, folder: str | Path | None = None) -> list[Shape] | None:
    """The shapes of a file of which all parts are wanted, {"file": path, "parts": "all"}; None for other recipes."""
    if not isinstance(recipe, Mapping) or "file" not in recipe or recipe.get("parts") != "all" or "shell" in recipe:
        return None
    made = _from_file(recipe, folder)
    return made if isinstance(made, list) else [made]


def _from_file(recipe: Mapping[str, Any], folder: str | Path | None) -> Shape | list[Shape]:
    options = {name: value for name, value in recipe.items() if name != "file"}
    _known_arguments("file", options, [name for name in _parameters(load) if name not in ("path", "folder")])
    made: Shape | list[Shape] = load(recipe["file"], folder=folder, **options)
    return made


def _parameters(maker: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(maker).parameters)


def _known_arguments(shape: str, arguments: Mapping[str, Any], known: list[str]) -> None:
    for name in arguments:
        if name not in known:
            raise MeshError(f"{shape}: unknown argument {name!r}; {_suggestion(name, known)}")


def _suggestion(name: Any, known: list[str]) -> str:
    return did_you_mean(name, known, otherwise=f"known are {', '.join(sorted(known))}")
