"""Contacts of one substep as rows of arrays: two sides, a point, a normal and a gap.

The first side is always of a soft body: up to three vertices with weights that add up to one. The second side is the
same of another soft body, or a point of a rigid body. The normal points from the second side to the first.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["FIELDS", "kernels"]

FIELDS = (
    "first", "first_weights", "second", "second_weights", "rigid", "bodies", "point", "normal", "gap", "thickness",
    "pushed", "bounce", "impulse", "rubbed",
)  # fmt: skip


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """The struct `Rows`, the types of its FIELDS, and `add_row`."""
    real, vec = n.real, n.vec
    weights_type = wp.vec3f if n.precision == "single" else wp.vec3d

    @wp.struct
    class Rows:
        """Contacts; arrays of equal length, the capacity."""

        count: wp.array(dtype=int)  # (1,) found; may exceed the capacity
        overflow: wp.array(dtype=int)
        vertex_rows: wp.array(dtype=int)  # contacts at each soft vertex
        rigid_rows: wp.array(dtype=int)  # contacts at each rigid body
        first: wp.array(dtype=wp.vec3i)
        first_weights: wp.array(dtype=weights_type)
        second: wp.array(dtype=wp.vec3i)
        second_weights: wp.array(dtype=weights_type)
        rigid: wp.array(dtype=int)  # flat rigid body of the second side, or -1
        bodies: wp.array(dtype=wp.vec2i)  # flat contact bodies
        point: wp.array(dtype=vec)  # on the second side, m
        normal: wp.array(dtype=vec)
        gap: wp.array(dtype=real)  # m along the normal; negative: inside each other
        thickness: wp.array(dtype=real)  # m: the gap that should remain
        pushed: wp.array(dtype=int)  # 1: penetration is removed
        bounce: wp.array(dtype=real)  # m/s: relative normal velocity after the impact
        impulse: wp.array(dtype=real)  # N s along the normal
        rubbed: wp.array(dtype=real)  # N s of friction so far

    @wp.func
    def count_row(corners: wp.vec3i, weights: weights_type, vertex_rows: wp.array(dtype=int)):
        for k in range(3):
            if weights[k] != real(0.0):
                wp.atomic_add(vertex_rows, at(corners[k]), 1)

    @wp.func
    def add_row(
        rows: Rows,
        bodies: wp.vec2i,
        first: wp.vec3i,
        first_weights: weights_type,
        second: wp.vec3i,
        second_weights: weights_type,
        rigid: int,
        point: vec,
        normal: vec,
        gap: real,
        thickness: real,
        pushed: int,
    ):
        """A new contact, if there is room."""
        c = wp.atomic_add(rows.count, 0, 1)
        if c >= rows.first.shape[0]:
            rows.overflow[0] = 1
            return
        rows.bodies[c] = bodies
        rows.first[c] = first
        rows.first_weights[c] = first_weights
        rows.second[c] = second
        rows.second_weights[c] = second_weights
        rows.rigid[c] = rigid
        rows.point[c] = point
        rows.normal[c] = normal
        rows.gap[c] = gap
        rows.thickness[c] = thickness
        rows.pushed[c] = pushed
        rows.bounce[c] = real(0.0)
        rows.impulse[c] = real(0.0)
        rows.rubbed[c] = real(0.0)
        count_row(first, first_weights, rows.vertex_rows)
        if rigid >= 0:
            wp.atomic_add(rows.rigid_rows, rigid, 1)
        else:
            count_row(second, second_weights, rows.vertex_rows)

    types = {
        "first": wp.vec3i, "first_weights": weights_type, "second": wp.vec3i, "second_weights": weights_type,
        "rigid": wp.int32, "bodies": wp.vec2i, "point": vec, "normal": vec, "gap": real, "thickness": real,
        "pushed": wp.int32, "bounce": real, "impulse": real, "rubbed": real,
    }  # fmt: skip
    return SimpleNamespace(Rows=Rows, add_row=add_row, types=types, weights=weights_type)
