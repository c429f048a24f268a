"""Skins of a material: forces, stiffness and fields against the oracle, and what must hold for any material."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import turgor
from reference import membrane_oracle as oracle
from support.laws import DEVICE, disturbed, shape_of

LAWS = {
    "stvk": turgor.Membrane(young=2e4, poisson=0.3, thickness=0.02, rigidity=0.0),
    "neo-hookean": turgor.Membrane(young=2e4, law="neo-hookean", thickness=0.02, rigidity=0.0),
    "mooney-rivlin": turgor.Membrane(law="mooney-rivlin", c1=3e3, c2=6e2, thickness=0.02, rigidity=0.0),
}
SHAPES = ["circle", "star", "icosphere", "torus"]


def simulated(shape, skin, *, gas=None, gravity=0.0, ground=None, solver="symplectic", **options):
    down = np.zeros(shape.dim)
    down[-1] = -gravity
    scene = turgor.Scene(dim=shape.dim, gravity=tuple(down))
    if ground is not None:
        scene.add_ground(ground, friction=0.0)  # with friction a rest depends on the way there
    body = {key: options.pop(key) for key in ("mass", "velocity", "spin", "at", "drag") if key in options}
    scene.add_soft_body(shape, name="body", material=skin, gas=gas, friction=0.0, drag_coefficient=0.0, **body)
    given = {"contact": "none", "precision": "double", **options}
    return turgor.Simulation(scene, device=DEVICE, solver=solver, **given)


@pytest.mark.law(2)
@pytest.mark.req("X11")
@pytest.mark.parametrize("assembly", ["scatter", "gather"])
@pytest.mark.parametrize("wrinkling", [True, False], ids=["wrinkling", "compressed"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", SHAPES)
def test_forces_energy_and_fields_are_the_oracles(name, law, wrinkling, assembly):
    """All three states of a face occur; two ways to add up."""
    shape, skin = shape_of(name), replace(LAWS[law], wrinkling=wrinkling)
    x = (1.08 if wrinkling else 1.0) * disturbed(shape)
    sim = simulated(shape, skin, assembly=assembly)
    view = sim["body"]
    view.positions = x
    expected = oracle.forces(x, shape.vertices, shape.faces, skin)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(view.forces, expected, rtol=1e-9, atol=1e-9 * scale)
    stored = oracle.energy(x, shape.vertices, shape.faces, skin)
    assert sim.energy().elastic == pytest.approx(stored, rel=1e-9)
    found = oracle.face_states(x, shape.vertices, shape.faces, skin)
    np.testing.assert_array_equal(view.wrinkled, found)
    assert wrinkling == bool(np.any(found))
    for mine, theirs in (
        (view.stretch, oracle.stretches(x, shape.vertices, shape.faces)),
        (view.tension, oracle.tensions(x, shape.vertices, shape.faces, skin)),
        (view.stress, oracle.stresses(x, shape.vertices, shape.faces, skin)),
    ):
        theirs = np.asarray(theirs)
        usual = view.stretch[:, 0] < 1.5  # stvk would be thinner than nothing where it is stretched further
        np.testing.assert_allclose(mine[usual], theirs[usual], rtol=1e-8, atol=1e-8 * np.abs(theirs[usual]).max())


@pytest.mark.law(2)
@pytest.mark.req("X11")
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", SHAPES)
def test_viscous_forces_are_the_oracles_and_only_take_energy(name, law):
    """In skins that are taut everywhere, and (without an oracle) in wrinkled ones."""
    shape, skin = shape_of(name), replace(LAWS[law], damping=0.01, wrinkling=False)
    rng = np.random.default_rng(3)
    v = rng.normal(size=shape.vertices.shape)
    for wrinkling in (False, True):
        own = replace(skin, wrinkling=wrinkling)
        sim = simulated(shape, own, substeps=20)
        sim["body"].positions = x = disturbed(shape)
        still = np.array(sim["body"].forces)
        sim["body"].velocities = v
        viscous = np.array(sim["body"].forces) - still
        assert np.einsum("ij,ij->", viscous, v) < 0.0
        assert np.abs(viscous.sum(axis=0)).max() < 1e-9 * np.abs(viscous).max()
        if not wrinkling:
            expected = oracle.damping_forces(x, v, shape.vertices, shape.faces, own)
            np.testing.assert_allclose(viscous, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def matrix_of(sim):
    """The matrix of a Newton step, column by column."""
    engine = sim.engine.implicit
    engine.renew()
    system = engine.system
    count, dim = sim.model.vertices, sim.model.numbers.dim
    order = sim.model.internal
    out = np.zeros((count, dim, count, dim))
    for vertex in range(count):
        for axis in range(dim):
            direction = np.zeros((count, dim))
            direction[order[vertex], axis] = 1.0
            system.direction.assign(direction)
            if sim.model.has_membranes:
                system.launch(system.k_membrane.stretch_faces, len(system.face_tangent))
            system.flux.zero_()
            system.launch.blocks(system.k_system.multiply, system.chunks, system.block)
            out[:, :, vertex, axis] = system.product.numpy()[order]
    return out.reshape(count * dim, count * dim)


@pytest.mark.law(2)
@pytest.mark.req("X11", "X2")
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_the_matrix_of_a_newton_step_has_the_oracles_stiffness(name, law):
    """Exact where the skin is taut and pulled; symmetric and positive where it is not."""
    shape, skin = shape_of(name), replace(LAWS[law], wrinkling=False)
    rng = np.random.default_rng(5)
    taut = 1.12 * shape.vertices + 0.003 * rng.normal(size=shape.vertices.shape)
    sim = simulated(shape, skin, solver="implicit", substeps=4, mass=1.0)
    h = float(sim.engine.implicit.system.step.numpy()[0])
    inertia = np.repeat(sim["body"].masses, shape.dim) / h
    for x, exact in ((taut, True), (disturbed(shape), False)):
        sim["body"].positions = x
        found = (matrix_of(sim) - np.diag(inertia)) / h
        scale = np.abs(found).max()
        np.testing.assert_allclose(found, found.T, atol=1e-9 * scale)
        assert np.linalg.eigvalsh(found).min() > -1e-9 * scale
        if exact:
            assert sim["body"].stress[:, : shape.dim - 1].min() > 0.0
            expected = oracle.stiffness(x, shape.vertices, shape.faces, skin)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * scale)


@pytest.mark.law(6)
@pytest.mark.req("X11", "X2")
@pytest.mark.parametrize("law", LAWS)
def test_a_ball_holds_the_pressure_of_its_skin(law):
    """Balloon: with W of equal stretches l, p = dW/dl h A0 / (dV/dl) (Treloar); Laplace: tension p r / 2."""
    radius, stretch = 0.1, 1.3
    skin = replace(LAWS[law], thickness=1e-3)
    shape = turgor.shapes.icosphere(radius=radius, subdivisions=3)
    slope = sum(oracle.slopes(skin, np.array([stretch]), np.array([stretch])))[0]  # dW/dl
    wanted = slope * skin.thickness / (radius * stretch**2)
    volume = shape.volume * stretch**3
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_soft_body(shape, name="body", material=skin, gas=turgor.Gas(nRT=wanted * volume))
    sim = turgor.Simulation(scene, device=DEVICE, precision="double", contact="none")
    assert sim.settle(tolerance=1e-6).converged
    view = sim["body"]
    found = (view.volume / shape.volume) ** (1.0 / 3.0)
    assert found == pytest.approx(stretch, rel=4e-3)  # the facets of 642 vertices: 1 % at 162, 0.1 % at 2,562
    assert view.pressure == pytest.approx(wanted, rel=8e-3)
    np.testing.assert_allclose(view.tension.mean(), view.pressure * radius * found / 2.0, rtol=5e-3)
    assert np.ptp(view.tension, axis=1).max() < 0.12 * view.tension.mean()  # five-valent vertices


@pytest.mark.law(6)
@pytest.mark.req("X11", "X2")
def test_all_solvers_find_the_same_rest():
    """On the floor, with bending: both solvers roll over to a flatter side; statics agree with where they end."""
    shape = turgor.shapes.icosphere(radius=0.1, subdivisions=2)
    skin = turgor.Membrane(young=2e5, poisson=0.4, thickness=1e-3, density=1000.0, damping=5e-3, wrinkling=False)
    rests, last = {}, None
    for solver in ("implicit", "symplectic", "static"):
        running = "symplectic" if solver == "static" else solver
        sim = simulated(
            shape, skin, gas=turgor.Gas.at(gauge=300.0), gravity=9.81, ground=0.0, at=(0.0, 0.0, 0.101), drag=8.0,
            solver=running,
        )  # fmt: skip
        if last is not None and solver == "static":
            sim["body"].positions = last
            assert sim.settle(tolerance=1e-6).converged
        else:
            sim.run(seconds=6.0)
        last = sim["body"].positions
        rests[solver] = np.array([sim["body"].volume / shape.volume, np.ptp(last[:, 2]) / 0.2])
    np.testing.assert_allclose(rests["symplectic"], rests["static"], rtol=1e-5)
    np.testing.assert_allclose(rests["implicit"][0], rests["static"][0], rtol=1e-5)
    np.testing.assert_allclose(rests["implicit"][1], rests["static"][1], rtol=5e-4)  # its walls give way by 0.1 mm


@pytest.mark.law(15)
@pytest.mark.req("X11")
@pytest.mark.parametrize("solver", ["symplectic", "rk4", "implicit"])
def test_momentum_and_spin_stay_in_flight(solver):
    """With viscosity that explicit steps take from slow vibrations instead (solvers/slow_damping.py)."""
    shape = turgor.shapes.torus(radius=0.5, tube=0.2, stacks=10, slices=8)
    skin = turgor.Membrane(young=1e5, poisson=0.3, thickness=1e-3, damping=0.02, wrinkling=False)
    sim = simulated(
        shape, skin, gas=turgor.Gas.at(gauge=100.0), mass=1.0, velocity=(1.0, 2.0, 3.0), spin=(1.0, 0.0, 2.0),
        solver=solver,
    )  # fmt: skip
    sim["body"].positions = sim["body"].positions * np.array([1.03, 1.0, 0.98])
    before = sim["body"].momentum, sim["body"].angular_momentum
    sim.run(seconds=0.5)
    np.testing.assert_allclose(sim["body"].momentum, before[0], rtol=1e-9)
    np.testing.assert_allclose(sim["body"].angular_momentum, before[1], atol=1e-6 * np.linalg.norm(before[1]))


@pytest.mark.law(3)
@pytest.mark.req("X11", "D8")
@pytest.mark.parametrize("damping", [0.0, 0.002], ids=["elastic", "viscous"])
@pytest.mark.parametrize(("solver", "substeps"), [("symplectic", "auto"), ("symplectic", 24), ("implicit", "auto")])
def test_the_ledger_is_closed(solver, substeps, damping):
    """Energy and what was dissipated add up. Automatic substeps damp slow vibrations once per frame: to 2 % of it."""
    shape = turgor.shapes.icosphere(radius=0.2, subdivisions=2)
    skin = turgor.Membrane(young=1e5, poisson=0.3, thickness=1e-3, damping=damping, wrinkling=False)
    gas = turgor.Gas.at(gauge=100.0)
    sim = simulated(shape, skin, gas=gas, mass=0.5, solver=solver, substeps=substeps, ledger=True)
    sim["body"].positions = sim["body"].positions * np.array([1.03, 1.0, 0.97])
    start = sim.energy()
    sim.run(seconds=0.5)
    end = sim.energy()
    substituted = solver == "symplectic" and substeps == "auto" and damping > 0.0
    assert end.total + end.dissipated == pytest.approx(start.total, abs=(2e-2 if substituted else 1e-3) * start.elastic)
    if solver == "symplectic":
        assert (end.dissipated > 0.5 * start.elastic) == (damping > 0.0)


@pytest.mark.law(8)
@pytest.mark.req("X11")
@pytest.mark.parametrize("law", LAWS)
def test_wrinkled_skin_carries_no_compression(law):
    """A sheet that is pulled along and pushed together across: one stress is zero, the other that of a strip."""
    n = 5
    shape = turgor.shapes.sheet(size=(1.0, 1.0), resolution=(n, n))
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_cloth(shape, name="sheet", material=LAWS[law], drag_coefficient=0.0, drag_tangential=0.0)
    sim = turgor.Simulation(scene, device=DEVICE, precision="double", contact="none", solver="symplectic")
    along, across = np.flatnonzero(np.ptp(shape.vertices, axis=0) > 0.0)
    scale = np.ones(3)
    scale[along], scale[across] = 1.2, 0.7
    sim["sheet"].positions = shape.vertices * scale
    assert np.all(sim["sheet"].wrinkled == 1)
    stress = sim["sheet"].stress
    assert np.abs(stress[:, 1]).max() < 1e-9 * stress[:, 0].min()
    if law == "neo-hookean":  # a strip of rubber: 2 c1 (l² - 1/l)
        np.testing.assert_allclose(stress[:, 0], 2.0 * 2e4 / 6.0 * (1.2**2 - 1.0 / 1.2), rtol=1e-9)
    scale[along] = 0.9
    sim["sheet"].positions = shape.vertices * scale
    assert np.all(sim["sheet"].wrinkled == 2)
    assert not np.any(sim["sheet"].stress)


@pytest.mark.law(4)
@pytest.mark.req("X11")
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("stretch", [0.8, 1.0, 1.6])
def test_automatic_substeps_are_stable_at_any_stretch(law, stretch):
    """Energy of a shaken ball does not grow; the bound knows how rubber stiffens."""
    shape = turgor.shapes.icosphere(radius=0.2, subdivisions=2)
    skin = replace(LAWS[law], wrinkling=False, rigidity=1e-4)
    sim = simulated(shape, skin, gas=turgor.Gas(nRT=300.0 * shape.volume), mass=0.1)
    rng = np.random.default_rng(1)
    sim["body"].positions = stretch * shape.vertices * (1.0 + 0.01 * rng.normal(size=shape.vertices.shape))
    start = sim.energy()
    sim.run(seconds=0.2)
    end = sim.energy()
    assert end.total < start.total + 0.02 * (end.kinetic + end.elastic)


@pytest.mark.law(2)
@pytest.mark.req("X11")
def test_rigidity_bends_a_strip_like_a_beam():
    """2D: a ring of rest curvature k0 that is made an ellipse stores D/2 times the integral of (k ds/ds0 - k0)² ds0."""
    rigidity, a, b, count = 0.3, 1.2, 0.9, 400
    shape = turgor.shapes.circle(radius=1.0, points=count)
    sim = simulated(shape, turgor.Membrane(young=1e-6, thickness=1e-6, rigidity=rigidity), mass=1.0)
    sim["body"].positions = shape.vertices * np.array([a, b])
    t = np.linspace(0.0, 2.0 * np.pi, 20_001)[:-1]
    turning = a * b / ((a * np.sin(t)) ** 2 + (b * np.cos(t)) ** 2)  # k ds/dt
    expected = 0.5 * rigidity * np.mean((turning - 1.0) ** 2) * 2.0 * np.pi
    assert sim.energy().elastic == pytest.approx(expected, rel=1e-3)


@pytest.mark.law(2)
@pytest.mark.req("X11")
def test_rigidity_bends_a_sheet_like_a_plate():
    """A sheet of equilateral triangles that is rolled up stores D / (2 r²) per area (Seung & Nelson 1988)."""
    rigidity, radius, edge, across, along = 0.3, 2.0, 0.03, 60, 60
    rows = [[(edge * (i + 0.5 * (j % 2)), edge * 3**0.5 / 2 * j, 0.0) for i in range(along)] for j in range(across)]
    vertices = np.array(rows).reshape(-1, 3)
    faces = []
    for j in range(across - 1):
        for i in range(along - 1):
            here, up, shift = j * along + i, (j + 1) * along + i, j % 2
            faces += [(here, here + 1, up + shift), (here + 1 - shift, up + 1, up)]
    faces = np.array(faces)
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    shape = turgor.shapes.Shape(vertices, faces, "sheet", {"lattice": {}})
    skin = turgor.Membrane(young=1e-6, thickness=1e-6, rigidity=rigidity)
    scene.add_cloth(shape, name="sheet", material=skin, mass=1.0)
    sim = turgor.Simulation(scene, device=DEVICE, precision="double", contact="none", solver="symplectic")
    area = len(sim.model.hinges_host) * 2.0 / 3.0 * 3**0.5 / 4 * edge**2  # a third of two triangles for each hinge
    x, y, _ = vertices.T
    for one, other in ((x, y), (y, x)):  # rolled along the edges, and across them
        bent = radius * np.sin(one / radius), other, radius * (1.0 - np.cos(one / radius))
        order = (0, 1, 2) if one is x else (1, 0, 2)
        sim["sheet"].positions = np.stack([bent[k] for k in order], axis=1)
        assert sim.energy().elastic == pytest.approx(0.5 * rigidity * area / radius**2, rel=0.03)


@pytest.mark.req("X11")
@pytest.mark.parametrize(
    ("skin", "name", "value", "says"),
    [
        ("springs", "young", 1e6, "young is that of material, and 'body' has springs"),
        ("material", "stiffness", 100.0, "stiffness is that of springs, and 'body' is of a material"),
        ("material", "poisson", 0.7, "poisson must be a number from 0 to 0.499999"),
        ("material", "thickness", 0.0, "thickness must be a number from"),
    ],
)
def test_a_parameter_of_another_skin_is_refused(skin, name, value, says):
    """What would have no effect, or no meaning, is not taken while a simulation runs."""
    shape = turgor.shapes.icosphere(radius=0.1, subdivisions=1)
    sim = simulated(shape, None if skin == "springs" else LAWS["stvk"])
    with pytest.raises(turgor.SceneError, match=says):
        setattr(sim["body"], name, value)


@pytest.mark.req("X9")
def test_a_saved_skin_goes_on_bit_for_bit(tmp_path):
    """Also the quickest vibration, from which its substeps follow."""
    scene = turgor.Scene()
    scene.add_ground()
    scene.add_soft_body(
        turgor.shapes.icosphere(radius=0.2, subdivisions=2), name="b", at=(0, 0, 0.25), material="beach_ball"
    )
    sim = turgor.Simulation(scene, solver="symplectic")
    for _ in range(7):
        sim.step()
    sim.save(tmp_path / "a.npz")
    other = turgor.Simulation.load(tmp_path / "a.npz")
    for _ in range(9):
        sim.step()
        other.step()
        assert (other.state_hash(), other.substeps) == (sim.state_hash(), sim.substeps)
