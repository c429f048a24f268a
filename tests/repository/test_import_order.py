"""Imports go down the list of docs/architecture.md, never up: a reader can follow the data from top to bottom.

And no module reaches into what another keeps private.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "turgor"
# Of each package its parts, from the top: a module may import from its own part and from those above. Parts in brackets
# stand beside each other and do not know each other. A part is a module or a package; the longest that fits counts.
Order = tuple[str | tuple[str, ...], ...]
ORDERS: Mapping[str, Order] = {
    "turgor": (
        "version",
        "errors",
        "files",
        "kernel",
        "shapes",
        "scene",
        "materials",
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
        "envs",
        "viewer",
        "bench",
        "papers",
        "validate",
        "study",
        "cli",
        "__main__",
    ),
    "turgor.contact": (
        "geometry",
        ("materials", "movers", "pair_sums", "walls"),
        ("method", "readings"),
        ("features", "rigid", "martin2009", "matyka2003"),
    ),
    "turgor.contact.features": ("launch", "search", "solve", "method"),
    "turgor.viewer": (("server", "world"), ("draw", "lessons"), "export", "page"),
    "turgor.papers": (
        ("drawing", "gallery_scenes"),
        "report",
        "gallery_scenes",
        ("matyka2003", "matyka2004", "matyka2007", "martin2009"),
        "catalogue",
    ),
}


def imports(file: Path, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """(line, full name) of all that a file imports, inside functions and under TYPE_CHECKING too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def place(order: Order, name: str) -> tuple[int, str] | None:
    """(number of the row, part) to which a name inside the package belongs."""
    rows = [(number, part) for number, row in enumerate(order) for part in ((row,) if isinstance(row, str) else row)]
    fitting = [entry for entry in rows if f"{name}.".startswith(f"{entry[1]}.")]
    return max(fitting, key=lambda entry: len(entry[1]), default=None)


def breaches(source: Path) -> list[str]:
    """A line for each import that goes up or aside, and for each that takes the package's root, which imports all."""
    found = []
    for file in sorted(source.rglob("*.py")):
        path = file.relative_to(source)
        parts = tuple(part for part in path.with_suffix("").parts if part != "__init__")
        module = ".".join((source.name, *parts))
        taken = list(imports(file, (source.name, *path.parts[:-1])))
        for holder, order in ORDERS.items():
            if not module.startswith(f"{holder}."):
                continue
            inner = module.removeprefix(f"{holder}.")
            own = place(order, inner)
            if own is None:
                found.append(f"{path}: {inner!r} has no place in the order of {holder}")
                continue
            for line, name in taken:
                where = f"{path}:{line}: imports {name}"
                if not f"{name}.".startswith(f"{holder}."):
                    continue
                other = place(order, name.removeprefix(holder).removeprefix("."))
                if other is None:
                    found.append(f"{where}, from the root of the package")
                elif other[0] > own[0]:
                    found.append(f"{where}, which is below {own[1]!r}")
                elif other[0] == own[0] and other[1] != own[1]:
                    found.append(f"{where}, which stands beside {own[1]!r}")
    return found


def test_imports_go_down_the_list() -> None:
    assert breaches(SOURCE) == []


def make(package: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_a_breach_is_found(tmp_path: Path) -> None:
    package = tmp_path / "turgor"
    make(
        package,
        {
            "__init__.py": "from turgor import cli, scene\n",
            "cli/app.py": "import turgor.scene\nfrom ..errors import X\nimport numpy\n",
            "contact/geometry/closest.py": "from turgor.kernel import numbers\n",
            "contact/features/method.py": "from turgor.contact.features.search import a\nfrom ..walls import b\n",
            "papers/report/blocks.py": "from turgor.papers.drawing import plot\n",
            "papers/catalogue.py": "from turgor.papers.matyka2003 import items\n",
        },
    )
    assert breaches(package) == []
    make(
        package,
        {
            "scene/data.py": "def f():\n    from turgor.record import sink\n\n\ndef g():\n    from ..cli import app\n",
            "scene/toml.py": "from turgor import Simulation\nimport turgor\n",
            "extra/thing.py": "",
            "contact/geometry/closest.py": "from turgor.contact import walls\n",
            "contact/features/search/lists.py": "from ..solve import overlaps\n",
            "contact/rigid/narrow.py": "from turgor.contact.martin2009 import particles\n",
            "papers/report/blocks.py": "from turgor.papers.matyka2003 import items\n",
        },
    )
    found = [
        "contact/features/search/lists.py:1: imports turgor.contact.features.solve.overlaps, which is below 'search'",
        "contact/geometry/closest.py:1: imports turgor.contact.walls, which is below 'geometry'",
        "contact/rigid/narrow.py:1: imports turgor.contact.martin2009.particles, which stands beside 'rigid'",
        "extra/thing.py: 'extra.thing' has no place in the order of turgor",
        "papers/report/blocks.py:1: imports turgor.papers.matyka2003.items, which is below 'report'",
        "scene/data.py:2: imports turgor.record.sink, which is below 'scene'",
        "scene/data.py:6: imports turgor.cli.app, which is below 'scene'",
        "scene/toml.py:1: imports turgor.Simulation, from the root of the package",
        "scene/toml.py:2: imports turgor, from the root of the package",
    ]
    assert breaches(package) == found


# private attributes ---------------------------------------------------------------------------------------------------

# What others offer under a private name and documents: (module, attribute).
ALLOWED = {("sys", "_getframe"), ("os", "_exit")}
VISER = "viser_"  # files that begin so are the ones that may use viser's private names


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def own_private_names(tree: ast.Module) -> set[str]:
    """Private names that a file gives to its own things: functions, classes, variables, fields, `self._name`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own(node.value):
            names.add(node.attr)
    return names


def _is_own(holder: ast.expr) -> bool:
    """self, cls and super()."""
    if isinstance(holder, ast.Call):
        holder = holder.func
        return isinstance(holder, ast.Name) and holder.id == "super"
    return isinstance(holder, ast.Name) and holder.id in ("self", "cls")


def reaches(source: Path) -> list[tuple[str, int, str, str]]:
    """(file, line, expression, attribute) of all that takes a private attribute of another file's thing."""
    found = []
    for file in sorted(source.rglob("*.py")):
        if file.name.startswith(VISER):
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        own = own_private_names(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or not is_private(node.attr) or _is_own(node.value):
                continue
            if node.attr not in own and (ast.unparse(node.value), node.attr) not in ALLOWED:
                found.append((file.relative_to(source).as_posix(), node.lineno, ast.unparse(node), node.attr))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(source.name):
                names = [alias.name for alias in node.names if is_private(alias.name)]
                found += [(file.relative_to(source).as_posix(), node.lineno, f"import {name}", name) for name in names]
    return found


def test_no_module_reaches_into_what_another_keeps_private() -> None:
    assert reaches(SOURCE) == []


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("def f(sim):\n    return sim._step.graph\n", ["_step"]),
        ("class A:\n    def f(self):\n        return self._sim._step\n", ["_step"]),
        ("from turgor.scene.scene import _read\n", ["_read"]),
        ("class A:\n    def f(self):\n        return self._b, super()._c, self.__dict__\n", []),
        ("class A:\n    def __init__(self, other):\n        self._b = other._b\n", []),  # of its own kind
        ("class A:\n    def _b(self): ...\n\ndef f(a):\n    return a._b()\n", []),
        ("import sys\nsys._getframe(1)\n", []),
    ],
)
def test_a_reach_is_found(tmp_path: Path, text: str, attributes: list[str]) -> None:
    make(tmp_path / "turgor", {"scene/data.py": text, "viewer/viser_private.py": "def f(server):\n    server._x\n"})
    assert [attribute for _, _, _, attribute in reaches(tmp_path / "turgor")] == attributes
