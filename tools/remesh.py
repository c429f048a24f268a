"""From an implicit surface to an even triangle mesh of a given number of vertices. No randomness, numpy only.

Marching tetrahedra give a fine mesh; edges are collapsed, shortest first, down to the wanted number of vertices; then
rounds of flips, tangential smoothing, projection onto the implicit surface, and swaps of the shortest edge for the
longest make the triangles even (after Botsch & Kobbelt 2004, "A Remeshing Approach to Multiresolution Modeling").
"""

import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Point = tuple[float, float, float]
Field = Callable[[Array], Array]  # points (n, 3) -> (n,), negative inside


@dataclass(frozen=True)
class Body:
    """What to mesh, and how."""

    field: Field
    low: tuple[float, float, float]  # box that holds it (m)
    high: tuple[float, float, float]
    cell: float  # of the marching grid (m)
    vertices: int  # a closed surface of genus 0 has 2 * vertices - 4 faces
    size: Field  # relative edge length wanted at a point


# marching tetrahedra --------------------------------------------------------------------------------------------------


def march(body: Body) -> tuple[Array, Array]:
    """The surface of the body on a grid: each cube is cut into six tetrahedra about its diagonal (Kuhn)."""
    axes = [np.arange(a, b + body.cell, body.cell) for a, b in zip(body.low, body.high, strict=True)]
    shape = tuple(len(axis) for axis in axes)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    value = body.field(points)
    value = np.where(np.abs(value) < 1e-9, 1e-9, value)
    index = np.arange(len(points)).reshape(shape)
    part = (slice(None, -1), slice(1, None))
    corner = {(i, j, k): index[part[i], part[j], part[k]].ravel() for i in (0, 1) for j in (0, 1) for k in (0, 1)}
    tets = []
    for order in itertools.permutations(range(3)):
        path = [[0, 0, 0]]
        for axis in order:
            path.append([*path[-1]])
            path[-1][axis] = 1
        a, b, c, d = (corner[tuple(step)] for step in path)
        tets.append(np.stack([a, b, c, d] if even(order) else [a, c, b, d], axis=1))
    tet = np.concatenate(tets)
    inside = value[tet] < 0.0
    crossing = inside.any(axis=1) & ~inside.all(axis=1)
    tet, inside = tet[crossing], inside[crossing]
    code = inside @ np.array([1, 2, 4, 8])
    triangles = []  # corners as pairs (inside vertex, outside vertex)
    for case in range(1, 15):
        rows = tet[code == case]
        ins = [i for i in range(4) if case >> i & 1]
        out = [i for i in range(4) if not case >> i & 1]
        turn = even([*ins, *out])
        pair = lambda i, o, rows=rows: np.stack([rows[:, i], rows[:, o]], axis=1)  # noqa: E731
        if len(ins) == 1:
            cuts = [[pair(ins[0], out[0]), pair(ins[0], out[1]), pair(ins[0], out[2])]]
        elif len(ins) == 3:
            cuts = [[pair(ins[0], out[0]), pair(ins[1], out[0]), pair(ins[2], out[0])]]
        else:
            q = [pair(ins[0], out[0]), pair(ins[0], out[1]), pair(ins[1], out[1]), pair(ins[1], out[0])]
            cuts = [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]
        for cut in cuts:
            triangles.append(np.stack(cut if turn else cut[::-1], axis=1))
    ends = np.concatenate(triangles)
    n = np.int64(len(points))
    keys = ends.min(axis=2) * n + ends.max(axis=2)
    unique, faces = np.unique(keys, return_inverse=True)
    a, b = unique // n, unique % n
    t = (value[a] / (value[a] - value[b]))[:, None]
    vertices, faces = points[a] * (1.0 - t) + points[b] * t, faces.reshape(-1, 3)
    return vertices, faces


def even(order: Sequence[int]) -> bool:
    """Whether a permutation is even: the corners then keep their handedness."""
    return float(np.linalg.det(np.eye(len(order))[list(order)])) > 0.0


# remeshing ------------------------------------------------------------------------------------------------------------


def project(field: Field, points: Array, rounds: int = 6) -> Array:
    """The points moved along the gradient onto the surface (Newton, central differences)."""
    step, p = 1e-4, points.copy()
    for _ in range(rounds):
        shifts = [p] + [p + s * step * np.eye(3)[axis] for axis in range(3) for s in (1, -1)]
        value = field(np.concatenate(shifts)).reshape(7, -1)
        gradient = np.stack([value[1] - value[2], value[3] - value[4], value[5] - value[6]], axis=1) / (2 * step)
        p -= (value[0] / np.maximum((gradient**2).sum(axis=1), 0.05))[:, None] * gradient
    return p


class Net:
    """A closed triangle mesh that can be edited: a point and the set of faces around it for each vertex."""

    def __init__(self, vertices: Array, faces: Array, size: Field) -> None:
        self.point: list[Point] = list(map(tuple, vertices.tolist()))
        self.size = size(vertices).tolist()
        self.face: dict[int, tuple[int, int, int]] = {i: tuple(f) for i, f in enumerate(faces.tolist())}
        self.star: list[set[int]] = [set() for _ in self.point]
        for index, corners in self.face.items():
            for v in corners:
                self.star[v].add(index)
        self.count = len(self.point)
        self.fresh = len(self.face)  # number of the next new face

    def ring(self, v: int) -> set[int]:
        return {w for f in self.star[v] for w in self.face[f]} - {v}

    def edges(self) -> list[tuple[int, int]]:
        sides = (side for a, b, c in self.face.values() for side in ((a, b), (b, c), (c, a)))
        return sorted({(a, b) if a < b else (b, a) for a, b in sides})

    def length(self, a: int, b: int) -> float:
        """Of an edge, relative to the length wanted there."""
        return math.dist(self.point[a], self.point[b]) * 2.0 / (self.size[a] + self.size[b])

    def sides(self, a: int, b: int) -> list[int]:
        """The faces on both sides of an edge, the one that runs a -> b first."""
        two = sorted(self.star[a] & self.star[b])
        return sorted(two, key=lambda f: self.face[f][(self.face[f].index(a) + 1) % 3] != b)

    def apex(self, f: int, a: int, b: int) -> int:
        return next(v for v in self.face[f] if v not in (a, b))

    def replace(self, f: int, corners: tuple[int, int, int] | None) -> None:
        for v in self.face.pop(f, ()):
            self.star[v].discard(f)
        if corners:
            self.face[f] = corners
            for v in corners:
                self.star[v].add(f)

    def collapse(self, a: int, b: int) -> bool:
        """Pull b and a together in the middle, if the surface stays a manifold and no face turns over."""
        common = self.ring(a) & self.ring(b)
        if len(common) != 2 or any(len(self.star[v]) <= 4 for v in common):
            return False
        if len(self.star[a]) + len(self.star[b]) - 4 > 9:
            return False
        middle = midpoint(self.point[a], self.point[b])
        for v in (a, b):
            for f in self.star[v] - (self.star[a] & self.star[b]):
                old = [self.point[w] for w in self.face[f]]
                new = [middle if w == v else self.point[w] for w in self.face[f]]
                if cosine(normal(*old), normal(*new)) < 0.3:
                    return False
        for f in self.star[a] & self.star[b]:
            self.replace(f, None)
        for f in sorted(self.star[b]):
            self.replace(f, tuple(a if w == b else w for w in self.face[f]))
        self.point[a] = middle
        self.size[a] = 0.5 * (self.size[a] + self.size[b])
        self.count -= 1
        return True

    def split(self, a: int, b: int) -> None:
        """A new vertex in the middle of the edge."""
        m = len(self.point)
        self.point.append(midpoint(self.point[a], self.point[b]))
        self.size.append(0.5 * (self.size[a] + self.size[b]))
        self.star.append(set())
        self.count += 1
        for f in self.sides(a, b):
            corners, new = self.face[f], self.fresh
            self.replace(f, tuple(m if w == b else w for w in corners))
            self.replace(new, tuple(m if w == a else w for w in corners))
            self.fresh += 1

    def flip(self, a: int, b: int) -> bool:
        """Turn an edge inside its two faces when that makes their smallest angle larger and no sharp fold."""
        f, g = self.sides(a, b)
        c, d = self.apex(f, a, b), self.apex(g, a, b)
        if self.star[c] & self.star[d] or min(len(self.star[a]), len(self.star[b])) <= 4:
            return False
        p = self.point
        now = min(smallest_angle(p[a], p[b], p[c]), smallest_angle(p[b], p[a], p[d]))
        then = min(smallest_angle(p[a], p[d], p[c]), smallest_angle(p[d], p[b], p[c]))
        if then <= now + 1e-6:
            return False
        m, n = normal(p[a], p[d], p[c]), normal(p[d], p[b], p[c])
        x, y = normal(p[a], p[b], p[c]), normal(p[b], p[a], p[d])
        before = (x[0] + y[0], x[1] + y[1], x[2] + y[2])
        if cosine(m, n) < 0.4 or cosine(m, before) <= 0.0 or cosine(n, before) <= 0.0:
            return False
        self.replace(f, (a, d, c))
        self.replace(g, (d, b, c))
        return True

    def reduce(self, count: int) -> None:
        """Collapse the shortest edges until `count` vertices are left."""
        heap = [(self.length(a, b), a, b) for a, b in self.edges()]
        heapq.heapify(heap)
        while self.count > count and heap:
            length, a, b = heapq.heappop(heap)
            if not self.star[a] & self.star[b] or self.length(a, b) != length:
                continue  # gone or moved since
            if self.collapse(a, b):
                for v in sorted(self.ring(a)):
                    heapq.heappush(heap, (self.length(a, v), a, v))

    def relax(self, field: Field, size: Field, rounds: int) -> None:
        """Flips, then vertices move to the middle of their neighbours along the surface."""
        for _ in range(rounds):
            for a, b in self.edges():
                if self.star[a] & self.star[b]:
                    self.flip(a, b)
            live = [v for v in range(len(self.point)) if self.star[v]]
            vertices, faces, back = self.arrays()
            edges = np.array(self.edges())
            edges = np.concatenate([edges, edges[:, ::-1]])
            ends = back[edges]
            want = np.array([self.size[v] for v in live])
            gap = vertices[ends[:, 1]] - vertices[ends[:, 0]]
            # long edges pull more: the lengths even out
            weight = np.linalg.norm(gap, axis=1) / (want[ends[:, 0]] + want[ends[:, 1]])
            total, pull = np.zeros(len(live)), np.zeros_like(vertices)
            np.add.at(total, ends[:, 0], weight)
            np.add.at(pull, ends[:, 0], weight[:, None] * gap)
            pull /= total[:, None]
            corner = vertices[faces]
            across = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
            outward = np.zeros_like(vertices)
            for k in range(3):
                np.add.at(outward, faces[:, k], across)
            outward /= np.linalg.norm(outward, axis=1, keepdims=True)
            pull -= (pull * outward).sum(axis=1, keepdims=True) * outward
            vertices = project(field, vertices + 0.5 * pull, 2)
            for v, point, wanted in zip(live, vertices.tolist(), size(vertices).tolist(), strict=True):
                self.point[v], self.size[v] = tuple(point), wanted

    def arrays(self) -> tuple[Array, Array, Array]:
        """Vertices, faces, and the new number of each old vertex."""
        live = np.array([bool(star) for star in self.star])
        back = np.cumsum(live) - 1
        faces = np.array([self.face[f] for f in sorted(self.face)])
        return np.array([p for p, alive in zip(self.point, live, strict=True) if alive]), back[faces], back


def midpoint(a: Point, b: Point) -> Point:
    return (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))


def normal(a: Point, b: Point, c: Point) -> Point:
    """Of a triangle, twice its area long. Plain floats: for single triangles ten times faster than numpy."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)


def cosine(a: Point, b: Point) -> float:
    """Of the angle between two vectors; 0 when one has no length."""
    length = math.hypot(*a) * math.hypot(*b)
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / length if length > 0.0 else 0.0


def smallest_angle(a: Point, b: Point, c: Point) -> float:
    """Of a triangle (radians)."""
    x, y, z = sorted((math.dist(b, c), math.dist(c, a), math.dist(a, b)))
    return math.acos(min(1.0, (y * y + z * z - x * x) / (2.0 * y * z + 1e-30)))


def remesh(body: Body) -> tuple[Array, Array]:
    """Vertices (n, 3) and faces (2n - 4, 3) of the body, n = body.vertices; height 1, the box about it centred."""
    net = Net(*march(body), body.size)
    net.reduce(2 * body.vertices)
    net.relax(body.field, body.size, 4)
    net.reduce(body.vertices)
    net.relax(body.field, body.size, 8)
    for _ in range(12):  # more where edges are long, fewer where they are short; the number stays
        edges = sorted(net.edges(), key=lambda e: -net.length(*e))
        for a, b in edges[: max(2, body.vertices // 60)]:
            if net.star[a] & net.star[b]:
                net.split(a, b)
        net.reduce(body.vertices)
        net.relax(body.field, body.size, 4)
    net.relax(body.field, body.size, 15)
    vertices, faces, _ = net.arrays()
    vertices = project(body.field, vertices)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    vertices = (vertices - 0.5 * (low + high)) / (high[2] - low[2])
    order = np.lexsort(vertices.T)  # from bottom to top: neighbours in the file are near each other
    rank = np.argsort(order)
    return np.round(vertices[order], 4) + 0.0, rank[faces]


def quality(vertices: Array, faces: Array) -> str:
    """Counts, angles and edges in one line."""
    corner = vertices[faces]
    angles = np.degrees([smallest_angle(*c) for c in corner])
    edge = np.linalg.norm(corner - np.roll(corner, -1, axis=1), axis=2)
    volume = np.einsum("ij,ij->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) / 6.0
    return (
        f"{len(vertices)} vertices, {len(faces)} faces, volume {volume:.4f}, smallest angle {angles.min():.1f}° "
        f"(1 % below {np.percentile(angles, 1):.1f}°, mean {angles.mean():.1f}°), edges {edge.min():.3f} to "
        f"{edge.max():.3f}, longest / median {edge.max() / np.median(edge):.2f}"
    )
