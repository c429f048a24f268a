"""The rest state of a body: the minimum of its energy U with pins and in front of planes, by Newton's method.

It is the implicit step without its mass term. What is left of that is a small s M in Newton's matrix, which becomes
smaller with every whole step: rigid motions, against which a body has no stiffness, then stay what they are (their
forces are zero), and a body that hangs free in the air can fall on to a plane.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reference.backward_euler import energy_terms, largest_force, static_forces
from reference.hessians import diagonal
from reference.newton import Problem, Report, minimise
from reference.newton_matrices import stiffness


class NoEquilibriumError(ArithmeticError):
    """There is none: the body grows, falls or slides without end, or none was found."""


@dataclass(frozen=True)
class Rest:
    """Positions, how they were found (`report.reactions`: the planes' forces, N), and if they are a true minimum."""

    x: np.ndarray
    report: Report
    stable: bool


def lowest_stiffness(body, x, planes, pins, grabs, reactions):
    """Smallest eigenvalue of d²U/dx² over the largest, with vertices that press on a plane kept on it."""
    count, dim = x.shape
    P = np.tile(np.eye(dim), (count, 1, 1))
    P[list(pins)] = 0.0
    for plane, force in zip(planes, reactions, strict=True):
        n = np.asarray(plane.normal, float)
        P[force > 0.0] = P[force > 0.0] @ (np.eye(dim) - np.outer(n, n))
    H = stiffness(body, x, "exact", grabs=grabs).reshape(count, dim, count, dim)
    H = np.einsum("iab,ibjc,jdc->iajd", P, H, P).reshape(count * dim, -1)
    values = np.linalg.eigvalsh(0.5 * (H + H.T))
    return values[0] / values[-1]


def equilibrium(body, x, planes=(), pins=(), grabs=(), kind="exact", tolerance=1e-10, rounds=400):
    """The rest state that Newton's method finds from x; `NoEquilibriumError` where there is none."""
    size = np.ptp(body.vertices, axis=0).max()
    pull = np.abs(body.masses[:, None] * (body.gravity + np.zeros_like(x))).max()
    if pull > 0.0 and not planes and not len(pins) and not grabs:
        raise NoEquilibriumError("no equilibrium: gravity pulls and nothing holds the body: pin it or add a plane")
    free = np.ones(len(x), bool)
    free[list(pins)] = False
    dim, start, total = x.shape[1], x.mean(axis=0), Report()
    M = diagonal(body.masses, dim)
    soften = 1e-2 * np.linalg.norm(stiffness(body, x, "rank-one", grabs=grabs), 2) / body.masses.max()
    least = 1e-8 * soften
    for _ in range(rounds):
        problem = Problem(
            lambda y: energy_terms(body, y, grabs),
            lambda y: -static_forces(body, y, grabs),
            lambda y, s=soften: stiffness(body, y, kind, s * body.masses, grabs) + s * M,
            lambda y: largest_force(body, y, grabs),
            tuple(planes),
            free,
        )
        x, report = minimise(problem, x, tolerance, rounds=1)
        total.residuals.append(report.residuals[0])
        total.scales.append(report.scales[0])
        total.indefinite += report.indefinite
        total.converged, total.reactions = report.converged, report.reactions
        total.shares += report.shares
        if report.converged:
            break
        if not report.shares:
            raise NoEquilibriumError(
                f"no equilibrium found: no step lowers the energy, residual {total.residuals[-1]} N"
            )
        if report.shares[0] == 1.0:
            soften = max(0.1 * soften, least)
        elif report.shares[0] < 0.1:
            soften *= 4.0
        if np.ptp(x, axis=0).max() > 20.0 * size:
            raise NoEquilibriumError("no equilibrium: the body grows without end: the skin cannot hold the pressure")
        if np.linalg.norm(x.mean(axis=0) - start) > 100.0 * size:
            raise NoEquilibriumError("no equilibrium: the body falls or slides without end")
    if not total.converged:
        raise NoEquilibriumError(f"no equilibrium found in {rounds} rounds: residual {total.residuals[-1]} N")
    return Rest(x, total, bool(lowest_stiffness(body, x, planes, pins, grabs, total.reactions) > -1e-7))
