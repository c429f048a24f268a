"""Skins of a material: constant-strain triangles (3D) and edges (2D), from F = Ds Dm⁻¹ and its singular values.

The energy per rest volume is a symmetric function W(λ1, λ2) of the principal stretches, the singular values of
F = U diag(λ) Vᵀ. The first Piola-Kirchhoff stress is then U diag(∂W/∂λ) Vᵀ, which holds for equal stretches too, and
the forces on the corners are -A h P Dm⁻ᵀ. Second derivatives are central differences of these forces, of sixth order.

    rubber   W = c1 (λ1² + λ2² + (λ1 λ2)⁻² - 3) + c2 (λ1⁻² + λ2⁻² + (λ1 λ2)² - 3)
    stvk     W = E/(2 (1 - ν²)) (E1² + E2² + 2 ν E1 E2), Ei = (λi² - 1)/2

Wrinkled (Pipkin 1986: the quasiconvex envelope): with λ1 ≥ λ2, W = 0 for λ1 ≤ 1; where λ2 is below the width that a
strip pulled by λ1 takes by itself, λ1^(-1/2) or E2 = -ν E1, W is that of this strip. In 2D an edge is a strip of unit
depth in plane strain, λ2 = 1; it is slack for λ < 1.

`skin` is anything with young, poisson, thickness, law, c1, c2, wrinkling and damping, such as a turgor.Membrane.
"""

from __future__ import annotations

import numpy as np

TAUT, WRINKLED, SLACK = 0, 1, 2
STEP = 1e-3  # of the shortest rest edge: sixth order leaves 1e-18, round-off 1e-13


def constants(skin):
    """c1, c2 of the rubber laws, Pa: small strains of both have Young's modulus 6 (c1 + c2)."""
    return (skin.c1, skin.c2) if skin.law == "mooney-rivlin" else (skin.young / 6.0, 0.0)


def ratio(skin):
    """Poisson's ratio of small strains; rubber is incompressible."""
    return skin.poisson if skin.law == "stvk" else 0.5


def taut_density(skin, a, b):
    """W (Pa) of a skin that carries compression too."""
    if skin.law == "stvk":
        ea, eb, nu = 0.5 * (a * a - 1.0), 0.5 * (b * b - 1.0), skin.poisson
        return 0.5 * skin.young / (1.0 - nu * nu) * (ea * ea + eb * eb + 2.0 * nu * ea * eb)
    c1, c2 = constants(skin)
    c = 1.0 / (a * b)
    return c1 * (a**2 + b**2 + c**2 - 3.0) + c2 * (a**-2 + b**-2 + c**-2 - 3.0)


def taut_slopes(skin, a, b):
    """∂W/∂λ of both stretches, Pa: principal stresses per rest area."""
    if skin.law == "stvk":
        ea, eb, nu = 0.5 * (a * a - 1.0), 0.5 * (b * b - 1.0), skin.poisson
        plate = skin.young / (1.0 - nu * nu)
        return plate * (ea + nu * eb) * a, plate * (eb + nu * ea) * b
    c1, c2 = constants(skin)
    return tuple(
        2.0 * c1 * (own - 1.0 / (own**3 * other**2)) + 2.0 * c2 * (own * other**2 - own**-3)
        for own, other in ((a, b), (b, a))
    )


def strip_width(skin, a):
    """λ2 of a strip that is pulled by λ1 and free at its sides; stvk: zero once E2 = -ν E1 asks for less."""
    if skin.law == "stvk":
        return np.sqrt(np.maximum(1.0 - skin.poisson * (a * a - 1.0), 0.0))
    return a**-0.5


def strip_density(skin, a):
    """W (Pa) of that strip; stvk: E E1²/2, whether such a width exists or not."""
    if skin.law == "stvk":
        return 0.5 * skin.young * (0.5 * (a * a - 1.0)) ** 2
    c1, c2 = constants(skin)
    return c1 * (a**2 + 2.0 / a - 3.0) + c2 * (a**-2 + 2.0 * a - 3.0)


def strip_slope(skin, a):
    """Its derivative, Pa: the textbook's uniaxial stress, for rubber 2 (c1 + c2/λ) (λ - λ⁻²)."""
    if skin.law == "stvk":
        return skin.young * 0.5 * (a * a - 1.0) * a
    c1, c2 = constants(skin)
    return 2.0 * (c1 + c2 / a) * (a - a**-2)


def states(skin, a, b):
    """TAUT, WRINKLED or SLACK for stretches a >= b."""
    if not skin.wrinkling:
        return np.full(np.shape(a), TAUT)
    narrow = 0.5 * (b * b - 1.0) < -skin.poisson * 0.5 * (a * a - 1.0) if skin.law == "stvk" else b < a**-0.5
    return np.where(a <= 1.0, SLACK, np.where(narrow, WRINKLED, TAUT))


def density(skin, a, b):
    """W (Pa), relaxed where the skin wrinkles; a >= b."""
    state = states(skin, a, b)
    safe = np.where(state == TAUT, b, 1.0)
    return np.select([state == TAUT, state == WRINKLED], [taut_density(skin, a, safe), strip_density(skin, a)], 0.0)


def slopes(skin, a, b):
    """∂W/∂λ (2, ...) of it, larger stretch first."""
    state = states(skin, a, b)
    safe = np.where(state == TAUT, b, 1.0)
    first, second = taut_slopes(skin, a, safe)
    return np.stack(
        [
            np.select([state == TAUT, state == WRINKLED], [first, strip_slope(skin, a)], 0.0),
            np.where(state == TAUT, second, 0.0),
        ]
    )


# --- triangles and edges


def rest_frames(rest, faces):
    """(sizes, Dm⁻¹): areas and (m, 2, 2) in the plane of each triangle; lengths and (m, 1, 1) of edges."""
    corners = np.asarray(rest, float)[np.asarray(faces)]
    sides = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)  # columns
    if sides.shape[2] == 1:
        lengths = np.linalg.norm(sides, axis=1)[:, 0]
        return lengths, 1.0 / lengths[:, None, None]
    flat = np.linalg.qr(sides)[1]  # sides = Q R: R is the triangle laid into a plane
    return 0.5 * np.abs(np.linalg.det(flat)), np.linalg.inv(flat)


def gradients(x, faces, inverse):
    """F (m, dim, dim - 1) of each face; x may have leading axes."""
    corners = x[..., np.asarray(faces), :]
    return np.swapaxes(corners[..., 1:, :] - corners[..., :1, :], -2, -1) @ inverse


def stretches(x, rest, faces):
    """(m, 2) principal stretches, larger first; of an edge its own, then 1 across its depth."""
    values = np.linalg.svd(gradients(x, faces, rest_frames(rest, faces)[1]), compute_uv=False)
    return values if values.shape[1] == 2 else np.concatenate([values, np.ones_like(values)], axis=1)


def energies(x, rest, faces, skin):
    """(m,) J of each face."""
    sizes, _ = rest_frames(rest, faces)
    a, b = stretches(x, rest, faces).T
    if x.shape[1] == 2:
        slack = skin.wrinkling & (a < 1.0)
        return sizes * skin.thickness * np.where(slack, 0.0, taut_density(skin, a, b))
    return sizes * skin.thickness * density(skin, a, b)


def energy(x, rest, faces, skin):
    """J."""
    return float(energies(x, rest, faces, skin).sum())


def corner_forces(x, rest, faces, skin):
    """(..., m, dim, dim) N: forces on the corners of each face; x may have leading axes."""
    sizes, inverse = rest_frames(rest, faces)
    u, s, vt = np.linalg.svd(gradients(x, faces, inverse), full_matrices=False)
    if s.shape[-1] == 1:
        a = s[..., 0]
        slack = skin.wrinkling & (a < 1.0)
        pull = np.where(slack, 0.0, taut_slopes(skin, np.where(slack, 1.0, a), 1.0)[0])[..., None]
    else:
        pull = np.moveaxis(slopes(skin, s[..., 0], s[..., 1]), 0, -1)
    stress = (u * pull[..., None, :]) @ vt
    return _on_corners(stress, sizes * skin.thickness, inverse)


def _on_corners(stress, volumes, inverse):
    """The first Piola-Kirchhoff stress as forces on all corners: they balance."""
    others = -volumes[:, None, None] * np.swapaxes(stress @ np.swapaxes(inverse, -2, -1), -2, -1)
    return np.concatenate([-others.sum(axis=-2, keepdims=True), others], axis=-2)


def _summed(pulls, faces, count):
    f = np.zeros((count, pulls.shape[-1]))
    np.add.at(f, np.asarray(faces), pulls)
    return f


def forces(x, rest, faces, skin):
    """-∂U/∂x (n, dim), N."""
    return _summed(corner_forces(x, rest, faces, skin), faces, len(x))


def face_stiffness(x, rest, faces, skin):
    """(m, dim dim, dim dim) d²U/dx² of each face by its corners, N/m.

    Wrong, as any difference, where a face is within STEP of the border of two states: W has no second derivative there.
    """
    faces = np.asarray(faces)
    count, dim = faces.shape
    corners = np.asarray(rest)[faces]
    h = STEP * np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).min()
    own, alone = np.arange(count * dim).reshape(count, dim), x[faces].reshape(-1, dim)
    unfolded = np.asarray(rest)[faces].reshape(-1, dim)
    blocks = np.zeros((count, dim * dim, dim * dim))
    for column in range(dim * dim):
        for weight, reach in ((3 / 4, 1), (-3 / 20, 2), (1 / 60, 3)):
            for side in (1, -1):
                moved = alone.copy()
                moved[own[:, column // dim], column % dim] += side * reach * h
                pulls = corner_forces(moved, unfolded, own, skin).reshape(count, dim * dim)
                blocks[:, :, column] -= side * weight / h * pulls
    return 0.5 * (blocks + np.swapaxes(blocks, 1, 2))


def stiffness(x, rest, faces, skin, positive=False):
    """d²U/dx² (n dim, n dim), N/m; `positive`: the negative part of each face's is left out."""
    from reference.hessians import assemble

    blocks = face_stiffness(x, rest, faces, skin)
    if positive:
        values, vectors = np.linalg.eigh(blocks)
        blocks = np.einsum("eik,ek,ejk->eij", vectors, np.maximum(values, 0.0), vectors)
    return assemble(len(x), x.shape[1], faces, blocks)


# --- viscosity


def damping_forces(x, v, rest, faces, skin):
    """(n, dim) N of Kelvin and Voigt's stress: damping x moduli of small strains x rate of Green's strain.

    The second Piola-Kirchhoff stress is damping E/(1 - ν²) ((1 - ν) Ė + ν tr Ė); 2D: damping E/(1 - ν²) Ė.
    """
    sizes, inverse = rest_frames(rest, faces)
    F, rate = gradients(x, faces, inverse), gradients(v, faces, inverse)
    strain_rate = np.swapaxes(rate, 1, 2) @ F
    strain_rate = 0.5 * (strain_rate + np.swapaxes(strain_rate, 1, 2))
    nu = ratio(skin)
    plate = skin.damping * skin.young / (1.0 - nu * nu)
    if F.shape[2] == 1:
        viscous = plate * strain_rate
    else:
        trace = np.trace(strain_rate, axis1=1, axis2=2)[:, None, None]
        viscous = plate * ((1.0 - nu) * strain_rate + nu * trace * np.eye(2))
    return _summed(_on_corners(F @ viscous, sizes * skin.thickness, inverse), faces, len(x))


# --- what a user looks at


def face_states(x, rest, faces, skin):
    """(m,) TAUT, WRINKLED or SLACK; an edge is never wrinkled."""
    a, b = stretches(x, rest, faces).T
    if x.shape[1] == 2:
        return np.where(skin.wrinkling & (a < 1.0), SLACK, TAUT)
    return states(skin, a, b)


def tensions(x, rest, faces, skin):
    """(m, 2) N/m per length as it is now, larger stretch first; what is wrinkled is as wide as the strip it is.

    A side of rest length 1 across λ1 carries h ∂W/∂λ1 and is λ2 long.
    """
    a, b = stretches(x, rest, faces).T
    state = face_states(x, rest, faces, skin)
    if x.shape[1] == 2:
        found = np.stack(taut_slopes(skin, a, b))
        return (skin.thickness * np.where(state == SLACK, 0.0, found) / np.stack([b, a])).T
    pulls = slopes(skin, a, b)
    wide = np.where(state == TAUT, b, strip_width(skin, np.maximum(a, 1.0)))
    wide = np.where((state == SLACK) | (wide == 0.0), 1.0, wide)
    return (skin.thickness * pulls / np.stack([wide, a])).T


def stresses(x, rest, faces, skin):
    """(m, 2) principal Cauchy stresses, Pa: tension over the thickness as it is now, h λ3.

    Rubber keeps its volume: λ3 = 1/(λ1 λ2). stvk has no stress across: E3 = -ν/(1 - ν) (E1 + E2).
    """
    a, b = stretches(x, rest, faces).T
    state = face_states(x, rest, faces, skin)
    if x.shape[1] == 3:
        b = np.where(state == WRINKLED, strip_width(skin, np.maximum(a, 1.0)), b)
    if skin.law == "stvk":
        nu = skin.poisson
        across = -nu / (1.0 - nu) * 0.5 * (a * a + b * b - 2.0)
        thin = np.sqrt(np.maximum(1.0 + 2.0 * across, 1e-30))
    else:
        thin = 1.0 / np.maximum(a * b, 1e-30)
    return tensions(x, rest, faces, skin) / (skin.thickness * thin)[:, None]


# --- bending


def hinge_stiffness(rest, faces, hinges, rigidity):
    """(h,) N m/rad: D |e|²/(A1 + A2) in 3D, D over the mean length of both edges in 2D.

    Seung and Nelson 1988: on equilateral triangles hinges of κ are a plate of D = √3/2 κ; there |e|²/(A1 + A2) = 2/√3.
    """
    rest, ids = np.asarray(rest, float), hinges.ids
    if rest.shape[1] == 2:
        lengths = [np.linalg.norm(rest[ids[:, s + 1]] - rest[ids[:, s]], axis=1) for s in (0, 1)]
        return 2.0 * rigidity / (lengths[0] + lengths[1])
    a, b, c, d = (rest[ids[:, s]] for s in range(4))
    doubled = np.linalg.norm(np.cross(b - a, c - a), axis=1) + np.linalg.norm(np.cross(b - a, d - a), axis=1)
    return rigidity * np.sum((b - a) ** 2, axis=1) / (0.5 * doubled)
