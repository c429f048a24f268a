"""Which pair of features owns a place where two surfaces are closest, so that one touch is one contact.

A vertex counts against the inside of a face, or against an edge or corner that the face owns and that no face beside it
comes closer than; an edge counts against an edge where both are closest inside, and only if neither can come closer
across the faces beside it (a ridge).
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.geometry import closest_fast
from turgor.kernel.numbers import Numbers, at
from turgor.model.surfaces import OWNS_CORNER, OWNS_EDGE

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions; w, u: weights of the points of the first and the second feature; gap: from second to first."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    near = closest_fast.kernels(n)
    edge_bit = wp.constant(OWNS_EDGE)
    corner_bit = wp.constant(OWNS_CORNER)

    @wp.func
    def comes_closer(gap: vec, a: vec, edge: vec, apex: vec) -> bool:
        """Whether a face with this apex, at an edge from a, comes closer to what lies in the direction of the gap."""
        across = apex - a
        across -= (wp.dot(across, edge) / wp.max(wp.dot(edge, edge), real(1.0e-30))) * edge
        return wp.dot(gap, across) > real(0.0)

    @wp.struct
    class Faces:
        """Faces, and how they lie beside each other."""

        faces: wp.array(dtype=face)
        opposite: wp.array(dtype=face)  # apexes across their edges, or -1
        owns: wp.array(dtype=int)  # bits of the edges and corners that they own
        point_faces_start: wp.array(dtype=int)
        point_faces: wp.array(dtype=int)  # the faces at each point

    @wp.func
    def is_tip(gap: vec, corner: int, surface: Faces, points: wp.array(dtype=vec)) -> bool:
        """Whether no face at a corner comes closer to what lies in the direction of the gap."""
        x = points[at(corner)]
        for k in range(surface.point_faces_start[at(corner)], surface.point_faces_start[at(corner + 1)]):
            f = surface.faces[at(surface.point_faces[at(k)])]
            for d in range(dim):
                if wp.dot(gap, points[at(f[d])] - x) > real(0.0):
                    return False
        return True

    if dim == 2:

        @wp.func
        def closest_to_face(p: vec, f: face, points: wp.array(dtype=vec)):
            t, gap = near.point_segment(p, points[at(f[0])], points[at(f[1])])
            return vec(real(1.0) - t, t), gap

        @wp.func
        def is_owned(w: vec, gap: vec, which: int, surface: Faces, points: wp.array(dtype=vec)) -> bool:
            """Whether the face owns its closest point."""
            for k in range(2):
                if w[k] == real(0.0):  # the other end, which two segments share
                    if ((surface.owns[which] >> (corner_bit + 1 - k)) & 1) == 0:
                        return False
                    return is_tip(gap, surface.faces[which][1 - k], surface, points)
            return True

        @wp.func
        def corners(f: face) -> wp.vec3i:
            return wp.vec3i(f[0], f[1], f[1])

        @wp.func
        def closest_of_edges(e: wp.vec4i, g: wp.vec4i, points: wp.array(dtype=vec)):
            """There is no such pair in the plane."""
            return wp.vec3i(), wp.vec3i(), vec(), vec(), vec()

        @wp.func
        def are_ridges(e: wp.vec4i, g: wp.vec4i, w: vec, u: vec, gap: vec, points: wp.array(dtype=vec)) -> bool:
            return False

    else:

        @wp.func
        def closest_to_face(p: vec, f: face, points: wp.array(dtype=vec)):
            w, gap = near.point_triangle(p, points[at(f[0])], points[at(f[1])], points[at(f[2])])
            return w, gap

        @wp.func
        def is_owned(w: vec, gap: vec, which: int, surface: Faces, points: wp.array(dtype=vec)) -> bool:
            """Whether the closest point lies inside the face, or on an edge or corner that it owns.

            Across an edge or a corner, another face may come closer: then the point is that face's.
            """
            owns = surface.owns[which]
            f = surface.faces[which]
            zeros = int(0)  # noqa: RUF046, UP018
            for k in range(3):
                if w[k] == real(0.0):
                    zeros += 1
            if zeros == 0:
                return True
            if zeros == 2:
                for k in range(3):
                    if w[k] != real(0.0):
                        if ((owns >> (corner_bit + k)) & 1) == 0:
                            return False
                        return is_tip(gap, f[k], surface, points)
            for k in range(3):
                if w[(k + 2) % 3] == real(0.0):  # the edge of corners k and k + 1
                    if ((owns >> (edge_bit + k)) & 1) == 0:
                        return False
                    apex = surface.opposite[which][k]
                    if apex >= 0:
                        a = points[at(f[k])]
                        return not comes_closer(gap, a, points[at(f[(k + 1) % 3])] - a, points[at(apex)])
            return True

        @wp.func
        def corners(f: face) -> wp.vec3i:
            return f

        @wp.func
        def is_ridge(gap: vec, e: wp.vec4i, points: wp.array(dtype=vec)) -> bool:
            """Whether neither face beside an edge comes closer to what lies in the direction of the gap."""
            a = points[at(e[0])]
            for k in range(2):
                if e[2 + k] >= 0:
                    if comes_closer(gap, a, points[at(e[1])] - a, points[at(e[2 + k])]):
                        return False
            return True

        @wp.func
        def closest_of_edges(e: wp.vec4i, g: wp.vec4i, points: wp.array(dtype=vec)):
            """(points of the first edge, of the second, weights of both, gap)."""
            s, t, gap = near.segments(points[at(e[0])], points[at(e[1])], points[at(g[0])], points[at(g[1])])
            w = vec(real(1.0) - s, s, real(0.0))
            u = vec(real(1.0) - t, t, real(0.0))
            return wp.vec3i(e[0], e[1], e[1]), wp.vec3i(g[0], g[1], g[1]), w, u, gap

        @wp.func
        def are_ridges(e: wp.vec4i, g: wp.vec4i, w: vec, u: vec, gap: vec, points: wp.array(dtype=vec)) -> bool:
            """Whether two edges are closest inside both, and no face beside them comes closer."""
            if w[0] == real(0.0) or w[1] == real(0.0) or u[0] == real(0.0) or u[1] == real(0.0):
                return False
            if not is_ridge(-gap, e, points):
                return False
            return is_ridge(gap, g, points)

    return SimpleNamespace(
        Faces=Faces,
        closest_to_face=closest_to_face,
        is_owned=is_owned,
        corners=corners,
        closest_of_edges=closest_of_edges,
        are_ridges=are_ridges,
    )
