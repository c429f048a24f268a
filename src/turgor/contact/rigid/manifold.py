"""The points of one manifold as a block: their normal impulses are found together, so that their order does not show.

At the points of a manifold the normal velocities are w = w₀ + R λ, with the response R of velocities to impulses, and
wanted are λ ≥ 0, w ≥ 0, λ·w = 0. Four points of a flat face have only three ways to move, so R is singular. In most
manifolds all points press, and then λ = λ₀ − R⁻¹ w₀, with a slightly regularised inverse that is prepared once per
substep: this is a step of an iteration, and what the regularisation leaves over is the next step's. Else Gauss-Seidel
goes over the points, to and fro.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.rigid.records import POINTS, structs
from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]

REGULAR = 1e-3  # of the mean of the diagonal, added to it before R is inverted: single precision can take that
ROUGH = 2, 0.05  # sweeps at most, and share of the first one's change at which one is the last
EXACT = 16, 1e-4  # the same, where passes are a preconditioner: it has to be the same linear map in each


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions."""
    real = n.real
    each, table = structs(n).each, structs(n).table
    most = 2 if n.dim == 2 else POINTS
    regular = wp.constant(wp.float64(REGULAR))
    exact_table = wp.mat22d if n.dim == 2 else wp.mat44d

    @wp.func
    def inverse(response: table, count: int) -> table:
        """The regularised inverse of the first `count` rows and columns; in double, as points may all but coincide."""
        mean = wp.trace(response) / real(count)
        wide = exact_table()
        for i in range(wp.static(most)):
            for j in range(wp.static(most)):
                wide[i, j] = wp.float64(response[i, j] / mean)
            wide[i, i] = wide[i, i] + regular
            if i >= count:
                wide[i, i] = wp.float64(1.0)
        wide = wp.inverse(wide)
        out = table()
        for i in range(wp.static(most)):
            for j in range(wp.static(most)):
                out[i, j] = real(wide[i, j]) / mean
        return out

    @wp.func
    def swept(impulse: each, speed: each, response: table, count: int, exact: bool) -> each:
        """Changes of impulses that stop each point or let it leave; `speed`: along the normal, beyond the target."""
        sweeps = wp.where(exact, wp.static(EXACT[0]), wp.static(ROUGH[0]))
        share = wp.where(exact, real(wp.static(EXACT[1])), real(wp.static(ROUGH[1])))
        out = each()
        w = each(speed)
        ease = each()  # 1 / diagonal; a division in the loop would be most of its time
        for i in range(count):
            ease[i] = real(1.0) / response[i, i]
        first = real(0.0)
        for sweep in range(sweeps):
            largest = real(0.0)
            for k in range(count):
                i = wp.where(sweep % 2 == 0, k, count - 1 - k)
                change = wp.max(-w[i] * ease[i], -(impulse[i] + out[i]))
                out[i] = out[i] + change
                w += change * response[i]
                largest = wp.max(largest, wp.abs(change))
            if sweep == 0:
                first = share * largest
            if largest <= first:
                break
        return out

    return SimpleNamespace(inverse=inverse, swept=swept)
