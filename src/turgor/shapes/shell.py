"""One shell under the mesh doctor: edges of many faces, bow-ties, holes, outside and inside, faces without area."""

from __future__ import annotations

import numpy as np

from turgor.shapes.fans import broken_fans, rims, simple_loops, split_fans
from turgor.shapes.paint import Look, Paint
from turgor.shapes.report import EXAMPLES, Report, many, place
from turgor.shapes.shape import FloatArray, Shape
from turgor.shapes.slivers import flat_faces, flip_flat
from turgor.shapes.topology import Edges, Flags, Integers, components

__all__ = ["CLOSING", "Shell"]

CLOSING = "with `turgor check --repair` or close_holes = true"  # how to have holes closed, in a sentence

# A closed surface is flat when volume / (area · diagonal) is below this: a needle of 1 m and 10 nm passes.
THIN = 1e-9


class Shell:
    """One connected piece of the mesh under treatment."""

    def __init__(
        self,
        report: Report,
        vertices: FloatArray,
        faces: Integers,
        flip: Flags,
        one_sided: bool,
        cloth: bool,
        paint: Paint | None = None,
    ) -> None:
        used, inverse = np.unique(faces, return_inverse=True)
        self.report, self.cloth, self.one_sided = report, cloth, one_sided
        self.vertices, self.faces = vertices[used], inverse.reshape(-1, 3).astype(np.int64)
        self.flip = flip  # faces of the file that are turned over so far (faces that close a hole come after them)
        self.paint = paint  # of the faces, in their order
        self.usable = True

    def treat(self, close_holes: bool) -> Integers:
        """Diagnose, repair, append the shape to the report; returns the faces that differ in winding from the file."""
        edges = Edges.of(self.faces)
        self._regular_edges(edges)
        loops = self._rims(edges)
        if self.one_sided and not self.cloth:
            self._problem(
                "not_orientable", 1, self.vertices[:1],
                "the surface has only one side (like a Möbius strip or a Klein bottle), so it has no inside; "
                "cut it, or turn faces that were joined the wrong way",
            )  # fmt: skip
        closed = not loops or self.cloth or self._close(loops, close_holes)
        volume = self._outward() if closed and self.usable and not self.cloth else None
        if volume is None and self.flip.mean() > 0.5:  # no inside to go by: keep the winding of the majority
            self._turn()
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
            look = Look() if self.paint is None else self.paint.look()
            if look.note is not None:
                self.report.notes.append(look.note)
            self.report.shapes.append(
                Shape(
                    self.vertices,
                    self.faces.astype(np.int32),
                    kind,
                    {},
                    corner_uv=look.corner_uv,
                    texture=look.texture,
                    color=look.color,
                )
            )
        return np.flatnonzero(self.flip) if not self.flip.all() else np.zeros(0, np.int64)

    def _turn(self) -> None:
        """Turn all faces over."""
        self.faces, self.flip = self.faces[:, ::-1], ~self.flip
        self.paint = None if self.paint is None else self.paint.turned(True)

    def _regular_edges(self, edges: Edges) -> None:
        """Edges of three faces or more are a problem."""
        crowded = np.flatnonzero(edges.count > 2)
        if len(crowded):
            self._problem(
                "non_manifold_edges", len(crowded), self.vertices[edges.ends[crowded]].mean(axis=1),
                f"{many(len(crowded), 'edge')} with three or more faces (non-manifold), so inside and outside are not "
                "defined; delete the inner faces or split the mesh there",
            )  # fmt: skip

    def _rims(self, edges: Edges) -> list[Integers]:
        """The loops around the holes, after bow-ties are split; cloth keeps its bow-ties, and rims do not matter."""
        if self.cloth:
            return []
        ties = broken_fans(edges)
        if not len(ties):
            return rims(edges) if not self.one_sided else _groups(edges.sides[edges.open])
        self.report.found("non_manifold_vertices", len(ties), self.vertices[ties])
        faces, origin = split_fans(len(self.vertices), edges)
        edges = Edges.of(faces)
        if self.one_sided:
            loops, stands_for = _groups(edges.sides[edges.open]), np.arange(len(origin))
        else:
            loops, stands_for = simple_loops(rims(edges), origin)
        used, name = np.unique(stands_for[faces], return_inverse=True)
        rank = np.cumsum(np.isin(np.arange(len(origin)), used)) - 1
        self.faces, self.vertices = name.reshape(-1, 3).astype(np.int64), self.vertices[origin[used]]
        split = int((np.unique(origin[used], return_counts=True)[1] > 1).sum())
        if split:
            self.report.repaired.append(f"split {many(split, 'bow-tie vertex')}, where parts touch in one point only")
        return [rank[stands_for[loop]] for loop in loops]

    def _close(self, loops: list[Integers], close_holes: bool) -> bool:
        """Report the holes; close them if asked and possible. Returns whether the shell is closed now."""
        edges = Edges.of(self.faces)
        ends = edges.sides[edges.open]
        centres = np.array([self.vertices[loop].mean(axis=0) for loop in loops])
        holes = f"{many(len(loops), 'hole')} with {many(len(ends), 'open edge')}"
        self.report.found("open_edges", len(ends), self.vertices[ends].mean(axis=1))
        self.report.found("holes", len(loops), centres)
        if close_holes and self.usable and not self.one_sided:
            self._fill(loops, edges)
            self.report.repaired.append(f"closed {holes}")
            return True
        remedy = f"close it in a modeller, {CLOSING}, or use it as cloth"
        if close_holes:
            remedy = "holes are closed only in a shell that has no other problem"
        self._problem(
            None, len(loops), centres,
            f"the surface is open: {holes}, the first near {place(centres[0])}; {remedy}",
        )  # fmt: skip
        return False

    def _fill(self, loops: list[Integers], edges: Edges) -> None:
        """A triangle for a loop of three, else a fan about the loop's centre; wound against the faces beside it."""
        known = len(self.faces)
        for loop in loops:
            ring = loop[::-1]
            if len(ring) == 3:
                fan = ring[None, :]
            else:
                centre = np.full(len(ring), len(self.vertices))
                self.vertices = np.concatenate([self.vertices, self.vertices[ring].mean(axis=0)[None]])
                fan = np.stack([ring, np.roll(ring, -1), centre], axis=1)
            self.faces = np.concatenate([self.faces, fan])
        if self.paint is not None:
            self._paint_closing(self.faces[known:], edges)

    def _paint_closing(self, faces: Integers, edges: Edges) -> None:
        """Faces that close holes show the texture of the rim: their first side lies on it."""
        assert self.paint is not None
        side_of = {(int(a), int(b)): int(s) for s, (a, b) in zip(edges.open, edges.sides[edges.open], strict=True)}
        sides = np.array([side_of.get((b, a), int(edges.open[0])) for a, b, _ in faces.tolist()], np.int64)
        first, last = sides // 3, (sides + 1) % 3
        start, end = self.paint.uv[first, sides % 3], self.paint.uv[first, last]
        self.paint = self.paint.extended(np.stack([end, start, (start + end) / 2.0], axis=1), first)
        self.report.notes.append(
            f"{many(len(faces), 'face')} that close holes have no texture of their own: they show that of the rim"
        )

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
            self._turn()
            if consistent:
                self.report.found("inverted_shells", 1, self.vertices.mean(axis=0)[None])
                self.report.repaired.append(f"turned an inside-out shell of {many(len(self.faces), 'face')} outward")
        return abs(volume)

    def _flat_faces(self) -> int:
        """Divide the neighbours of faces whose corners lie on a line; what is left exerts no force, and is reported."""
        flat = flat_faces(self.vertices, self.faces)
        if not len(flat):
            return 0
        self.report.found("flat_faces", len(flat), self.vertices[self.faces[flat[:EXAMPLES]]].mean(axis=1))
        self.faces, self.paint = flip_flat(self.vertices, self.faces, self.paint)
        left = len(flat_faces(self.vertices, self.faces))
        if left < len(flat):
            self.report.repaired.append(f"removed {many(len(flat) - left, 'flat face')} by dividing the neighbours")
        return left

    def _problem(self, name: str | None, count: int, where: FloatArray, sentence: str) -> None:
        if name:
            self.report.found(name, count, where)
            sentence += f" (near {place(where[0])})" if name != "flat_shells" else ""
        if sentence not in self.report.problems:
            self.report.problems.append(sentence)
        self.usable = False


def _groups(sides: Integers) -> list[Integers]:
    """Vertices of each connected group of sides (for surfaces with no winding to follow)."""
    label = components(int(sides.max(initial=-1)) + 1, sides[:, 0], sides[:, 1])
    corners = np.unique(sides)
    return [corners[label[corners] == root] for root in np.unique(label[corners])]
