"""The six feature tests with skin thickness (B11; Martin 2009, 5.2.1.1), as exact distances.

The law: two features touch when their closest distance is at most the thickness (the sum of their skins: the paper's
"2 × skin thickness"). The paper approximates it by chains of fallbacks, which differ from the law in these places:
- vertex-triangle: its point-in-triangle test asks for p·q < 0, true for no point inside (the three products agree
  there, whatever the winding); outside, it falls back on "three edge-edge tests", for a vertex: vertex-edge is meant;
- edge-edge: the middle of the two roots is the line's deepest point in an endless cylinder and may lie beyond the
  edge's ends; parallel edges give a = 0. Both are missed unless two end points happen to be near each other;
- edge-triangle: parallel edges are ignored, and the point where the edge meets the plane may be far outside the
  triangle while the edge passes close to its rim;
- triangle-triangle: the first collision found is taken, the law takes the closest;
- normals: the paper takes the surface normal of the higher feature. Here it is the direction of the gap, from the
  second feature (the higher one, or the second of two equals) to the first, which is the same inside a face, and right
  also at rims and from behind. Only for features that touch or cross is there no gap: then it is the normal of the
  triangle (the second of two), of both edges (of the edge in 2D, outwards for a counter-clockwise outline), or zero
  where the features do not have one: the caller knows the surface around them.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.geometry import closest
from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The tests; each returns (hit, point on the first, point on the second, normal, distance)."""
    real, vec = n.real, n.vec
    c = closest.kernels(n)
    size, unit = c.size, c.unit
    closest_on_edge = c.closest_on_edge
    closest_between_edges = c.closest_between_edges

    @wp.func
    def verdict(first: vec, second: vec, gap: vec, crossing: vec, thickness: real):
        """The answer of every test; `crossing` is the normal without a gap."""
        distance = size(gap)
        normal = unit(gap)
        if distance <= real(0.0):
            normal = crossing
        return distance <= thickness, first, second, normal, distance

    @wp.func
    def along_edge(t: real, a: vec, b: vec) -> vec:
        return a + t * (b - a)

    if n.dim == 2:

        @wp.func
        def edge_normal(a: vec, b: vec) -> vec:
            e = unit(b - a)
            return vec(e[1], -e[0])

    else:

        @wp.func
        def edge_normal(a: vec, b: vec) -> vec:
            return vec()  # a line in space has none

    @wp.func
    def vertex_vertex(p: vec, q: vec, thickness: real):
        hit, first, second, normal, distance = verdict(p, q, p - q, vec(), thickness)
        return hit, first, second, normal, distance

    @wp.func
    def vertex_edge(p: vec, a: vec, b: vec, thickness: real):
        t, gap = closest_on_edge(p, a, b)
        hit, first, second, normal, distance = verdict(p, along_edge(t, a, b), gap, edge_normal(a, b), thickness)
        return hit, first, second, normal, distance

    shared = SimpleNamespace(vertex_vertex=vertex_vertex, vertex_edge=vertex_edge)
    if n.dim == 2:
        return shared

    closest_on_triangle = c.closest_on_triangle
    closest_edge_triangle = c.closest_edge_triangle
    closest_triangles = c.closest_triangles
    triangle_normal = c.triangle_normal

    @wp.func
    def on_triangle(weights: vec, a: vec, b: vec, c: vec) -> vec:
        return a + weights[1] * (b - a) + weights[2] * (c - a)

    @wp.func
    def vertex_triangle(p: vec, a: vec, b: vec, c: vec, thickness: real):
        weights, gap = closest_on_triangle(p, a, b, c)
        hit, first, second, normal, distance = verdict(
            p, on_triangle(weights, a, b, c), gap, triangle_normal(a, b, c), thickness
        )
        return hit, first, second, normal, distance

    @wp.func
    def edge_edge(a: vec, b: vec, c: vec, d: vec, thickness: real):
        s, t, gap = closest_between_edges(a, b, c, d)
        crossing = unit(wp.cross(unit(d - c), unit(b - a)))
        hit, first, second, normal, distance = verdict(
            along_edge(s, a, b), along_edge(t, c, d), gap, crossing, thickness
        )
        return hit, first, second, normal, distance

    @wp.func
    def edge_triangle(a: vec, b: vec, c: vec, d: vec, e: vec, thickness: real):
        t, weights, gap = closest_edge_triangle(a, b, c, d, e)
        hit, first, second, normal, distance = verdict(
            along_edge(t, a, b), on_triangle(weights, c, d, e), gap, triangle_normal(c, d, e), thickness
        )
        return hit, first, second, normal, distance

    @wp.func
    def triangle_triangle(a: vec, b: vec, c: vec, d: vec, e: vec, f: vec, thickness: real):
        first_weights, second_weights, gap = closest_triangles(a, b, c, d, e, f)
        hit, first, second, normal, distance = verdict(
            on_triangle(first_weights, a, b, c),
            on_triangle(second_weights, d, e, f),
            gap,
            triangle_normal(d, e, f),
            thickness,
        )
        return hit, first, second, normal, distance

    return SimpleNamespace(
        **vars(shared),
        vertex_triangle=vertex_triangle,
        edge_edge=edge_edge,
        edge_triangle=edge_triangle,
        triangle_triangle=triangle_triangle,
    )
