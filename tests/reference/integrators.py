"""One step of each explicit method for x' = v, v' = a(x, v), as in the textbooks and the papers."""

from __future__ import annotations


def _euler(a, x, v, h):
    return x + h * v, v + h * a(x, v)


def _symplectic(a, x, v, h):
    # velocity first, then position with the new velocity: what the 2004 listing does
    v = v + h * a(x, v)
    return x + h * v, v


def _midpoint(a, x, v, h):
    xm, vm = _euler(a, x, v, 0.5 * h)
    return x + h * vm, v + h * a(xm, vm)


def _heun(a, x, v, h):
    a0 = a(x, v)
    x1, v1 = x + h * v, v + h * a0
    return x + 0.5 * h * (v + v1), v + 0.5 * h * (a0 + a(x1, v1))


def _rk4(a, x, v, h):
    k1 = a(x, v)
    x2, v2 = x + 0.5 * h * v, v + 0.5 * h * k1
    k2 = a(x2, v2)
    x3, v3 = x + 0.5 * h * v2, v + 0.5 * h * k2
    k3 = a(x3, v3)
    x4, v4 = x + h * v3, v + h * k3
    k4 = a(x4, v4)
    return x + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _rk4_martin(a, x, v, h):
    # Martin 2009, 3.2: stage positions from stage velocities, at last x = x0 + v t with the new v
    a0 = a(x, v)
    v1 = v + 0.5 * h * a0
    x1 = x + 0.5 * h * v1
    a1 = a(x1, v1)
    v2 = v + 0.5 * h * a1
    x2 = x + 0.5 * h * v2
    a2 = a(x2, v2)
    v3 = v + h * a2
    x3 = x + h * v3
    a3 = a(x3, v3)
    v = v + h * (a0 + 2 * a1 + 2 * a2 + a3) / 6
    return x + h * v, v


SOLVERS = {
    "euler": _euler,
    "symplectic": _symplectic,
    "midpoint": _midpoint,
    "heun": _heun,
    "rk4": _rk4,
    "rk4-martin": _rk4_martin,
}


def step(solver, a, x, v, h):
    """One step of length h (s); returns the new (x, v)."""
    return SOLVERS[solver](a, x, v, h)


def simulate(solver, a, x, v, h, steps):
    """`steps` steps of length h; returns the last (x, v)."""
    for _ in range(steps):
        x, v = SOLVERS[solver](a, x, v, h)
    return x, v
