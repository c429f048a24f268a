"""The mesh doctor: welds seams, orients faces, finds and closes holes, rejects what cannot hold gas and says why.

Self-intersections are not looked for: a surface may pass through itself and still hold gas in this model.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import MeshError
from turgor.shapes.arguments import MAX_VERTICES
from turgor.shapes.reading import read
from turgor.shapes.report import EXAMPLES, Finding, Report
from turgor.shapes.shape import FloatArray, Shape
from turgor.shapes.slivers import flat_faces, flip_flat
from turgor.shapes.topology import Edges, Flags, Integers, broken_fans, components, orientation, rims, weld

__all__ = ["check", "repair"]

# Vertices closer than this part of the bounding box's diagonal are one vertex. float32 files carry 6e-8 of the
# coordinates, and no modeller makes edges of a millionth of the object.
WELD = 1e-6
# A closed surface is flat when volume / (area · diagonal) is below this: a needle of 1 m and 10 nm passes.
THIN = 1e-9

# A file of more pieces than this is a soup of loose triangles, not a set of bodies.
MAX_SHELLS = 1000
# Volumes are cubes of lengths: beyond this (m) they leave the range of numbers.
MAX_LENGTH = 1e30

MeshLike = Shape | str | os.PathLike[str] | tuple[npt.ArrayLike, npt.ArrayLike]


def check(mesh: MeshLike, *, close_holes: bool = False, cloth: bool = False) -> Report:
    """Examine a Shape, a (vertices, faces) pair or a mesh file, and make the repairs that keep its geometry.

    Always repaired: seams are welded, degenerate and double faces and unused vertices dropped, faces oriented outward,
    separate shells taken apart. `close_holes` also closes each hole by a fan about its centre. `cloth` allows open
    and one-sided surfaces, and gives sheets. Arrays that are no mesh at all (not finite, index out of range, no faces)
    and unreadable files raise MeshError; every other defect is in the report.
    """
    source, vertices, faces = _arrays(mesh)
    report = Report(source, len(vertices), len(faces))
    vertices, faces = _clean(report, vertices, faces)
    if not len(faces):
        report.problems.append(
            "no face has an area: the mesh is a point or a line; check its scale and export it again"
        )
        return report
    edges = Edges.of(faces)
    shell, flip, one_sided = orientation(len(faces), edges)
    shell = components(len(faces), *_share_edge(shell, edges))[shell]
    pieces = np.split(np.argsort(shell, kind="stable"), np.cumsum(np.unique(shell, return_counts=True)[1])[:-1])
    if len(pieces) > MAX_SHELLS:
        report.problems.append(
            f"the mesh falls into {len(pieces):,} separate pieces, so it is not a surface; merge close vertices in a "
            "modeller, or export it with shared vertices"
        )
        return report
    faces = np.where(flip[:, None], faces[:, ::-1], faces)
    flipped: list[Integers] = []
    for members in pieces:
        doctor = _Shell(report, vertices, faces[members], flip[members], bool(one_sided[members].any()), cloth)
        flipped.append(members[doctor.treat(close_holes)])
    changed = np.concatenate(flipped)
    if len(changed):
        _found(report, "flipped_faces", len(changed), vertices[faces[np.sort(changed)[:EXAMPLES]]].mean(axis=1))
        report.repaired.append(f"turned {_many(len(changed), 'face')} over so that all agree")
    _name_shapes(report, None if close_holes or not isinstance(mesh, str | os.PathLike) else source, cloth)
    return report


def repair(mesh: MeshLike, *, close_holes: bool = True) -> list[Shape]:
    """All closed shells of the mesh, repaired (holes closed too); MeshError when something is left."""
    report = check(mesh, close_holes=close_holes)
    if not report.ok:
        raise MeshError(f"{report.source}: {' '.join(report.problems)}")
    return report.shapes


def _arrays(mesh: Any) -> tuple[str, FloatArray, Integers]:
    """Name, vertices (n, 3) and faces (m, 3) of anything that can be checked; MeshError when it is not a mesh."""
    if isinstance(mesh, Shape):
        if mesh.dim != 3:
            raise MeshError("the mesh doctor is for 3D surfaces; a 2D outline is checked when it is made")
        source, vertices, faces = next(iter(mesh.recipe), "shape"), mesh.vertices, mesh.faces.astype(np.int64)
    elif isinstance(mesh, str | os.PathLike):
        source = os.fspath(mesh)
        vertices, faces = read(source)
    elif isinstance(mesh, tuple | list) and len(mesh) == 2:
        source, vertices, faces = "mesh", *_numbers(*mesh)
    else:
        raise MeshError(f"check needs a Shape, a pair (vertices, faces) or a file name, got {type(mesh).__name__}")
    if not len(vertices):
        raise MeshError(f"{source}: it has no vertices")
    if not len(faces):
        raise MeshError(f"{source}: {len(vertices):,} points but no faces; give triangles that join them")
    if max(len(vertices), len(faces) // 2) > MAX_VERTICES:
        raise MeshError(
            f"{source}: {len(vertices):,} vertices are more than the limit of {MAX_VERTICES:,}; simplify it"
        )
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if len(bad):
        raise MeshError(
            f"{source}: {_many(len(bad), 'vertex')} not finite, the first is number {bad[0]} "
            f"{vertices[bad[0]].tolist()}; remove or correct it"
        )
    if np.abs(vertices).max() > MAX_LENGTH or 0.0 < np.ptp(vertices, axis=0).max() < 1.0 / MAX_LENGTH:
        raise MeshError(
            f"{source}: its size is beyond {MAX_LENGTH:g} m or below {1 / MAX_LENGTH:g} m; scale it to metres"
        )
    wrong = np.flatnonzero(((faces < 0) | (faces >= len(vertices))).any(axis=1))
    if len(wrong):
        raise MeshError(
            f"{source}: face {wrong[0]} {faces[wrong[0]].tolist()} has an index out of range "
            f"(there are {len(vertices):,} vertices, counted from 0); correct the faces"
        )
    return source, vertices, faces


def _numbers(vertices: Any, faces: Any) -> tuple[FloatArray, Integers]:
    try:
        points = np.array(vertices, np.float64)
        index = np.array(faces)
        if index.size == 0:
            index = np.zeros((0, 3), np.int64)
        if index.dtype.kind not in "iu":
            whole = np.array(faces, np.float64)
            if not (np.isfinite(whole) & (whole == np.round(whole))).all():
                raise MeshError("mesh: faces must be whole numbers (vertex indices counted from 0)")
            index = whole
        triangles = index.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        raise MeshError("mesh: vertices and faces must be rows of three numbers, all rows equally long") from None
    if points.size == 0:
        points = points.reshape(0, 3)
    if points.ndim != 2 or points.shape[1] != 3:
        raise MeshError(f"mesh: vertices must have shape (n, 3), got {points.shape}")
    if triangles.ndim != 2 or triangles.shape[1] != 3:
        raise MeshError(f"mesh: faces must have shape (m, 3), got {triangles.shape}; cut polygons into triangles")
    return points, triangles


def _clean(report: Report, vertices: FloatArray, faces: Integers) -> tuple[FloatArray, Integers]:
    """Weld, then drop faces without area in their indices, double faces and unused vertices; note each."""
    diagonal = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    edges = Edges.of(faces)
    short = np.linalg.norm(vertices[edges.ends[:, 0]] - vertices[edges.ends[:, 1]], axis=1) <= WELD * diagonal
    # A mesh that is closed as it is needs no weld, and a weld would join shells that only touch.
    if len(edges.open) or short.any():
        keep = weld(vertices, WELD * diagonal)
        used = np.zeros(len(vertices), bool)
        used[faces] = True
        moved = np.flatnonzero((keep != np.arange(len(vertices))) & used)
        if len(moved):
            _found(report, "duplicate_vertices", len(moved), vertices[moved])
            report.repaired.append(f"welded {_many(len(moved), 'vertex')} at seams")
            faces = keep[faces]
    a, b, c = faces.T
    degenerate = (a == b) | (b == c) | (c == a)
    if degenerate.any():
        _found(report, "degenerate_faces", int(degenerate.sum()), vertices[faces[degenerate][:, 0]])
        report.repaired.append(f"dropped {_many(int(degenerate.sum()), 'degenerate face')}")
        faces = faces[~degenerate]
    ring = np.sort(faces, axis=1)
    order = np.lexsort(ring.T)  # stable: of equal faces the first of the file comes first
    again = np.sort(order[1:][(ring[order[1:]] == ring[order[:-1]]).all(axis=1)])
    if len(again):
        _found(report, "duplicate_faces", len(again), vertices[faces[again[:EXAMPLES]]].mean(axis=1))
        report.repaired.append(f"dropped {_many(len(again), 'duplicate face')}")
        faces = np.delete(faces, again, axis=0)
    used = np.zeros(len(vertices), bool)
    used[faces] = True
    loose = np.flatnonzero(~used)
    welded = report.findings["duplicate_vertices"].count if "duplicate_vertices" in report.findings else 0
    if len(loose) - welded > 0:
        _found(report, "unreferenced_vertices", len(loose) - welded, vertices[loose])
        report.repaired.append(f"dropped {_many(len(loose) - welded, 'unused vertex')}")
    renumber = np.cumsum(used) - 1
    return vertices[used], renumber[faces]


def _name_shapes(report: Report, path: str | None, cloth: bool) -> None:
    """The recipe of each usable shell: its place in the file, or the arrays themselves."""
    numbers = [index for index, shell in enumerate(report.shells) if shell["ok"]]
    for place, (index, shape) in enumerate(zip(numbers, report.shapes, strict=True)):
        recipe: dict[str, Any]
        if path is None:
            recipe = {"mesh": {"vertices": shape.vertices.tolist(), "faces": shape.faces.tolist()}}
            if cloth:
                recipe["mesh"]["cloth"] = True
        else:
            recipe = {"file": path}
            if len(report.shells) > 1:
                recipe["shell"] = index
            if cloth:
                recipe["cloth"] = True
        report.shapes[place] = replace(shape, recipe=recipe)


def _share_edge(shell: Integers, edges: Edges) -> tuple[Integers, Integers]:
    """Links between shells that meet on edges of three or more faces: they cannot be taken apart."""
    order = np.argsort(edges.edge_of_side, kind="stable")
    same = edges.edge_of_side[order[1:]] == edges.edge_of_side[order[:-1]]
    return shell[order[:-1][same] // 3], shell[order[1:][same] // 3]


class _Shell:
    """One connected piece of the mesh under treatment."""

    def __init__(
        self, report: Report, vertices: FloatArray, faces: Integers, flip: Flags, one_sided: bool, cloth: bool
    ) -> None:
        used, inverse = np.unique(faces, return_inverse=True)
        self.report, self.cloth, self.one_sided = report, cloth, one_sided
        self.vertices, self.faces = vertices[used], inverse.reshape(-1, 3).astype(np.int64)
        self.flip = flip  # faces of the file that are turned over so far (faces that close a hole come after them)
        self.usable = True

    def treat(self, close_holes: bool) -> Integers:
        """Diagnose, repair, append the shape to the report; returns the faces that differ in winding from the file."""
        edges = Edges.of(self.faces)
        self._manifold(edges)
        if self.one_sided and not self.cloth:
            self._problem(
                "not_orientable", 1, self.vertices[:1],
                "the surface has only one side (like a Möbius strip or a Klein bottle), so it has no inside; "
                "cut it, or turn faces that were joined the wrong way",
            )  # fmt: skip
        closed = not len(edges.open)
        if not closed and not self.cloth:
            closed = self._open(edges, close_holes)
        volume = self._outward() if closed and self.usable and not self.cloth else None
        if volume is None and self.flip.mean() > 0.5:  # no inside to go by: keep the winding of the majority
            self.faces, self.flip = self.faces[:, ::-1], ~self.flip
        flat = self._flat_faces() if self.usable else 0
        edge_count = len(Edges.of(self.faces).ends)
        euler = len(self.vertices) - edge_count + len(self.faces)
        self.report.shells.append(
            {
                "vertices": len(self.vertices),
                "faces": len(self.faces),
                "volume": volume,
                "genus": (2 - euler) // 2 if volume is not None else None,
                "flat_faces": flat,
                "ok": self.usable,
            }
        )
        if self.usable:
            kind = "sheet" if self.cloth else "surface"
            self.report.shapes.append(Shape(self.vertices, self.faces.astype(np.int32), kind, {}))
        return np.flatnonzero(self.flip) if not self.flip.all() else np.zeros(0, np.int64)

    def _manifold(self, edges: Edges) -> None:
        """Edges of three faces or more, and bow-ties."""
        many = np.flatnonzero(edges.count > 2)
        if len(many):
            self._problem(
                "non_manifold_edges", len(many), self.vertices[edges.ends[many]].mean(axis=1),
                f"{_many(len(many), 'edge')} with three or more faces (non-manifold), so inside and outside are not "
                "defined; delete the inner faces or split the mesh there",
            )  # fmt: skip
        ties = broken_fans(len(self.faces), edges)
        ties = np.setdiff1d(ties, edges.ends[many].ravel())
        if len(ties) and not self.cloth:
            self._problem(
                "non_manifold_vertices", len(ties), self.vertices[ties],
                f"{_many(len(ties), 'vertex')} where two parts touch in one point only (bow-tie, non-manifold); "
                "split the vertex in two or merge the parts along an edge",
            )  # fmt: skip

    def _open(self, edges: Edges, close_holes: bool) -> bool:
        """Report the holes; close them if asked and possible. Returns whether the shell is closed now."""
        sides = edges.sides[edges.open]
        where = self.vertices[sides].mean(axis=1)
        loops = rims(edges) if not self.one_sided else _split(sides)
        centres = np.array([self.vertices[loop].mean(axis=0) for loop in loops])
        _found(self.report, "open_edges", len(sides), where)
        _found(self.report, "holes", len(loops), centres)
        if close_holes and self.usable and not self.one_sided:
            self._fill(loops)
            self.report.repaired.append(f"closed {_many(len(loops), 'hole')} with {_many(len(sides), 'open edge')}")
            return True
        self._problem(
            None, len(loops), centres,
            f"the surface is open: {_many(len(loops), 'hole')} with {_many(len(sides), 'open edge')}, the first near "
            f"{_place(centres[0])}; close it in a modeller, with `turgor check --repair`, or use it as cloth",
        )  # fmt: skip
        return False

    def _fill(self, loops: list[Integers]) -> None:
        """A triangle for a loop of three, else a fan about the loop's centre; wound against the faces beside it."""
        for loop in loops:
            ring = loop[::-1]
            if len(ring) == 3:
                fan = ring[None, :]
            else:
                centre = np.full(len(ring), len(self.vertices))
                self.vertices = np.concatenate([self.vertices, self.vertices[ring].mean(axis=0)[None]])
                fan = np.stack([ring, np.roll(ring, -1), centre], axis=1)
            self.faces = np.concatenate([self.faces, fan])

    def _outward(self) -> float:
        """Turn the shell so that its volume is positive; a volume of zero is a problem."""
        shape = Shape(self.vertices, self.faces.astype(np.int32), "surface", {})
        volume = shape.volume
        corner = self.vertices[self.faces]
        area = 0.5 * np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1).sum()
        diagonal = float(np.linalg.norm(np.ptp(self.vertices, axis=0)))
        if not abs(volume) > THIN * area * diagonal:
            self._problem(
                "flat_shells", 1, self.vertices.mean(axis=0)[None],
                "the surface is flat: its volume is zero, so no gas fits in; give it a thickness or use it as cloth",
            )  # fmt: skip
            return 0.0
        if volume < 0.0:
            consistent = not self.flip.any()
            self.faces, self.flip = self.faces[:, ::-1], ~self.flip
            if consistent:
                _found(self.report, "inverted_shells", 1, self.vertices.mean(axis=0)[None])
                self.report.repaired.append(f"turned an inside-out shell of {_many(len(self.faces), 'face')} outward")
        return abs(volume)

    def _flat_faces(self) -> int:
        """Divide the neighbours of faces whose corners lie on a line; what is left exerts no force, and is reported."""
        flat = flat_faces(self.vertices, self.faces)
        if not len(flat):
            return 0
        _found(self.report, "flat_faces", len(flat), self.vertices[self.faces[flat[:EXAMPLES]]].mean(axis=1))
        self.faces = flip_flat(self.vertices, self.faces)
        left = len(flat_faces(self.vertices, self.faces))
        if left < len(flat):
            self.report.repaired.append(f"removed {_many(len(flat) - left, 'flat face')} by dividing the neighbours")
        return left

    def _problem(self, name: str | None, count: int, where: FloatArray, sentence: str) -> None:
        if name:
            _found(self.report, name, count, where)
            sentence += f" (near {_place(where[0])})" if name != "flat_shells" else ""
        if sentence not in self.report.problems:
            self.report.problems.append(sentence)
        self.usable = False


def _split(sides: Integers) -> list[Integers]:
    """Vertices of each connected group of sides (for surfaces with no winding to follow)."""
    label = components(int(sides.max()) + 1, sides[:, 0], sides[:, 1])
    corners = np.unique(sides)
    return [corners[label[corners] == root] for root in np.unique(label[corners])]


def _found(report: Report, name: str, count: int, where: FloatArray) -> None:
    """Add to the count of a finding; keep the first places."""
    old = report.findings.get(name, Finding(0))
    places = [tuple(float(x) for x in point) for point in where[:EXAMPLES]]
    report.findings[name] = Finding(old.count + count, (*old.where, *places)[:EXAMPLES])


def _place(point: Any) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in point) + ")"


def _many(count: int, noun: str) -> str:
    """'1 face', '2 faces', '3 vertices'."""
    plural = noun[:-2] + "ices" if noun.endswith("vertex") else noun + "s"
    return f"{count:,} {noun if count == 1 else plural}"
