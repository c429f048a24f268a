"""Candidates between two patches: points of each near faces of the other, and edges near edges.

Features of one surface that share a point never touch. Others may be nearer at rest than the skin of the surface, where
its mesh is fine: there the skin is half of that distance, as in `solve/constraints.py`.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.search import candidates as listed
from turgor.contact.features.search import patches
from turgor.contact.geometry import closest_fast
from turgor.contact.geometry.advancement import EDGE_EDGE, VERTEX_FACE
from turgor.kernel.numbers import Numbers, at

__all__ = ["LANES", "kernels"]

ROWS, LANES = 8, 32  # threads of a GPU that compare two patches: so many stars of one at a time


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Functions box_gap and compare_patches."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    near = closest_fast.kernels(n)
    CandidateList, add = listed.kernels(n).CandidateList, listed.kernels(n).add
    Mesh = patches.kernels(n).Mesh

    @wp.func(inline=True)
    def box_gap(low: vec, high: vec, other_low: vec, other_high: vec) -> real:
        """Distance of two boxes, squared."""
        off = wp.max(wp.max(low - other_high, other_low - high), vec())
        return wp.dot(off, off)

    if dim == 2:

        @wp.func
        def gap_to_face(p: vec, f: face, points: wp.array(dtype=vec)):
            """(weights of the closest point of a face, vector from it to p)."""
            t, gap = near.point_segment(p, points[at(f[0])], points[at(f[1])])
            return vec(real(1.0) - t, t), gap

    else:

        @wp.func
        def gap_to_face(p: vec, f: face, points: wp.array(dtype=vec)):
            """(weights of the closest point of a face, vector from it to p)."""
            w, gap = near.point_triangle(p, points[at(f[0])], points[at(f[1])], points[at(f[2])])
            return w, gap

    @wp.func(inline=True)
    def face_box(f: face, points: wp.array(dtype=vec)):
        """(lowest, highest)."""
        a = points[at(f[0])]
        b = points[at(f[1])]
        c = points[at(f[wp.static(dim - 1)])]
        return wp.min(a, wp.min(b, c)), wp.max(a, wp.max(b, c))

    @wp.func
    def point_near_faces(
        mesh: Mesh, rest: wp.array(dtype=vec), found: CandidateList, pair: int, r: int, s: int, margin: real,
        known: real, skin: real, same: bool,
    ) -> real:  # fmt: skip
        """Point r near faces of the star of point s."""
        least = known
        within = known + skin
        i = at(mesh.patch_points[at(r)])
        p = mesh.points[i]
        if box_gap(p, p, mesh.star_low[at(s)], mesh.star_high[at(s)]) <= within * within:
            for q in range(mesh.face_first[at(s)], mesh.face_first[at(s + 1)]):
                which = at(mesh.star_faces[at(q)])
                f = mesh.faces[which]
                if not (f[0] == i or f[1] == i or f[wp.static(dim - 1)] == i):
                    low, high = face_box(f, mesh.points)
                    if box_gap(p, p, low, high) <= within * within:
                        w, gap = gap_to_face(p, f, mesh.points)
                        size = wp.length(gap)
                        if size <= within:
                            touch = skin
                            if same:
                                between = rest[i]
                                for corner in range(dim):
                                    between -= w[corner] * rest[at(f[corner])]
                                touch = wp.min(skin, real(0.5) * wp.length(between))
                            if size - touch <= margin:
                                add(found, pair, i, which, VERTEX_FACE, size - touch)
                            else:
                                least = wp.min(least, size - touch)
        return least

    @wp.func
    def edges_near_edges(
        mesh: Mesh, rest: wp.array(dtype=vec), found: CandidateList, pair: int, r: int, s: int, margin: real,
        known: real, skin: real, same: bool,
    ) -> real:  # fmt: skip
        """Edges of the stars of two points."""
        least = known
        within = known + skin
        for m in range(mesh.edge_first[at(r)], mesh.edge_first[at(r + 1)]):
            one = at(mesh.star_edges[at(m)])
            e = mesh.edges[one]
            a = mesh.points[at(e[0])]
            b = mesh.points[at(e[1])]
            lowest = wp.min(a, b)
            highest = wp.max(a, b)
            if box_gap(lowest, highest, mesh.star_low[at(s)], mesh.star_high[at(s)]) <= within * within:
                for q in range(mesh.edge_first[at(s)], mesh.edge_first[at(s + 1)]):
                    two = at(mesh.star_edges[at(q)])
                    g = mesh.edges[two]
                    if not (g[0] == e[0] or g[0] == e[1] or g[1] == e[0] or g[1] == e[1]):
                        c = mesh.points[at(g[0])]
                        d = mesh.points[at(g[1])]
                        if box_gap(lowest, highest, wp.min(c, d), wp.max(c, d)) <= within * within:
                            t, u, gap = near.segments(a, b, c, d)
                            size = wp.length(gap)
                            if size <= within:
                                touch = skin
                                if same:
                                    between = (real(1.0) - t) * rest[at(e[0])] + t * rest[at(e[1])]
                                    between -= (real(1.0) - u) * rest[at(g[0])] + u * rest[at(g[1])]
                                    touch = wp.min(skin, real(0.5) * wp.length(between))
                                if size - touch <= margin:
                                    add(found, pair, one, two, EDGE_EDGE, size - touch)
                                else:
                                    least = wp.min(least, size - touch)
        return least

    @wp.func
    def compare_patches(
        mesh: Mesh, rest: wp.array(dtype=vec), found: CandidateList, pair: int, k: int, l: int,  # noqa: E741
        margin: real, known: real, skin: real, same: bool, lane: int, lanes: int,
    ) -> real:  # fmt: skip
        """All candidates between two patches, by the stars of their points; distance of the others, at most `known`.

        same: they are of one surface. Lanes, of which there is one or a multiple of ROWS, share the pairs of stars.
        """
        rows = wp.min(lanes, ROWS)
        least = known
        within = (known + skin) * (known + skin)
        mine = mesh.point_range[at(k)]
        its = mesh.point_range[at(l)]
        for r in range(mine[0] + lane % rows, mine[1], rows):
            low = mesh.star_low[at(r)]
            high = mesh.star_high[at(r)]
            start = wp.where(l == k, r + 1, its[0])  # in one star, all features share a point
            for s in range(start + lane // rows, its[1], lanes // rows):
                if box_gap(low, high, mesh.star_low[at(s)], mesh.star_high[at(s)]) <= within:
                    least = wp.min(least, point_near_faces(mesh, rest, found, pair, r, s, margin, known, skin, same))
                    least = wp.min(least, point_near_faces(mesh, rest, found, pair, s, r, margin, known, skin, same))
                    if wp.static(dim == 3):
                        least = wp.min(
                            least, edges_near_edges(mesh, rest, found, pair, r, s, margin, known, skin, same)
                        )
        return least

    return SimpleNamespace(box_gap=box_gap, compare_patches=compare_patches)
