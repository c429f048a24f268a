"""How deep bodies are in each other, by plain geometry: an independent check of all contact methods.

`deepest(sim)`, `depths(sim)`, `crossings(sim)`, `self_crossings(sim)` and `wall_depth(sim)` look only at what a
simulation shows to everybody, its layout, frame and scene; none of the engine's contact code is used. Who asks for
several of them at once makes `bodies = surfaces(sim)` first and gives it to each.

Depth of a vertex: its distance to the surface that it is inside of. Balls and capsules are round, whatever their mesh.
A cloth has no inside: what passed through it is found by `crossings`, edges of one surface that pierce triangles of
another (in 2D: edges that cross), which also finds edges that cross between the vertices of closed bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from reference.inside import cross, crossed, distance, dot, meeting, pierced, to_segments, winding
from turgor.shapes import Shape
from turgor.shapes.hull import convex_hull

AXIS_SAMPLES = 65  # of a capsule's axis, where a triangle is nearest to it


@dataclass
class Surface:
    """One body where it is now."""

    name: str
    kind: str  # "ball" | "capsule" | "convex" | "mesh" | "sheet"
    points: np.ndarray  # (n, dim) m; of a ball its centre, of a capsule the ends of its axis
    faces: np.ndarray  # (m, dim)
    rigid: bool = False
    radius: float = 0.0

    @cached_property
    def corners(self):
        """(m, dim, dim) m: triangles or segments."""
        return self.points[self.faces]

    @cached_property
    def edges(self):
        """(k, 2) vertices."""
        if self.faces.shape[1] == 2:
            return self.faces
        ends = np.concatenate([self.faces[:, [0, 1]], self.faces[:, [1, 2]], self.faces[:, [2, 0]]])
        return np.unique(np.sort(ends, axis=1), axis=0)

    @cached_property
    def planes(self):
        """(m, dim), (m,): outward unit normals and offsets."""
        a, b = self.corners[:, 0], self.corners[:, 1]
        e = b - a
        normal = np.stack([e[:, 1], -e[:, 0]], axis=1) if self.faces.shape[1] == 2 else cross(e, self.corners[:, 2] - a)
        normal = normal / np.linalg.norm(normal, axis=1, keepdims=True)
        return normal, dot(normal, a)

    @cached_property
    def low(self):
        return self.points.min(axis=0) - self.radius

    @cached_property
    def high(self):
        return self.points.max(axis=0) + self.radius

    @property
    def round(self):
        return self.kind in ("ball", "capsule")

    @property
    def middle(self):
        return 0.5 * (self.low + self.high)


# what is there --------------------------------------------------------------------------------------------------------


def surfaces(sim, frame=None):
    """The surfaces of the first world, now or in a frame of this simulation."""
    frame = sim.frame() if frame is None else frame
    scene = {body.name: body for body in (*sim.scene.bodies, *getattr(sim.scene, "rigid_bodies", ()))}
    out = []
    for layout in sim.layout.bodies:
        points = frame.positions[layout.start : layout.start + layout.count]
        body = scene[layout.name]
        if layout.kind == "rigid":
            out.append(_rigid(body, points))
        else:
            out.append(Surface(layout.name, "mesh" if body.shape.closed else "sheet", points, layout.faces))
    return out


def _rigid(body, points):
    kind = body.resolved_collider
    shape = body.shape
    turn, shift = _placement(shape.vertices, points)
    if kind == "sphere":
        return Surface(body.name, "ball", shift[None], np.zeros((0, body.dim), int), True, body.radius)
    if kind == "capsule":
        ends = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]) * body.height
        return Surface(body.name, "capsule", ends @ turn.T + shift, np.zeros((0, 3), int), True, body.radius)
    if kind == "hull":
        hull = _hull(shape.vertices.tobytes(), shape.vertices.shape)
        return Surface(body.name, "convex", hull.vertices @ turn.T + shift, hull.faces, True)
    return Surface(body.name, "mesh" if shape.closed else "sheet", points, shape.faces, True)


@lru_cache
def _hull(data, size) -> Shape:
    """The convex hull of vertices, which are given as bytes: bodies of one shape share it, at all times."""
    return convex_hull(np.frombuffer(data, float).reshape(size))


def _placement(shape, points):
    """(turn, shift) that take the shape's vertices to the points: the best rotation (Kabsch 1976)."""
    a, b = shape.mean(axis=0), points.mean(axis=0)
    u, _, vt = np.linalg.svd((points - b).T @ (shape - a))
    flip = np.eye(shape.shape[1])
    flip[-1, -1] = np.sign(np.linalg.det(u @ vt))
    turn = u @ flip @ vt
    return turn, b - turn @ a


# how deep -------------------------------------------------------------------------------------------------------------


def deepest(sim, frame=None, bodies=None):
    """(depth m, (name, name)) of the worst pair: a vertex of the first is that deep in the second; 0.0 if none is."""
    found = depths(sim, frame, bodies)
    if not found:
        return 0.0, ("", "")
    pair = max(found, key=lambda key: found[key])
    return found[pair], pair


def depths(sim, frame=None, bodies=None):
    """(name, name) -> m, for all pairs that are in each other; pairs that are glued together are left out."""
    glued = {(entry.body, entry.rigid) for entry in getattr(sim.scene, "attachments", ())}
    return depths_of(bodies or surfaces(sim, frame), glued)


def depths_of(bodies, apart=()):
    """As `depths`, for surfaces."""
    out = {}
    for a, b in _pairs(bodies):
        if (a.name, b.name) in apart or (b.name, a.name) in apart:
            continue
        for first, second in ((a, b), (b, a)):
            depth = depth_in(first, second)
            if depth > 0.0:
                out[first.name, second.name] = depth
    return out


def depth_in(a, b):
    """m: how deep vertices of a are in b, or the round surface of a in b; 0.0 if not at all."""
    if b.round:
        reach = to_segments(a.points if a.kind != "capsule" else _axis(a), _core(b)).min()
        return max(0.0, b.radius + a.radius - float(reach))
    if a.round:
        points = _axis(a)
        gap = distance(points, b.corners)
        if b.kind != "sheet":
            gap = np.where(winding(points, b.corners) > 0.5, -gap, gap)
        return max(0.0, a.radius - float(gap.min()))
    if b.kind == "sheet":
        return 0.0
    points = a.points[((a.points >= b.low) & (a.points <= b.high)).all(axis=1)]
    if len(points) and b.kind == "convex":
        normal, offset = b.planes
        return max(0.0, float(-(points @ normal.T - offset).max(axis=1).min()))
    points = _maybe_inside(points, a, b)
    if len(points):
        points = points[winding(points, b.corners) > 0.5]
    return float(distance(points, b.corners).max()) if len(points) else 0.0


def _maybe_inside(points, a, b):
    """Without the points that are surely outside, beyond all of b in some direction."""
    if not len(points):
        return points
    way = a.middle - b.middle
    points = points[points @ way <= (b.points @ way).max()]
    if not len(points):
        return points
    ways = points - b.middle
    return points[dot(points, ways) <= (ways @ b.points.T).max(axis=1)]


def _core(b):
    """(1, 2, dim): the axis of a capsule, or the centre of a ball, as a segment."""
    return b.points[[0, -1]][None]


def _axis(a):
    """(n, dim): points on the axis of a capsule; the centre of a ball."""
    if a.kind == "ball":
        return a.points
    share = np.linspace(0.0, 1.0, AXIS_SAMPLES)[:, None]
    return (1.0 - share) * a.points[0] + share * a.points[1]


def _pairs(bodies):
    """Pairs whose boxes meet."""
    if not bodies:
        return []
    boxes = np.array([[body.low, body.high] for body in bodies])
    first, second = meeting(boxes, boxes)
    return [(bodies[i], bodies[j]) for i, j in zip(first, second, strict=True) if i < j]


# what crosses ---------------------------------------------------------------------------------------------------------


def crossings(sim, frame=None, bodies=None, *, rigid_pairs=False):
    """Number of edges of one body that pierce triangles of another (2D: cross edges); without round bodies.

    rigid_pairs: also between rigid bodies, which touch without a skin between them and so do cross a little.
    """
    glued = {(entry.body, entry.rigid) for entry in getattr(sim.scene, "attachments", ())}
    count = 0
    for a, b in _pairs([body for body in bodies or surfaces(sim, frame) if not body.round]):
        both_rigid = a.rigid and b.rigid
        if (both_rigid and not rigid_pairs) or (a.name, b.name) in glued or (b.name, a.name) in glued:
            continue
        count += crossings_of(a, b)
    return count


def crossings_of(a, b):
    """Between two surfaces."""
    low, high = np.maximum(a.low, b.low), np.minimum(a.high, b.high)
    if a.faces.shape[1] == 2:
        return _count(_near(a.points[a.edges], low, high), _near(b.corners, low, high), crossed)
    return sum(
        _count(_near(first.points[first.edges], low, high), _near(second.corners, low, high), pierced)
        for first, second in ((a, b), (b, a))
    )


def self_crossings(sim, frame=None):
    """name -> number of edges of a body that pierce its own triangles (2D: cross its own edges); soft bodies, cloth."""
    return {body.name: self_crossings_of(body) for body in surfaces(sim, frame) if not body.rigid}


def self_crossings_of(body):
    """Without neighbours, which share a vertex."""
    i, j = meeting(body.points[body.edges], body.corners)
    ends, faces = body.edges[i], body.faces[j]
    apart = (ends[:, :, None] != faces[:, None, :]).all(axis=(1, 2))
    test = crossed if faces.shape[1] == 2 else pierced
    count = int(test(body.points[ends[apart]], body.points[faces[apart]]).sum())
    return count // 2 if faces.shape[1] == 2 else count  # each pair of edges is seen from both


def _near(shapes, low, high):
    """Those (n, corners, dim) that meet a box."""
    return shapes[((shapes.min(axis=1) <= high) & (shapes.max(axis=1) >= low)).all(axis=1)]


def _count(first, second, test):
    if not len(first) or not len(second):
        return 0
    i, j = meeting(first, second)
    return int(test(first[i], second[j]).sum()) if len(i) else 0


# walls ----------------------------------------------------------------------------------------------------------------


def wall_depth(sim, frame=None, bodies=None):
    """m: how far the worst point of any body is behind a wall; 0.0 if none is."""
    frame = sim.frame() if frame is None else frame
    worst = 0.0
    bodies = bodies or surfaces(sim, frame)
    for layout, pose in zip(sim.layout.walls, frame.walls, strict=True):
        for normal, offset in half_spaces(layout, pose):
            worst = max(worst, *(float(offset - (body.points @ normal).min()) + body.radius for body in bodies), 0.0)
    return worst


def half_spaces(layout, pose):
    """(normal, offset) of each, free on the side of the normal: normal . x >= offset."""
    if layout.kind != "container":
        normal = np.array(layout.normal)
        return [(normal, float(normal @ pose.position))]
    return [
        (-sign * pose.rotation[:, axis], float(-sign * pose.rotation[:, axis] @ pose.position - size / 2.0))
        for axis, size in enumerate(layout.size)
        for sign in (-1.0, 1.0)
    ]
