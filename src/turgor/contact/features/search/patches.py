"""Surfaces cut into patches, and a tree over the patches of each body: what lists are searched with.

A patch has a few points that hang together along edges, and their stars: the faces and edges whose first point they
are. The corners of all that are the points of the patch and the ends of its edges (in 2D, of its faces).

The tree of a body halves its patches again and again. Its nodes are stored in the order of a walk that visits a node
before its children: node i with m patches is followed by its 2 m - 2 descendants, so a walk that has no use for them
goes on at i + 2 m - 1, and needs no memory of where it came from. Bodies have their nodes one after another: those of
body c begin at 2 patch_start[c] - c.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces
from turgor.model.topology import morton_order, stable_order

__all__ = ["Patches", "kernels"]

IntArray = npt.NDArray[np.int32]

SIZE, SMALL, LARGE = 8, 4, 3000  # points of a patch; of one of a body with fewer points than this


class Patches:
    """Which points, faces and edges belong to each patch, and the trees; never changes. Device arrays of all worlds."""

    def __init__(self, model: Model, surfaces: Surfaces) -> None:
        f, worlds = surfaces, model.worlds
        points = int(f.world_start[-1])
        order, bounds, numbers = _cut(model, f)
        rank = np.empty(points, np.int32)
        rank[order] = np.arange(points, dtype=np.int32)
        patch_start = np.append(0, np.cumsum(numbers))
        body = np.repeat(np.arange(f.bodies), numbers)
        self.per_world = len(bounds)
        self.count, self.nodes = self.per_world * worlds, (2 * self.per_world - f.bodies) * worlds

        self.patch_start = model.ends(numbers)  # first patch of each contact body, and the end
        self.patch_body = model.repeated(body, wp.int32, f.bodies)
        self.patch_points = f.repeated_points(order[:, None], f.soft_points, wp.int32)
        patch = np.repeat(np.arange(self.per_world), np.diff(bounds)[:, 0])
        self.point_patch = f.at_points(patch[rank].astype(np.int32), self.per_world)
        self.point_rank = f.at_points(rank, 0)
        self.point_range = model.repeated(bounds, wp.vec2i, points)  # in `patch_points`
        # features in the order of their first points, and where those of each point begin
        self.star_faces, self.face_first = self._stars(model, rank[f.world_faces], points)
        self.star_edges, self.edge_first = self._stars(model, rank[f.world_edges], points)
        self.star_low, self.star_high = (
            wp.zeros(points * worlds, dtype=model.numbers.vec, device=model.device) for _ in range(2)
        )  # m: boxes of the stars of bodies that are compared
        node_patches, patch_node = _trees(patch_start)
        self.node_patches = model.repeated(node_patches, wp.vec2i, self.per_world)  # first patch, and behind the last
        self.patch_node = model.repeated(patch_node, wp.int32, len(node_patches))

    @staticmethod
    def _stars(model: Model, corners: IntArray, points: int) -> tuple[Any, Any]:
        """(features in the order of their first points, (points + 1,) where those of each point begin)."""
        lowest = functools.reduce(np.minimum, corners.T)
        counts = np.bincount(lowest, minlength=points)
        return model.repeated(stable_order(lowest), wp.int32, len(lowest)), model.ends(counts)


def _cut(model: Model, f: Surfaces) -> tuple[IntArray, IntArray, IntArray]:
    """(points of one world in the order of their patches, first and last of each patch, patches of each body).

    Seeds at equal distances along the order of the points, which follows a curve that fills space, grow along edges
    until all points are taken.
    """
    starts = f.world_start.astype(np.int64)
    points = int(starts[-1])
    curve = np.arange(points, dtype=np.int32)  # soft points are in this order already
    for collider, first in zip(model.rigids.collision, starts[f.soft_bodies :], strict=False):
        curve[first : first + len(collider.points)] = first + morton_order(collider.points)
    size = np.where(np.diff(starts) < LARGE, SMALL, SIZE)  # per body
    numbers = -(-np.diff(starts) // size)
    patch_start = np.append(0, np.cumsum(numbers))
    body = np.repeat(np.arange(f.bodies), np.diff(starts))
    place = np.arange(points) - starts[body]  # along the curve, within the body
    first = place // size[body] * size[body]  # of the points of a block
    block = (patch_start[body] + place // size[body]).astype(np.int32)
    middle = np.minimum(starts[body] + first + size[body] // 2, starts[body + 1] - 1)
    label = np.full(points, -1, np.int32)
    seeds = np.arange(points) == middle
    label[curve[seeds]] = block[seeds]
    joined = f.world_edges if model.numbers.dim == 3 else f.world_faces
    a, b = np.concatenate([joined, joined[:, ::-1]]).T
    while len(a):
        grows = (label[a] >= 0) & (label[b] < 0)
        if not grows.any():
            break
        label[b[grows]] = label[a[grows]]
        open_ends = label[b] < 0
        a, b = a[open_ends], b[open_ends]
    lost = label[curve] < 0  # of a part of a body without a seed
    label[curve[lost]] = block[lost]
    order = stable_order(label)
    ends = np.searchsorted(label[order], np.arange(len(block) and patch_start[-1] + 1)).astype(np.int32)
    return order, np.stack([ends[:-1], ends[1:]], axis=1), numbers.astype(np.int32)


def _trees(patch_start: npt.NDArray[np.int64]) -> tuple[IntArray, IntArray]:
    """((nodes, 2) first patch and behind the last, (patches,) node of each patch), bodies one after another."""
    bodies, patches = len(patch_start) - 1, int(patch_start[-1])
    node_patches = np.zeros((2 * patches - bodies, 2), np.int32)
    patch_node = np.zeros(patches, np.int32)
    first, last = patch_start[:-1], patch_start[1:]
    place = 2 * first - np.arange(bodies)
    while len(place):  # one level of all trees at a time
        node_patches[place] = np.stack([first, last], axis=1)
        leaf = last - first == 1
        patch_node[first[leaf]] = place[leaf]
        first, last, place = first[~leaf], last[~leaf], place[~leaf]
        middle = (first + last) // 2
        place = np.append(place + 1, place + 2 * (middle - first))
        first, last = np.append(first, middle), np.append(middle, last)
    return node_patches, patch_node


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Struct `Mesh` and functions."""
    vec, dim, face = n.vec, n.dim, n.face

    @wp.struct
    class Mesh:
        """Patches with their features, and the trees."""

        points: wp.array(dtype=vec)
        faces: wp.array(dtype=face)
        edges: wp.array(dtype=wp.vec4i)
        point_faces_start: wp.array(dtype=int)
        point_faces: wp.array(dtype=int)
        patch_start: wp.array(dtype=int)
        patch_body: wp.array(dtype=int)
        patch_points: wp.array(dtype=int)
        point_patch: wp.array(dtype=int)
        point_range: wp.array(dtype=wp.vec2i)
        star_faces: wp.array(dtype=int)
        face_first: wp.array(dtype=int)
        star_edges: wp.array(dtype=int)
        edge_first: wp.array(dtype=int)
        star_low: wp.array(dtype=vec)
        star_high: wp.array(dtype=vec)
        node_patches: wp.array(dtype=wp.vec2i)
        patch_node: wp.array(dtype=int)

    @wp.func(inline=True)
    def first_node(mesh: Mesh, body: int) -> int:
        return 2 * mesh.patch_start[body] - body

    @wp.func(inline=True)
    def last_node(mesh: Mesh, body: int) -> int:
        """Behind the last node of a body."""
        return 2 * mesh.patch_start[body + 1] - body - 1

    if dim == 2:

        @wp.func(inline=True)
        def first_end(mesh: Mesh, rank: int) -> int:
            """Features that lead from a point to the corners of its star: where they begin."""
            return mesh.face_first[at(rank)]

        @wp.func(inline=True)
        def end_of(mesh: Mesh, q: int, which: int) -> int:
            """One of the two ends of such a feature."""
            return mesh.faces[at(mesh.star_faces[at(q)])][which]

    else:

        @wp.func(inline=True)
        def first_end(mesh: Mesh, rank: int) -> int:
            """Features that lead from a point to the corners of its star: where they begin."""
            return mesh.edge_first[at(rank)]

        @wp.func(inline=True)
        def end_of(mesh: Mesh, q: int, which: int) -> int:
            """One of the two ends of such a feature."""
            return mesh.edges[at(mesh.star_edges[at(q)])][which]

    @wp.func
    def bound_stars(mesh: Mesh, k: int):
        """(lowest, highest) of the corners of a patch; the boxes of its stars are stored."""
        mine = mesh.point_range[at(k)]
        lowest = vec()
        highest = vec()
        for r in range(mine[0], mine[1]):
            low = mesh.points[at(mesh.patch_points[at(r)])]
            high = low
            for q in range(first_end(mesh, r), first_end(mesh, r + 1)):
                for which in range(2):
                    p = mesh.points[at(end_of(mesh, q, which))]
                    low = wp.min(low, p)
                    high = wp.max(high, p)
            mesh.star_low[at(r)] = low
            mesh.star_high[at(r)] = high
            if r == mine[0]:
                lowest = low
                highest = high
            lowest = wp.min(lowest, low)
            highest = wp.max(highest, high)
        return lowest, highest

    return SimpleNamespace(
        Mesh=Mesh, first_node=first_node, last_node=last_node, first_end=first_end, end_of=end_of,
        bound_stars=bound_stars,
    )  # fmt: skip
