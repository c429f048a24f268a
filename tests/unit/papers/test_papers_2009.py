"""The items of Martin 2009 in the report: the physics that their numbers must show, and that each can be made."""

from __future__ import annotations

import math

import numpy as np
import pytest

import turgor
from support import penetration as independent
from turgor.diagnose import penetration
from turgor.papers.martin2009 import adaptive as adaptive_2009
from turgor.papers.martin2009 import benchmarks, contact, formulas, friction, pressure
from turgor.papers.martin2009 import particles as particles_2009
from turgor.papers.report.blocks import Table
from turgor.record.camera import camera_place, on_screen, scene_points
from turgor.record.look import Look
from turgor.record.render import Painter

# --- section 6.3


@pytest.mark.req("B17", "B18")
def test_eight_scenes_with_the_papers_meshes():
    assert [entry.fps for entry in benchmarks.BENCHMARKS] == [60, 45, 50, 30, 30, 20, 20, 18]
    counts = {"sphere": (58, 112), "torus": (256, 512), "cube": (8, 12)}
    for entry in benchmarks.BENCHMARKS:
        scene = benchmarks.paper_scene(entry.scene, entry.keep)
        for body in (*scene.soft_bodies, *scene.rigid_bodies):
            kind = "cube" if body.name.startswith("cube") else "torus" if body.name == "torus" else "sphere"
            assert (len(body.shape.vertices), len(body.shape.faces)) == counts[kind]
    cubes = benchmarks.paper_scene("torus-and-cubes", benchmarks.BENCHMARKS[-1].keep)
    assert len(cubes.rigid_bodies) == 4
    assert len(cubes.soft_bodies) == 1


@pytest.mark.req("B18")
def test_frames_count_as_apart_until_bodies_touch():
    found = benchmarks.speed("two-spheres", (), "features", True, 0.7)
    assert found.apart > 0.0
    assert found.touching > 0.0
    alone = benchmarks.speed("two-spheres", ("lower",), "features", True, 0.2)
    assert math.isnan(alone.touching)
    assert alone.of(None) == alone.apart


# --- section 5.2


@pytest.mark.req("B10", "B11")
def test_the_papers_skin_is_a_sixth_of_the_radius():
    """0.5 units where a ball begins with a radius of 3, on all bodies of a scene; turgor's own is 5 % of an edge."""
    for name, skin in (("two-spheres", 0.5 / 6.0), ("three-spheres", 0.45 / 6.0), ("torus-and-cubes", 0.28 / 6.0)):
        scene = benchmarks.with_skin(benchmarks.paper_scene(name))
        assert [body.skin for body in scene.soft_bodies] == pytest.approx([skin] * len(scene.soft_bodies))
        assert all(body.skin is None for body in benchmarks.paper_scene(name).soft_bodies)


@pytest.mark.req("B10", "B14")
@pytest.mark.parametrize("name", ["two-spheres", "three-spheres", "sphere-in-torus"])
@pytest.mark.parametrize("way", [contact.FEATURES, contact.SKIN])
def test_bodies_stay_apart_with_features_and_with_particles_in_the_papers_skin(name, way):
    found = contact.compare(name, True, (), way, 0.8, 6)
    assert max(found.depths) == 0.0
    assert (found.inside, found.pierced, found.overlapping, found.missed) == (0, 0, 0, 0)
    assert found.contacts > 0.0  # they do touch
    assert found.gap > 0.0


@pytest.mark.req("B10")
def test_the_report_shows_the_papers_skin_and_ours():
    """What is called the paper's has its skin, and its number of particles where it says so."""
    assert contact.WAYS[contact.PAPER] == ("particles-martin", True)
    assert contact.WAYS[contact.SKIN] == ("particles", True)
    assert contact.WAYS[contact.THIN] == ("particles", False)
    (table,) = [block for block in contact.blocks(True) if isinstance(block, Table)]
    assert {row[1] for row in table.rows} == set(contact.WAYS)


@pytest.mark.parametrize("seed", range(3))
def test_the_reports_penetration_agrees_with_the_tests(seed):
    """Two independent measures, on balls pushed into each other and turned at random."""
    rng = np.random.default_rng(seed)
    scene = turgor.Scene(gravity=(0, 0, 0))
    ball, torus = turgor.shapes.icosphere(radius=0.5, subdivisions=2), turgor.shapes.torus(radius=0.6, tube=0.25)
    scene.add_soft_body(ball, name="a", at=tuple(rng.uniform(-0.3, 0.3, 3)), rotation=tuple(rng.normal(size=3)))
    scene.add_soft_body(torus, name="b", rotation=tuple(rng.normal(size=3)))
    scene.add_soft_body(ball, name="far", at=(5.0, 0.0, 0.0))
    sim = turgor.Simulation(scene, contact="none", precision="double")
    pairs = penetration.touching_boxes(penetration.surfaces(sim.layout, sim.frame()))
    assert [(a.name, b.name) for a, b in pairs] == [("a", "b")]
    found = penetration.overlap(*pairs[0])
    assert found
    assert found.depth == pytest.approx(independent.deepest(sim)[0], rel=1e-9)
    assert found.pierced == independent.crossings(sim)
    first, _, far = penetration.surfaces(sim.layout, sim.frame())
    assert not penetration.overlap(first, far)


@pytest.mark.parametrize(("depth", "inside"), [(0.1, True), (-0.1, False)])
def test_depth_of_a_point_in_a_box(depth, inside):
    box = turgor.shapes.box(size=(2.0, 2.0, 2.0))
    corners, point = box.vertices[box.faces], np.array([[0.2, -0.3, 1.0 - depth]])
    assert penetration.winding(point, corners)[0] == pytest.approx(float(inside), abs=1e-12)
    assert penetration.distances(point, corners)[0] == pytest.approx(abs(depth))


# --- section 6.5


@pytest.mark.picture
@pytest.mark.req("B19")
def test_particles_are_drawn_where_the_camera_sees_them():
    """The projection agrees with VTK's: a lone tiny body far aside is drawn around the pixel that is computed."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    for name, at, color in (("mark", (0.9, 0.2, 0.7), "#ff0000"), ("other", (-0.8, 0.1, -0.5), "#00ff00")):
        scene.add_soft_body(turgor.shapes.icosphere(radius=0.06, subdivisions=2), name=name, at=at, color=color)
    sim = turgor.Simulation(scene, contact="none")
    look = Look(size=(320, 240), zoom=1.1)
    with Painter(sim.layout, size=look.size, zoom=look.zoom) as painter:
        picture = painter.draw(sim.frame()).astype(int)
    eye, target = camera_place(scene_points(sim.layout, sim.frame()), look)
    ((x, y),) = on_screen(np.array([[0.9, 0.2, 0.7]]), eye, target, look.size)
    rows, columns = np.nonzero(picture[..., 0] - picture[..., 1] > 100)
    assert [columns.mean(), rows.mean()] == pytest.approx([x, y], abs=1.5)


def test_what_is_behind_a_surface_is_hidden():
    wall = np.array([[[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 0.0, 2.0]]])
    points = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [-1.0, 5.0, 0.0], [0.0, 0.0, 0.0]])
    found = particles_2009.hidden(points, np.array([3.0, 0.0, 0.0]), wall)
    assert found.tolist() == [True, False, False, False]  # the last lies on the surface


@pytest.mark.req("B10", "B19")
def test_particles_gather_near_the_other_body():
    for way, number in (("as in the paper", 8), ("at least 16 on a body", 16)):
        shot = particles_2009.shoot("two-spheres", (), True, way, 0.42)
        assert len(shot.places) == 2 * number
        assert shot.near > 0.5 * len(shot.places)


# --- section 6.4


@pytest.mark.req("B2", "B3")
def test_much_gas_is_firm_and_little_gas_flattens():
    """As the paper shows them: the firm ball is round, afloat and lying; the limp one is not."""
    found, _ = pressure.lying(6.0)
    firm, limp = found["firm"], found["limp"]
    for ball, (moles, _) in zip((firm, limp), pressure.AMOUNTS, strict=True):
        assert ball.pressure * ball.volume == pytest.approx(moles * pressure.RT, rel=1e-4)  # P V = n R T
        assert ball.volume < ball.free  # its weight squeezes it
        assert ball.speed < 0.05
    assert firm.pressure > 5.0 * limp.pressure
    assert firm.slim == pytest.approx(1.0, abs=0.05)
    assert firm.flat == pytest.approx(1.0, abs=0.05)
    assert limp.flat < 0.75
    assert limp.touching > firm.touching


# --- section 3.1.2


@pytest.mark.req("B4")
@pytest.mark.parametrize("gauge", [30.0, 300.0])
def test_scaling_makes_an_uneven_ball_a_little_rounder(gauge):
    plain, scaled, even = (
        pressure.round_ball(shape, on, gauge) for shape, on in (("uv", False), ("uv", True), ("ico", False))
    )
    for ball in (plain, scaled, even):
        assert ball.speed < 1e-3  # in equilibrium
        assert ball.mean > 0.5
    assert even.spread < scaled.spread < plain.spread
    assert scaled.poles > 1.03  # and is far from round


@pytest.mark.req("B4")
def test_scaled_pressure_pushes_the_body_itself():
    assert pressure.self_push(False) < 1e-12
    assert pressure.self_push(True) > 1e-4


# --- section 3.1.4


@pytest.mark.req("B6")
@pytest.mark.parametrize("kind", friction.KINDS)
@pytest.mark.parametrize("share", friction.QUICK)
def test_slopes_obey_coulomb(kind, share):
    found = friction.slide(kind, share)
    theory = friction.coulomb(math.atan(share * friction.MU))
    if share < 1.0:
        assert theory == 0.0
        assert abs(found.moved) < 2e-4
    else:
        assert found.acceleration == pytest.approx(theory, rel=0.01)


def test_printed_friction_never_rests():
    rest = friction.literal(0.8)
    assert rest.fastest > 0.02
    assert 0.2 < rest.uphill < 0.8


# --- formulas


@pytest.mark.req("B12")
def test_odd_crossings_are_inside():
    even, odd = formulas.parity(300)
    assert odd == 1.0
    assert even == 0.0


def test_point_in_triangle_as_printed_accepts_nothing_inside():
    for clockwise in (False, True):
        inside, _ = formulas.in_triangle(-1.0, clockwise)
        assert inside == 0.0
        assert formulas.in_triangle(1.0, clockwise) == (1.0, 0.0)


@pytest.mark.req("B8")
def test_inertia_volume_normals_and_turns():
    printed, true = formulas.inertia()
    w, h, d = formulas.BRICK
    assert true == pytest.approx(np.array([h * h + d * d, w * w + d * d, w * w + h * h]) / 12.0)
    assert np.abs(printed - true).max() > 0.01
    assert formulas.printed_volume()[0] == pytest.approx(-formulas.printed_volume()[1])
    outward, inward = formulas.triangle_normals()
    assert outward == pytest.approx(-inward)
    assert outward > 0.9
    assert formulas.spun(-1.0) == pytest.approx(0.0, abs=1e-15)
    assert formulas.spun(1.0) > 0.1
    assert formulas.half_life(30.0) == pytest.approx(4.0 * formulas.half_life(120.0))


@pytest.mark.req("B7")
def test_the_papers_integrator_is_of_first_order():
    assert formulas.order("rk4-martin") == pytest.approx(1.0, abs=0.1)
    assert formulas.order("rk4") == pytest.approx(4.0, abs=0.3)


# --- section 7


@pytest.mark.req("B10")
def test_adaptive_particles_are_more_only_while_bodies_touch():
    fixed, adaptive = (adaptive_2009.counted("two-spheres", method, 1.2) for method in adaptive_2009.METHODS)
    assert len(set(fixed.particles)) == 1
    assert max(adaptive.particles) > 2 * fixed.particles[0]
    assert adaptive.particles[-1] <= fixed.particles[0]  # they have come apart
    assert max(adaptive.depths) < 0.5 * max(fixed.depths)
