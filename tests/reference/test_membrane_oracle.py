"""The oracle of membranes against differences of its energy, invariants of C, convexity and textbook formulas."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from reference import Hinges, bending_energy, hinge_angles, meshes
from reference import membrane_oracle as oracle

pytestmark = pytest.mark.req("X11")


@dataclass(frozen=True)
class Skin:
    young: float = 3e4
    poisson: float = 0.35
    thickness: float = 2e-3
    law: str = "stvk"
    c1: float | None = None
    c2: float | None = None
    wrinkling: bool = False
    damping: float = 0.01


STVK = Skin()
NEO = Skin(law="neo-hookean")
MOONEY = Skin(law="mooney-rivlin", c1=4e3, c2=1e3, young=3e4)
LAWS = [STVK, NEO, MOONEY]
every_law = pytest.mark.parametrize("skin", LAWS, ids=lambda skin: skin.law)
taut_or_not = pytest.mark.parametrize("wrinkling", [False, True], ids=["taut", "wrinkling"])


def mesh(dim):
    return meshes.ring(12) if dim == 2 else meshes.icosphere(1)


def deformed(dim, seed=3, noise=0.08):
    """A mesh and positions in which some faces are taut, some wrinkled, some slack: (x, rest, faces)."""
    rest, faces = mesh(dim)
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    return (rest * np.linspace(0.8, 1.35, dim)) @ turn.T + noise * rng.normal(size=rest.shape), rest, faces


def slope(function, h):
    """Derivative at 0 by central differences of sixth order."""
    return sum(
        w / h * (function(k * h) - function(-k * h)) for w, k in ((3 / 4, 1), (-3 / 20, 2), (1 / 60, 3))
    )  # fmt: skip


# --- derivatives


@every_law
@taut_or_not
@pytest.mark.parametrize("dim", [2, 3])
def test_forces_are_minus_the_gradient_of_the_energy(dim, skin, wrinkling):
    skin = replace(skin, wrinkling=wrinkling)
    x, rest, faces = deformed(dim)
    found = set(oracle.face_states(x, rest, faces, skin).tolist())
    assert found == ({0, 2} if dim == 2 else {0, 1, 2}) if wrinkling else found == {0}
    f = oracle.forces(x, rest, faces, skin)
    expected = np.empty_like(f)
    for i, axis in np.ndindex(x.shape):

        def moved(t, i=i, axis=axis):
            y = x.copy()
            y[i, axis] += t
            return oracle.energy(y, rest, faces, skin)

        expected[i, axis] = -slope(moved, 1e-5)
    np.testing.assert_allclose(f, expected, atol=1e-8 * np.abs(f).max())


def energy_of_invariants(x, rest, faces, skin):
    """The taut energy without stretches: tr C, det C and tr E², in any number type."""
    sizes, inverse = oracle.rest_frames(rest, faces)
    F = oracle.gradients(x, faces, inverse)
    C = np.swapaxes(F, 1, 2) @ F
    if C.shape[1] == 1:  # an edge in plane strain
        C = np.concatenate([np.concatenate([C, 0 * C], 2), np.concatenate([0 * C, 0 * C + 1], 2)], 1)
    trace, det = C[:, 0, 0] + C[:, 1, 1], C[:, 0, 0] * C[:, 1, 1] - C[:, 0, 1] * C[:, 1, 0]
    if skin.law == "stvk":
        E, nu = 0.5 * (C - np.eye(2)), skin.poisson
        square = np.sum(E * np.swapaxes(E, 1, 2), axis=(1, 2))
        W = 0.5 * skin.young / (1 - nu**2) * (nu * (0.5 * (trace - 2)) ** 2 + (1 - nu) * square)
    else:
        c1, c2 = oracle.constants(skin)
        W = c1 * (trace + 1 / det - 3) + c2 * (trace / det + det - 3)
    return np.sum(sizes * skin.thickness * W)


@every_law
@pytest.mark.parametrize("dim", [2, 3])
def test_energy_and_forces_are_those_of_invariants(dim, skin):
    x, rest, faces = deformed(dim)
    assert oracle.energy(x, rest, faces, skin) == pytest.approx(energy_of_invariants(x, rest, faces, skin), rel=1e-12)
    f = oracle.forces(x, rest, faces, skin)
    for i, axis in np.ndindex(x.shape):  # complex step: no difference is taken
        y = x.astype(complex)
        y[i, axis] += 1e-30j
        assert f[i, axis] == pytest.approx(-energy_of_invariants(y, rest, faces, skin).imag / 1e-30, abs=1e-11)


def far_from_borders(x, rest, faces, skin):
    """Faces whose state is the same for all stretches within 1 %."""
    a, b = oracle.stretches(x, rest, faces).T
    near = [
        oracle.states(skin, *np.sort([a * p, b * q], axis=0)[::-1]) if x.shape[1] == 3 else (a * p < 1.0)
        for p in (0.99, 1, 1.01)
        for q in (0.99, 1, 1.01)
    ]
    return np.all(np.array(near) == near[4], axis=0)


@every_law
@taut_or_not
@pytest.mark.parametrize("dim", [2, 3])
def test_stiffness_is_the_second_derivative(dim, skin, wrinkling):
    skin = replace(skin, wrinkling=wrinkling)
    x, rest, faces = deformed(dim, seed=5)
    faces = faces[far_from_borders(x, rest, faces, skin)]
    assert len(faces) > 6
    H = oracle.stiffness(x, rest, faces, skin)
    np.testing.assert_array_equal(H, H.T)
    direction = np.random.default_rng(1).normal(size=x.shape)
    along = -slope(lambda t: oracle.forces(x + t * direction, rest, faces, skin), 2e-5)
    np.testing.assert_allclose((H @ direction.ravel()).reshape(x.shape), along, atol=1e-8 * np.abs(along).max())
    shift = np.tile(np.eye(dim), (len(x), 1))
    np.testing.assert_allclose(H @ shift, 0.0, atol=1e-9 * np.abs(H).max())
    positive = np.linalg.eigvalsh(oracle.stiffness(x, rest, faces, skin, positive=True))
    assert positive[0] > -1e-12 * positive[-1]


@every_law
@taut_or_not
@pytest.mark.parametrize("dim", [2, 3])
def test_forces_and_torques_balance_and_turn_with_the_body(dim, skin, wrinkling):
    skin = replace(skin, wrinkling=wrinkling)
    x, rest, faces = deformed(dim)
    f = oracle.forces(x, rest, faces, skin)
    scale = np.abs(f).max()
    assert np.abs(f.sum(axis=0)).max() < 1e-12 * scale
    torque = np.einsum("ia,ib->ab", x, f)
    assert np.abs(torque - torque.T).max() < 1e-12 * scale
    turn = np.linalg.qr(np.random.default_rng(9).normal(size=(dim, dim)))[0]
    np.testing.assert_allclose(oracle.forces(x @ turn.T + 3.0, rest, faces, skin), f @ turn.T, atol=1e-11 * scale)
    np.testing.assert_allclose(oracle.forces(rest, rest, faces, skin), 0.0, atol=1e-11 * scale)


# --- relaxed energies

GRID = np.sort(np.random.default_rng(8).uniform(0.3, 2.0, size=(2, 2000)), axis=0)[::-1]  # pairs, larger first


@every_law
def test_wrinkling_takes_energy_away_and_leaves_no_compression(skin):
    a, b = GRID
    loose = replace(skin, wrinkling=True)
    assert np.all(oracle.density(loose, a, b) <= oracle.density(skin, a, b) * (1 + 1e-12))
    assert np.all(oracle.slopes(loose, a, b) >= -1e-9 * skin.young)
    assert np.any(oracle.slopes(skin, a, b) < -0.1 * skin.young)


@every_law
def test_energy_and_stress_are_continuous_where_wrinkles_begin(skin):
    loose, a = replace(skin, wrinkling=True), np.linspace(1.01, 1.6, 20)
    border, one, little = oracle.strip_width(skin, a), np.ones(20), 1e-9
    for inside, outside in (
        ((a, border * (1 - little)), (a, border * (1 + little))),  # wrinkled and taut
        ((one - little, 0.9 * one), (one + little, 0.9 * one)),  # slack and wrinkled
    ):
        assert np.any(oracle.states(loose, *inside) != oracle.states(loose, *outside))
        np.testing.assert_allclose(
            oracle.density(loose, *inside), oracle.density(loose, *outside), atol=1e-7 * skin.young
        )
        np.testing.assert_allclose(
            oracle.slopes(loose, *inside), oracle.slopes(loose, *outside), atol=1e-7 * skin.young
        )


@every_law
def test_the_strip_has_the_least_energy_of_all_widths(skin):
    for a in (1.05, 1.3, 1.5):
        widths = np.linspace(0.3, 1.2, 4001)
        best = widths[np.argmin(oracle.taut_density(skin, a, widths))]
        assert best == pytest.approx(oracle.strip_width(skin, a), abs=3e-4)
        assert oracle.strip_density(skin, a) == pytest.approx(oracle.taut_density(skin, a, widths).min(), rel=1e-5)


@pytest.mark.parametrize("skin", [STVK, NEO], ids=lambda skin: skin.law)
def test_relaxed_energies_are_convex_in_the_deformation(skin):
    """A convex function of stretches that grows in both is a convex one of F. Not so the c2 term: (λ1 λ2)²."""
    rng = np.random.default_rng(4)
    one, other = rng.normal(size=(2, 4000, 3, 2)) * 0.9

    def energy(F, skin):
        return oracle.density(skin, *np.linalg.svd(F, compute_uv=False).T)

    loose = replace(skin, wrinkling=True)
    excess = 0.5 * (energy(one, loose) + energy(other, loose)) - energy(0.5 * (one + other), loose)
    assert excess.min() >= -1e-9 * skin.young
    assert (0.5 * (energy(one, skin) + energy(other, skin)) - energy(0.5 * (one + other), skin)).min() < 0.0
    x, rest, faces = deformed(3, seed=5)
    faces = faces[far_from_borders(x, rest, faces, loose)]
    values = np.linalg.eigvalsh(oracle.face_stiffness(x, rest, faces, loose))
    assert values.min() > -1e-9 * values.max()
    assert np.linalg.eigvalsh(oracle.face_stiffness(x, rest, faces, skin)).min() < -1e-3 * values.max()


# --- textbook values


def triangle(a, b):
    """One triangle stretched by a along x and b along y: (x, rest, faces)."""
    rest = np.array([[0.0, 0.0, 0.0], [0.3, 0.1, 0.0], [0.05, 0.2, 0.0]])
    return rest * [a, b, 1.0], rest, np.array([[0, 1, 2]])


@every_law
def test_small_strains_are_hookes_law(skin):
    e = 1e-6
    nu, plate = oracle.ratio(skin), skin.young / (1 - oracle.ratio(skin) ** 2)
    state = triangle(1 + 3 * e, 1 + e)
    np.testing.assert_allclose(oracle.stresses(*state, skin)[0], plate * e * np.array([3 + nu, 1 + 3 * nu]), rtol=1e-4)
    free = triangle(1 + e, 1 - nu * e)
    np.testing.assert_allclose(oracle.stresses(*free, skin)[0], [skin.young * e, 0.0], atol=1e-4 * skin.young * e)
    edge = np.array([[0.0, 0.0], [0.2, 0.0]]), np.array([[0, 1]])
    pull = oracle.forces(edge[0] * (1 + e), *edge, skin)[0, 0]
    assert pull == pytest.approx(plate * e * skin.thickness, rel=1e-4)  # plane strain, 1 m deep


@every_law
@pytest.mark.parametrize("stretch", [1.1, 1.5])
def test_a_wrinkled_face_carries_the_uniaxial_stress(skin, stretch):
    """Rubber: σ = 2 (c1 + c2/λ) (λ² - 1/λ). stvk: second Piola-Kirchhoff stress E E1; σ = λ S/(λ2 λ3), λ2 = λ3."""
    skin = replace(skin, wrinkling=True)
    state = triangle(stretch, 0.4)
    assert oracle.face_states(*state, skin) == [oracle.WRINKLED]
    if skin.law == "stvk":
        E1 = 0.5 * (stretch**2 - 1)
        expected = stretch * skin.young * E1 / (1 - 2 * skin.poisson * E1)
    else:
        c1, c2 = oracle.constants(skin)
        expected = 2 * (c1 + c2 / stretch) * (stretch**2 - 1 / stretch)
    np.testing.assert_allclose(oracle.stresses(*state, skin)[0], [expected, 0.0], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("skin", [NEO, MOONEY], ids=lambda skin: skin.law)
@taut_or_not
def test_the_pressure_of_a_balloon(skin, wrinkling):
    """p = 4 (h/r0) (1/λ - 1/λ⁷) (c1 + c2 λ²), by virtual work on a ball whose faces stretch alike.

    The polyhedron has 3 V/A for its radius: p dV = dU, with V = V0 λ³ and U = A0 h W(λ, λ).
    """
    skin = replace(skin, wrinkling=wrinkling)
    rest, faces = meshes.icosphere(1)
    sizes, _ = oracle.rest_frames(rest, faces)
    volume = np.linalg.det(rest[faces]).sum() / 6
    radius, (c1, c2) = 3 * volume / sizes.sum(), oracle.constants(skin)
    for stretch in (1.05, 1.38309, 2.0, 3.1426):
        f = oracle.forces(stretch * rest, rest, faces, skin)
        pressure = -np.sum(f * rest) / (3 * volume * stretch**2)
        expected = 4 * skin.thickness / radius * (1 / stretch - stretch**-7) * (c1 + c2 * stretch**2)
        assert pressure == pytest.approx(expected, rel=1e-12)
        tension = oracle.tensions(stretch * rest, rest, faces, skin)
        np.testing.assert_allclose(tension, 0.5 * pressure * radius * stretch, rtol=1e-10)  # Laplace


def test_the_extremes_of_a_balloons_pressure():
    """Neo-Hookean: at 7^(1/6), 1.2395 μ h/r0 with μ = 2 c1. c2 = c1/10: maximum at 1.4761, minimum at 3.1426."""
    l = np.linspace(1.01, 5.0, 400_001)  # noqa: E741

    def pressure(skin):  # in units of μ h/r0: the stress of both principal directions times their stretches
        return 2 * oracle.slopes(skin, l, l)[0] / l**2 / (2 * oracle.constants(skin)[0])

    neo = pressure(replace(NEO, wrinkling=True))
    assert l[neo.argmax()] == pytest.approx(7 ** (1 / 6), abs=2e-5)
    assert neo.max() == pytest.approx(1.2395, abs=5e-5)
    mooney = pressure(Skin(law="mooney-rivlin", c1=1e5, c2=1e4))
    turns = np.flatnonzero(np.diff(np.sign(np.diff(mooney)))) + 1
    np.testing.assert_allclose(l[turns], [1.4761, 3.1426], atol=6e-5)


# --- viscosity and bending


@every_law
@pytest.mark.parametrize("dim", [2, 3])
def test_viscous_forces_take_energy_and_leave_rigid_motions_alone(dim, skin):
    x, rest, faces = deformed(dim)
    rng = np.random.default_rng(2)
    for _ in range(5):
        v = rng.normal(size=x.shape)
        assert np.sum(v * oracle.damping_forces(x, v, rest, faces, skin)) < 0.0
    spin = rng.normal(size=(dim, dim))
    rigid = x @ (spin - spin.T) + rng.normal(size=dim)
    scale = np.abs(oracle.damping_forces(x, v, rest, faces, skin)).max()
    assert np.abs(oracle.damping_forces(x, rigid, rest, faces, skin)).max() < 1e-12 * scale


@every_law
@pytest.mark.parametrize("dim", [2, 3])
def test_viscous_forces_at_rest_are_the_stiffness_times_a_time(dim, skin):
    rest, faces = mesh(dim)
    v = np.random.default_rng(2).normal(size=rest.shape)
    expected = -skin.damping * (oracle.stiffness(rest, rest, faces, skin) @ v.ravel()).reshape(v.shape)
    f = oracle.damping_forces(rest, v, rest, faces, skin)
    np.testing.assert_allclose(f, expected, atol=1e-9 * np.abs(f).max())


@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_a_rolled_plate_has_the_bending_energy_of_its_rigidity(turn):
    """D κ²/2 per area (Timoshenko), on equilateral triangles in any direction: Seung and Nelson 1988."""
    n, size, radius, D = 40, 0.05, 3.0, 0.7
    i, j = np.divmod(np.arange(n * n), n)
    flat = size * np.stack([j + 0.5 * (i % 2), 0.75**0.5 * i], axis=1)
    flat = flat @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    faces = []
    for row in range(n - 1):
        for k in range(n - 1):
            p, q = row * n + k, (row + 1) * n + k
            faces += [(p, p + 1, q), (p + 1, q + 1, q)] if row % 2 == 0 else [(p, q + 1, q), (p, p + 1, q + 1)]
    rest = np.concatenate([flat, np.zeros((len(flat), 1))], axis=1)
    angle = flat[:, 0] / radius
    rolled = np.stack([radius * np.sin(angle), flat[:, 1], radius * np.cos(angle)], axis=1)
    hinges = Hinges.of(faces)
    kb = oracle.hinge_stiffness(rest, faces, hinges, D)
    np.testing.assert_allclose(kb, 2 / 3**0.5 * D, rtol=1e-12)
    energy = bending_energy(rolled, hinges, hinge_angles(rest, hinges), kb)
    area = len(hinges.ids) / 3 * 2 * (0.75**0.5 * 0.5 * size**2)  # three hinges for two triangles
    assert energy == pytest.approx(0.5 * D / radius**2 * area, rel=0.02)


def test_a_bent_ring_has_the_bending_energy_of_its_rigidity():
    """D κ²/2 per length: a straight strip bent to a circle of radius R stores π D/R per metre of depth."""
    x, faces = meshes.ring(200, radius=0.3)
    hinges = Hinges.of(faces)
    kb = oracle.hinge_stiffness(x, faces, hinges, 0.7)
    assert bending_energy(x, hinges, 0.0, kb) == pytest.approx(np.pi * 0.7 / 0.3, rel=1e-3)
