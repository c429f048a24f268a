"""The penetration check itself: against trimesh, closed forms, and overlaps that are known; and that it is quick."""

import time

import numpy as np
import pytest
import trimesh

import turgor
from reference.inside import crossed, distance, pierced, winding
from support import penetration
from support.penetration import Surface, crossings_of, depth_in, depths_of, self_crossings_of

RNG = np.random.default_rng(7)


def mesh(shape, at=0.0, name="mesh", turn=None):
    points = shape.vertices if turn is None else shape.vertices @ turn.T
    return Surface(name, "mesh" if shape.closed else "sheet", points + np.array(at), shape.faces)


def convex(shape, at=0.0, name="convex"):
    return Surface(name, "convex", shape.vertices + np.array(at), shape.faces, True)


def ball(radius, at, name="ball"):
    at = np.array([at], float)
    return Surface(name, "ball", at, np.zeros((0, at.shape[1]), int), True, radius)


def turned(angle, axis=2):
    i, j = [k for k in range(3) if k != axis]
    out = np.eye(3)
    out[i, i] = out[j, j] = np.cos(angle)
    out[i, j], out[j, i] = -np.sin(angle), np.sin(angle)
    return out


# the geometry ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["icosphere", "box", "torus"])
def test_distances_are_those_of_trimesh(name):
    shapes = turgor.shapes
    shape = {
        "icosphere": lambda: shapes.icosphere(radius=0.7, subdivisions=2),
        "box": lambda: shapes.box(size=(1.0, 0.5, 0.2)),
        "torus": lambda: shapes.torus(radius=0.6, tube=0.2),
    }[name]()
    points = RNG.uniform(-1.0, 1.0, (200, 3))
    other = trimesh.Trimesh(shape.vertices, shape.faces, process=False)
    _, expected, _ = trimesh.proximity.closest_point_naive(other, points)
    np.testing.assert_allclose(distance(points, shape.vertices[shape.faces]), expected, atol=1e-12)


def test_inside_of_a_torus_is_known():
    """The mesh lies between the tube and a slightly thinner one; its hole and its middle are outside."""
    shape = turgor.shapes.torus(radius=0.6, tube=0.2, stacks=48, slices=24)
    axis = int(np.argmin(np.ptp(shape.vertices, axis=0)))
    points = RNG.uniform(-1.0, 1.0, (2000, 3))
    points[:, axis] *= 0.3
    flat = np.delete(points, axis, axis=1)
    tube = np.hypot(np.linalg.norm(flat, axis=1) - 0.6, points[:, axis])
    clear = np.abs(tube - 0.2) > 0.01
    turns = winding(points, shape.vertices[shape.faces])
    np.testing.assert_allclose(turns[clear], (tube < 0.2)[clear], atol=1e-9)
    assert (tube < 0.19).sum() > 50


def test_inside_of_an_outline_is_known():
    shape = turgor.shapes.star(tips=5, outer=1.0, inner=0.4)
    points = RNG.uniform(-1.0, 1.0, (500, 2))
    corners = shape.vertices[shape.faces]
    # even or odd: crossings of a ray to the right
    a, b = corners[None, :, 0], corners[None, :, 1]
    y = points[:, None, 1]
    spans = (a[..., 1] > y) != (b[..., 1] > y)
    run = a[..., 0] + (y - a[..., 1]) * (b[..., 0] - a[..., 0]) / np.where(spans, b[..., 1] - a[..., 1], 1.0)
    odd = (spans & (run > points[:, None, 0])).sum(axis=1) % 2
    np.testing.assert_allclose(winding(points, corners), odd, atol=1e-9)
    assert 50 < odd.sum() < 450


def test_piercing_against_solving_for_the_place():
    ends, corners = RNG.normal(size=(3000, 2, 3)), RNG.normal(size=(3000, 3, 3))
    matrix = np.stack([ends[:, 1] - ends[:, 0], corners[:, 0] - corners[:, 1], corners[:, 0] - corners[:, 2]], axis=2)
    t, u, v = np.linalg.solve(matrix, (corners[:, 0] - ends[:, 0])[..., None])[..., 0].T
    expected = (t > 0) & (t < 1) & (u > 0) & (v > 0) & (u + v < 1)
    np.testing.assert_array_equal(pierced(ends, corners), expected)
    assert expected.sum() > 100


def test_crossing_in_the_plane_against_solving_for_the_place():
    ends, others = RNG.normal(size=(2000, 2, 2)), RNG.normal(size=(2000, 2, 2))
    matrix = np.stack([ends[:, 1] - ends[:, 0], others[:, 0] - others[:, 1]], axis=2)
    s, t = np.linalg.solve(matrix, (others[:, 0] - ends[:, 0])[..., None])[..., 0].T
    expected = (s > 0) & (s < 1) & (t > 0) & (t < 1)
    np.testing.assert_array_equal(crossed(ends, others), expected)
    assert expected.sum() > 100


# known overlaps -------------------------------------------------------------------------------------------------------


def test_two_spheres_of_triangles():
    shape = turgor.shapes.icosphere(radius=0.5, subdivisions=3)
    for gap in (-0.1, -0.02, 0.001, 0.2):
        a, b = mesh(shape, (0.0, 0.0, 0.0), "a"), mesh(shape, (1.0 + gap, 0.0, 0.0), "b")
        depth = depth_in(a, b)
        assert depth == pytest.approx(max(0.0, -gap), abs=0.006)  # the meshes are up to 0.5 % inside the spheres
        assert (crossings_of(a, b) > 0) == (gap < 0.0)
        if gap > 0.0:
            assert depth == 0.0
            assert depths_of([a, b]) == {}


def test_depth_of_one_vertex_in_a_box():
    box = turgor.shapes.box(size=(2.0, 2.0, 2.0))
    spike = turgor.shapes.box(size=(0.1, 0.1, 0.1))
    turn = turned(np.pi / 4, 0) @ turned(np.pi / 4, 2)
    tip = float((spike.vertices @ turn.T)[:, 0].max())
    lance = mesh(spike, (1.0 + tip - 0.03, 0.1, 0.2), turn=-np.eye(3) @ turn)
    for other in (mesh(box), convex(box)):
        assert depth_in(lance, other) == pytest.approx(0.03, abs=1e-9)
        assert depth_in(other, lance) == 0.0


def test_round_bodies_are_as_round_as_they_claim():
    sphere = mesh(turgor.shapes.icosphere(radius=0.5, subdivisions=1), name="coarse")
    assert depth_in(ball(0.3, (0.0, 0.0, 0.79)), ball(0.5, (0.0, 0.0, 0.0))) == pytest.approx(0.01)
    # on its top vertex, from both sides of the pair
    assert sphere.points[:, 2].max() == 0.5
    assert depth_in(sphere, ball(0.2, (0.0, 0.0, 0.65))) == pytest.approx(0.05)
    assert depth_in(ball(0.2, (0.0, 0.0, 0.65)), sphere) == pytest.approx(0.05)
    assert depth_in(ball(0.1, (0.0, 0.0, 2.0)), sphere) == 0.0
    # the round side also counts where no vertex is near: a ball on the middle of a large triangle
    plate = Surface("plate", "sheet", np.array([[-5.0, -5.0, 0.0], [5.0, -5.0, 0.0], [0.0, 5.0, 0.0]]), [[0, 1, 2]])
    plate.faces = np.array(plate.faces)
    assert depth_in(ball(0.3, (0.0, 0.0, 0.29)), plate) == pytest.approx(0.01)
    rod = Surface("rod", "capsule", np.array([[-1.0, 0.0, 0.24], [1.0, 0.0, 0.24]]), np.zeros((0, 3), int), True, 0.25)
    assert depth_in(rod, plate) == pytest.approx(0.01)
    assert depth_in(ball(0.1, (0.3, 0.0, 0.58)), rod) == pytest.approx(0.01)


def test_ball_whose_centre_is_inside():
    box = mesh(turgor.shapes.box(size=(2.0, 2.0, 2.0)))
    assert depth_in(ball(0.1, (0.0, 0.0, 0.7)), box) == pytest.approx(0.4)
    assert depth_in(ball(0.1, (0.0, 0.0, 1.05)), box) == pytest.approx(0.05)


def test_needle_through_cloth_crosses_but_has_no_depth():
    cloth = mesh(turgor.shapes.sheet(size=(1.0, 1.0), resolution=9), name="cloth")
    needle = mesh(turgor.shapes.box(size=(0.01, 0.5, 0.01)), (0.013, 0.0, 0.017), name="needle")
    assert depth_in(needle, cloth) == 0.0
    assert crossings_of(needle, cloth) >= 4
    beside = mesh(turgor.shapes.box(size=(0.01, 0.5, 0.01)), (0.013, 0.26, 0.017), name="needle")
    assert crossings_of(beside, cloth) == 0


def test_edges_can_cross_without_a_vertex_inside():
    """Two long bars in a cross: no vertex of one is in the other."""
    a = mesh(turgor.shapes.box(size=(2.0, 0.2, 0.2)), name="a")
    b = mesh(turgor.shapes.box(size=(0.2, 2.0, 0.2)), (0.0, 0.0, 0.1), name="b")
    assert depths_of([a, b]) == {}
    assert crossings_of(a, b) > 0


def test_self_crossings():
    sphere = mesh(turgor.shapes.icosphere(radius=0.5, subdivisions=2))
    assert self_crossings_of(sphere) == 0
    top = int(sphere.points[:, 2].argmax())
    through = Surface("x", "mesh", sphere.points.copy(), sphere.faces)
    through.points[top, 2] = -0.8  # pulled out of the other side
    assert self_crossings_of(through) > 0
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    loop = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    assert self_crossings_of(Surface("o", "mesh", square, loop)) == 0
    assert self_crossings_of(Surface("8", "mesh", square[[0, 2, 1, 3]], loop)) == 1


def test_flat_bodies():
    square = turgor.shapes.circle(radius=0.5, points=32)
    a, b = mesh(square, (0.0, 0.0), "a"), mesh(square, (0.95, 0.0), "b")
    found = depths_of([a, b])
    assert max(found.values()) == pytest.approx(0.05, abs=0.005)
    assert crossings_of(a, b) == 2
    assert depth_in(ball(0.2, (0.65, 0.0)), a) == pytest.approx(0.05, abs=0.005)
    assert depths_of([a, mesh(square, (1.1, 0.0), "b")]) == {}


# simulations ----------------------------------------------------------------------------------------------------------


def test_a_simulation_tells_what_is_in_what():
    scene = turgor.Scene(gravity=0.0)
    scene.add_soft_body(turgor.shapes.icosphere(radius=0.5, subdivisions=2), name="soft", at=(0.0, 0.0, 0.45))
    scene.add_rigid_body(turgor.shapes.icosphere(radius=0.5, subdivisions=1), name="ball", at=(0.95, 0.0, 0.45))
    scene.add_rigid_body(
        turgor.shapes.box(size=(0.4, 0.4, 0.4)), name="box", at=(-2.0, 0.0, 0.3), rotation=(0.2, 0.5, 0.1)
    )
    scene.add_rigid_body(turgor.shapes.capsule(radius=0.1, height=0.6), name="rod", at=(0.0, 3.0, 0.39))
    scene.add_ground()
    sim = turgor.Simulation(scene, contact="none")
    depth, pair = penetration.deepest(sim)
    assert set(pair) == {"soft", "ball"}
    assert depth == pytest.approx(0.05, abs=0.005)
    assert penetration.wall_depth(sim) == pytest.approx(0.05, abs=0.005)
    by_name = {surface.name: surface for surface in penetration.surfaces(sim)}
    assert by_name["ball"].radius == 0.5
    np.testing.assert_allclose(by_name["ball"].points, [[0.95, 0.0, 0.45]], atol=1e-5)
    np.testing.assert_allclose(sorted(by_name["rod"].points[:, 2]), [0.09, 0.69], atol=1e-5)
    here = sim.frame().positions[sim.layout.bodies[2].start :][:8]
    np.testing.assert_allclose(np.sort(by_name["box"].points, axis=0), np.sort(here, axis=0), atol=1e-5)
    assert penetration.crossings(sim) == 0  # a ball is round: it has no edges
    assert penetration.self_crossings(sim) == {"soft": 0}


def test_container_walls_turn():
    scene = turgor.Scene(gravity=0.0)
    scene.add_soft_body(turgor.shapes.icosphere(radius=0.5, subdivisions=2), at=(0.6, 0.0, 0.0))
    scene.add_container((2.0, 2.0, 2.0), rotation=(0.0, 0.0, 0.3))
    sim = turgor.Simulation(scene, contact="none")
    reach = (sim.positions @ np.array([np.cos(0.3), np.sin(0.3), 0.0])).max()
    assert penetration.wall_depth(sim) == pytest.approx(max(0.0, reach - 1.0), abs=1e-6)
    assert reach > 1.0


def pile():
    """121 balls and 121 boxes, each sunk into its neighbours a little: as many contacts as in a heap."""
    sphere, box = turgor.shapes.icosphere(radius=0.5, subdivisions=2), turgor.shapes.box(size=(0.8, 0.8, 0.8))
    place = [(x, y, z) for z in range(8) for y in range(6) for x in range(6)][:242]
    bodies = []
    for k, (x, y, z) in enumerate(place):
        at = np.array([x, y, z]) * 0.93 + RNG.normal(size=3) * 0.01
        bodies.append(mesh(sphere, at, f"ball {k}") if k % 2 else convex(box, at, f"box {k}"))
    return bodies


def test_a_heap_takes_less_than_a_second():
    bodies = pile()
    start = time.process_time()
    found = depths_of(bodies)
    middle = time.process_time()
    count = sum(crossings_of(a, b) for a, b in penetration._pairs(bodies) if not (a.rigid and b.rigid))
    end = time.process_time()
    own = sum(self_crossings_of(body) for body in bodies if not body.rigid)
    last = time.process_time()
    print(f"depths {middle - start:.2f} s, crossings {end - middle:.2f} s, self {last - end:.2f} s")
    assert own == 0
    assert len(found) > 50
    assert count > 50
    # 0.4 s each on a core of its own
    assert max(middle - start, end - middle, last - end) < 1.5


def test_pairs_that_are_glued_are_left_out():
    shape = turgor.shapes.icosphere(radius=0.5, subdivisions=2)
    a, b = mesh(shape, name="a"), mesh(shape, (0.9, 0.0, 0.0), "b")
    assert depths_of([a, b])
    assert depths_of([a, b], apart={("b", "a")}) == {}
