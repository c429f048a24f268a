"""What an impulse does to a rigid body: moments, velocities of its points, how easily a point is moved (B14, B16)."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions. `inertia`: the type of an inverse inertia in world axes, a matrix in 3D, a number in 2D."""
    real, vec, spin_type = n.real, n.vec, n.spin

    if n.dim == 2:
        inertia = real

        @wp.func
        def cross(arm: vec, p: vec) -> spin_type:
            """Moment of p at arm."""
            return arm[0] * p[1] - arm[1] * p[0]

        @wp.func
        def swing(spin: spin_type, arm: vec) -> vec:
            """Velocity of a point at arm that turns with spin."""
            return vec(-spin * arm[1], spin * arm[0])

        @wp.func
        def turn_by(inverse_inertia: inertia, moment: spin_type) -> spin_type:
            """Angular velocity from angular momentum."""
            return inverse_inertia * moment

        @wp.func
        def inner(a: spin_type, b: spin_type) -> real:
            return a * b

    else:
        inertia = wp.mat33f if n.precision == "single" else wp.mat33d

        @wp.func
        def cross(arm: vec, p: vec) -> spin_type:
            """Moment of p at arm."""
            return wp.cross(arm, p)

        @wp.func
        def swing(spin: spin_type, arm: vec) -> vec:
            """Velocity of a point at arm that turns with spin."""
            return wp.cross(spin, arm)

        @wp.func
        def turn_by(inverse_inertia: inertia, moment: spin_type) -> spin_type:
            """Angular velocity from angular momentum."""
            return inverse_inertia * moment

        @wp.func
        def inner(a: spin_type, b: spin_type) -> real:
            return wp.dot(a, b)

    @wp.func
    def mobility(inverse_mass: real, inverse_inertia: inertia, arm: vec, direction: vec) -> real:
        """Velocity along a unit direction that a unit impulse along it gives to the point at arm: 1/m + k·I⁻¹k."""
        k = cross(arm, direction)
        return inverse_mass + inner(k, turn_by(inverse_inertia, k))

    return SimpleNamespace(inertia=inertia, cross=cross, swing=swing, turn_by=turn_by, inner=inner, mobility=mobility)
