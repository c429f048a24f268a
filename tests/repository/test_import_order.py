"""Imports go down the list of docs/architecture.md, never up: a reader can follow the data from top to bottom."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "turgor"
# From the top: a module may import from its own entry and from those before it.
ORDER = (
    "errors",
    "files",
    "kernel",
    "shapes",
    "scene",
    "model",
    "forces",
    "rigid",
    "contact",
    "solvers",
    "output",
    "diagnose",
    "simulation",
    "record",
    "gallery",
    "viewer",
    "bench",
    "papers",
    "cli",
    "__main__",
)


def imports(file: Path, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """(line, full name) of all that a file imports, inside functions and under TYPE_CHECKING too."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def breaches(source: Path) -> list[str]:
    """A line for each import that goes up, or that takes the package's root, which imports everything."""
    found = []
    for file in sorted(source.rglob("*.py")):
        place = file.relative_to(source).with_suffix("").parts
        if place == ("__init__",):
            continue
        own = place[0]
        if own not in ORDER:
            found.append(f"{file.relative_to(source)}: {own!r} has no place in the order")
            continue
        package = (source.name, *place[:-1])
        for line, name in imports(file, package):
            parts = name.split(".")
            if parts[0] != source.name:
                continue
            where = f"{file.relative_to(source)}:{line}: imports {name}"
            if len(parts) < 2 or parts[1] not in ORDER:
                found.append(f"{where}, from the root of the package")
            elif ORDER.index(parts[1]) > ORDER.index(own):
                found.append(f"{where}, which is below {own!r}")
    return found


def test_imports_go_down_the_list() -> None:
    assert breaches(SOURCE) == []


def test_a_breach_is_found(tmp_path: Path) -> None:
    package = tmp_path / "turgor"
    for folder in ("scene", "cli", "extra"):
        (package / folder).mkdir(parents=True)
    (package / "__init__.py").write_text("from turgor import cli, scene\n")
    (package / "cli" / "app.py").write_text("import turgor.scene\nfrom ..errors import X\nimport numpy\n")
    assert breaches(package) == []
    (package / "scene" / "data.py").write_text(
        "def f():\n    from turgor.record import sink\n\n\ndef g():\n    from ..cli import app\n"
    )
    (package / "scene" / "toml.py").write_text("from turgor import Simulation\nimport turgor\n")
    (package / "extra" / "thing.py").write_text("")
    assert breaches(package) == [
        "extra/thing.py: 'extra' has no place in the order",
        "scene/data.py:2: imports turgor.record.sink, which is below 'scene'",
        "scene/data.py:6: imports turgor.cli.app, which is below 'scene'",
        "scene/toml.py:1: imports turgor.Simulation, from the root of the package",
        "scene/toml.py:2: imports turgor, from the root of the package",
    ]
