"""The stiffness of a whole body: exact, and approximations that are positive semi-definite, for Newton's method.

- exact: all of it; not positive.
- elements: springs with -(P - P0) d²V of their edge, negative eigenvalues of each edge set to 0; the rank-one term.
- rank-one: springs without compressive tension; the gas's rank-one term alone.
- guarded: rank-one, and -(P - P0) d²V of those edges that stay positive with their spring and share of the mass.

Bending is exact, or Gauss-Newton in all but the first.
"""

from __future__ import annotations

import numpy as np

from reference.bending import hinge_angles
from reference.hessians import (
    assemble,
    bending_stiffness,
    edge_blocks,
    gas_rank_one,
    gas_stiffness,
    grab_matrix,
    spring_blocks,
    spring_stiffness,
    volume_edges,
)
from reference.volume import volume

KINDS = ("exact", "elements", "rank-one", "guarded")


def clipped(blocks):
    """Each element without its negative eigenvalues."""
    values, vectors = np.linalg.eigh(blocks)
    return np.einsum("eik,ek,ejk->eij", vectors, np.maximum(values, 0.0), vectors)


def gas_by_edges(body, x):
    """-(P - P0) d²V/dx²: (e, 2) edges, elements, and the number of the spring along each edge or -1."""
    ids, W = volume_edges(x, body.faces)
    number = {tuple(sorted(edge)): s for s, edge in enumerate(np.asarray(body.edges).tolist())}
    springs = np.array([number.get(tuple(sorted(edge)), -1) for edge in ids.tolist()])
    return ids, -body.gas.gauge(volume(x, body.faces)) * edge_blocks(W), springs


def projected_edges(body, x, blocks):
    """Springs with their part of the gas, projected edge by edge."""
    count, dim = x.shape
    ids, gas, springs = gas_by_edges(body, x)
    along = np.zeros_like(gas)
    along[springs >= 0] = blocks[springs[springs >= 0]]
    others = np.setdiff1d(np.arange(len(blocks)), springs)
    H = assemble(count, dim, ids, clipped(along + gas))
    return H + assemble(count, dim, np.asarray(body.edges)[others], clipped(blocks[others]))


def guarded_edges(body, x, blocks, inertia):
    """-(P - P0) d²V of the edges whose element spring + gas + share of m/h² has no negative eigenvalue; and which.

    A vertex gives the same share of its m/h² to all of its edges, so that the sum of the elements is the whole matrix.
    """
    count, dim = x.shape
    ids, gas, springs = gas_by_edges(body, x)
    share = inertia / np.bincount(ids.ravel(), minlength=count)
    whole = gas + np.repeat(share[ids], dim, axis=1)[:, :, None] * np.eye(2 * dim)
    whole[springs >= 0] += blocks[springs[springs >= 0]]
    kept = np.linalg.eigvalsh(whole)[:, 0] >= 0.0
    return assemble(count, dim, ids[kept], gas[kept]), kept


def stiffness(body, x, kind="exact", inertia=None, grabs=()):
    """Newton's matrix without mass and damping. `inertia`: m/h² (n,), which "guarded" counts in."""
    count, dim = x.shape
    exact = kind == "exact"
    if body.pressure_force != "gradient" or body.pressure_scaling:
        raise ValueError("implicit steps need a pressure force with an energy: pressure_force 'gradient', no scaling")
    if kind == "elements" and body.gas is not None:
        H = projected_edges(body, x, spring_blocks(x, body.edges, body.rest, body.stiffness))
    else:
        H = spring_stiffness(x, body.edges, body.rest, body.stiffness, positive=not exact)
    if body.gas is not None:
        H += gas_stiffness(x, body.faces, body.gas) if exact else gas_rank_one(x, body.faces, body.gas)
        if kind == "guarded":
            blocks = spring_blocks(x, body.edges, body.rest, body.stiffness, positive=True)
            H += guarded_edges(body, x, blocks, np.zeros(count) if inertia is None else inertia)[0]
    if body.bending:
        angles = hinge_angles(x, body.hinges)
        H += bending_stiffness(x, body.hinges, angles, body.rest_angles, body.bending, gauss_newton=not exact)
    for grab in grabs:
        H += grab_matrix(count, dim, grab.vertex, grab.stiffness)
    return H
