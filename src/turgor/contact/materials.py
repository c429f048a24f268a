"""How the surfaces of two things combine: friction, restitution, and the speed below which nothing bounces."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["BOUNCE", "FRICTION", "kernels"]

BOUNCE = 0.1  # m/s: slower impacts do not bounce
FRICTION = 0.5  # between two bodies that have none of their own


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """shared_friction, shared_restitution: of a body and a wall. pair_friction, pair_restitution: of two bodies."""
    real = n.real

    @wp.func
    def shared_friction(own: real, wall: real) -> real:
        """Geometric mean of the two coefficients; a body without one of its own (< 0) takes the wall's."""
        if own < real(0.0):
            return wall
        return wp.sqrt(own * wall)

    @wp.func
    def shared_restitution(own: real, wall: real) -> real:
        """The bouncier of the two; a body without one of its own (< 0) takes the wall's."""
        return wp.max(own, wall)

    @wp.func
    def pair_friction(a: real, b: real) -> real:
        """As shared_friction, for two bodies that may both have none of their own."""
        if a < real(0.0) and b < real(0.0):
            return real(FRICTION)
        if b < real(0.0):
            return a
        return shared_friction(a, b)

    @wp.func
    def pair_restitution(a: real, b: real) -> real:
        """As shared_restitution, for two bodies that may both have none of their own: then 0."""
        return wp.max(wp.max(a, b), real(0.0))

    return SimpleNamespace(
        shared_friction=shared_friction,
        shared_restitution=shared_restitution,
        pair_friction=pair_friction,
        pair_restitution=pair_restitution,
    )
