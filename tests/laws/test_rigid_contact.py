"""Contact of rigid bodies with each other, with meshes and with walls: laws 9 and 10, and what must not happen."""

from __future__ import annotations

import numpy as np
import pytest

from support.laws import EPS, PRECISIONS
from support.rigid_world import BALL, BOX, PILL, G, RigidWorld, box_of, level, scene_of, up
from turgor import shapes
from turgor.model.saved import restore, saved
from turgor.shapes.hull import convex_hull

# law 9 -------------------------------------------------------------------------------------------------------------


@pytest.mark.law(9)
@pytest.mark.req("B15")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("floor", ["ground", "box", "mesh"])
def test_a_sliding_box_stops_after_v2_over_2_mu_g(dim, precision, floor) -> None:
    mu, speed, dt = 0.4, 2.0, 1 / 600
    scene = scene_of(dim)
    add_floor(scene, floor, mu)
    scene.add_rigid_body(box_of(dim), at=up(dim, 0.15), velocity=(speed, *[0.0] * (dim - 1)), friction=mu)
    world = RigidWorld(scene, dt, precision=precision)
    mine = world.rigids.count - 1
    world.step(600)
    assert world.x[mine, 0] == pytest.approx(speed**2 / (2 * mu * G), abs=3 * speed * dt)
    assert np.abs(world.v[mine]).max() < 1e-3
    assert world.x[mine, -1] == pytest.approx(0.15, abs=1e-3)


def add_floor(scene, floor, mu, tilt=0.0):
    dim = scene.dim
    rotation = tilt if dim == 2 else (0.0, -tilt, 0.0)
    if floor == "ground":
        scene.add_plane(point=(0.0,) * dim, normal=up(dim, np.cos(tilt), -np.sin(tilt)), friction=mu, restitution=0.0)
    elif floor == "box":
        slab = shapes.outline(points=[(-3, -0.2), (3, -0.2), (3, 0), (-3, 0)]) if dim == 2 else None
        if dim == 3:
            slab = shapes.box(size=(6.0, 6.0, 0.2))
        scene.add_rigid_body(
            slab, at=(0.0, 0.0) if dim == 2 else (0.1 * np.sin(tilt), 0.0, -0.1 * np.cos(tilt)), rotation=rotation,
            kind="static", friction=mu, restitution=0.0,
        )  # fmt: skip
    elif dim == 3:
        scene.add_rigid_body(
            level(shapes.sheet(size=(6.0, 6.0), resolution=(31, 31))), kind="static", friction=mu, restitution=0.0,
            rotation=rotation,
        )  # fmt: skip
    else:
        points = [*[(x, 0.0) for x in np.linspace(3, -3, 31)], (-3, -0.5), (3, -0.5)]
        scene.add_rigid_body(
            shapes.outline(points=points), collider="mesh", kind="static", friction=mu, restitution=0.0,
            rotation=rotation,
        )  # fmt: skip


@pytest.mark.law(9)
@pytest.mark.req("B15")
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("floor", ["ground", "box", "mesh"])
def test_a_box_rests_below_the_friction_angle_and_slides_above(dim, floor) -> None:
    mu, dt = 0.5, 1 / 600
    for share, slides in ((0.95, False), (1.1, True)):
        tilt = share * np.arctan(mu)
        scene = scene_of(dim)
        add_floor(scene, floor, mu, tilt)
        turn = tilt if dim == 2 else (0.0, -tilt, 0.0)
        scene.add_rigid_body(
            box_of(dim), at=up(dim, 0.15 * np.cos(tilt), -0.15 * np.sin(tilt)), rotation=turn, friction=mu
        )
        world = RigidWorld(scene, dt, passes=8)
        mine, start = world.rigids.count - 1, world.x[-1]
        world.step(600)
        down = -(world.x[mine] - start) @ np.array(up(dim, np.sin(tilt), np.cos(tilt)))
        expected = 0.5 * G * (np.sin(tilt) - mu * np.cos(tilt)) if slides else 0.0
        assert down == pytest.approx(expected, abs=2e-3, rel=0.03)


@pytest.mark.law(9)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("floor", ["ground", "box", "mesh"])
def test_a_ball_bounces_to_e2_of_its_height(dim, precision, floor) -> None:
    """Three balls beside each other, one for each restitution, alike in their place on the floor's triangles."""
    dt, drop = 1 / 1000, 0.5
    ball = shapes.circle(radius=0.15, points=16) if dim == 2 else BALL
    scene = scene_of(dim)
    add_floor(scene, floor, 0.5)
    bounces = (0.0, 0.5, 0.9)
    for k, e in enumerate(bounces):
        scene.add_rigid_body(ball, at=up(dim, 0.15 + drop, k - 1.0 + 0.03), restitution=e)
    world = RigidWorld(scene, dt, precision=precision)
    speed = np.sqrt(2 * G * drop)
    steps = [int((speed / G + e * speed / G) / dt) for e in bounces]  # to the top of the first bounce
    heights = []
    for _ in range(max(steps)):
        world.step()
        heights.append(world.x[-len(bounces) :, -1] - 0.15)
    for e, count, height in zip(bounces, steps, np.transpose(heights), strict=True):
        assert height[:count].min() > -1e-4
        assert height[count - 1] == pytest.approx(e * e * drop, abs=2.5 * speed * dt)


# law 10 ------------------------------------------------------------------------------------------------------------


@pytest.mark.law(10)
@pytest.mark.req("B14")
@pytest.mark.parametrize(
    ("dim", "precision", "parallel", "passes"),
    [(2, "double", False, 4), (2, "single", False, 4), (3, "double", False, 4), (3, "single", False, 4),
     (3, "single", True, 10), (2, "double", True, 10)],
)  # fmt: skip
def test_ten_boxes_stand_for_ten_seconds(dim, precision, parallel, passes) -> None:
    scene = scene_of(dim)
    scene.add_ground()
    for i in range(10):
        scene.add_rigid_body(box_of(dim), at=up(dim, 0.15 + 0.3 * i))
    world = RigidWorld(scene, 1 / 600, precision=precision, parallel=parallel, passes=passes)
    start = world.x
    for _ in range(10):
        world.step(600)
        assert np.abs(world.x - start).max() < 0.01
    assert np.abs(world.spin).max() < 0.005
    assert np.abs(world.v).max() < 0.01
    assert min(pair.gap.min() for pair in world.points()) > -1e-3


@pytest.mark.law(10)
@pytest.mark.parametrize("dim", [2, 3])
def test_long_substeps_do_not_make_resting_bodies_bounce(dim) -> None:
    """At 1/60 s gravity alone is faster than the impacts that bounce."""
    scene = scene_of(dim)
    scene.add_ground()
    for i in range(3):
        scene.add_rigid_body(box_of(dim), at=up(dim, 0.15 + 0.3 * i), restitution=0.5)
    world = RigidWorld(scene, 1 / 60, passes=10)
    world.step(60)
    for _ in range(60):
        world.step()
        assert np.abs(world.v).max() < 0.02


COLLISIONS = {
    "box-box": (BOX, BOX),
    "ball-box": (BALL, BOX),
    "box-ball": (BOX, BALL),
    "pill-hull": (PILL, convex_hull(np.random.default_rng(4).normal(size=(20, 3)) * 0.15)),
    "hull-hull": tuple(convex_hull(np.random.default_rng(k).normal(size=(20, 3)) * 0.15) for k in (5, 6)),
    "pill-pill": (PILL, PILL),
    "ball-pill": (BALL, PILL),
    "ball-ball": (BALL, BALL),
}


@pytest.mark.law(10)
@pytest.mark.req("B14")
@pytest.mark.parametrize(
    ("kinds", "precision", "parallel"),
    [(kinds, precision, False) for kinds in COLLISIONS for precision in PRECISIONS]
    + [("box-box", "double", True), ("pill-hull", "double", True)],
)
def test_free_collisions_keep_momentum_and_lose_energy(kinds, precision, parallel) -> None:
    first, second = COLLISIONS[kinds]
    hit = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        scene = scene_of(gravity=0.0)
        common = {"restitution": 0.0, "friction": 0.6}
        scene.add_rigid_body(
            first,
            at=(-0.5, 0.0, 0.0),
            velocity=(3.0, 0.0, 0.0),
            mass=2.0,
            rotation=tuple(rng.uniform(-2, 2, 3)),
            **common,
        )
        scene.add_rigid_body(
            second, at=(0.5, *rng.uniform(-0.1, 0.1, 2)), velocity=(-2.0, 0.5, 0.0), spin=tuple(rng.uniform(-3, 3, 3)),
            rotation=tuple(rng.uniform(-2, 2, 3)), mass=0.7, **common,
        )  # fmt: skip
        world = RigidWorld(scene, 1 / 600, precision=precision, parallel=parallel)
        before, begin = world.momentum(), world.kinetic()
        find = world.recorded(world.kick, world.contacts.find)
        solve = world.recorded(world.contacts.warm_start, *[world.contacts.solve] * 12)
        move = world.recorded(world.contacts.store, world.move)  # without the removal of depth, which has no momentum
        for _ in range(200):
            find()
            energy = world.kinetic()
            solve()
            # old impulses to start from may be too large, and passes take them back: all but a millionth
            assert world.kinetic() <= energy * (1.0 + 1e-6)
            move()
        hit += world.kinetic() < begin * 0.99
        tolerance = 3000.0 * float(EPS[precision]) + (1e-9 if parallel else 0.0)
        assert world.momentum()[0] == pytest.approx(before[0], abs=tolerance)
        assert world.momentum()[1] == pytest.approx(before[1], abs=tolerance)
    assert hit >= 4


# what must not happen ----------------------------------------------------------------------------------------------


@pytest.mark.req("B14")
@pytest.mark.parametrize("target", ["box", "mesh", "kinematic mesh"])
@pytest.mark.parametrize("thrown", [BOX, BALL, PILL], ids=["box", "ball", "pill"])
def test_nothing_fast_passes_a_thin_plate(target, thrown) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        scene = scene_of(gravity=0.0)
        if target == "box":
            scene.add_rigid_body(shapes.box(size=(3.0, 3.0, 0.01)), kind="static")
        else:
            kind = "static" if target == "mesh" else "kinematic"
            scene.add_rigid_body(level(shapes.sheet(size=(3.0, 3.0), resolution=(4, 4))), kind=kind)
        scene.add_rigid_body(
            thrown, at=(*rng.uniform(-0.3, 0.3, 2), 1.0 + rng.uniform(0, 0.2)), velocity=(3.0, 1.0, -30.0),
            rotation=tuple(rng.uniform(-2, 2, 3)), spin=tuple(rng.uniform(-5, 5, 3)), restitution=0.0,
        )  # fmt: skip
        world = RigidWorld(scene, 1 / 240)
        lowest = np.inf
        for _ in range(48):
            world.step()
            lowest = min(lowest, world.x[1, 2])
        assert lowest > 0.09


@pytest.mark.req("B14")
def test_deep_bodies_come_apart_without_speed() -> None:
    scene = scene_of(gravity=0.0)
    scene.add_rigid_body(BOX, at=(0.0, 0.0, 0.0))
    scene.add_rigid_body(BOX, at=(0.02, 0.01, 0.28))
    world = RigidWorld(scene, 1 / 600)
    world.step(200)
    assert world.kinetic() < 1e-12
    assert world.x[1, 2] - world.x[0, 2] == pytest.approx(0.3, abs=6e-4)
    assert world.x.mean(axis=0) == pytest.approx([0.01, 0.005, 0.14])


@pytest.mark.req("B14")
def test_a_pill_lies_still_and_a_ball_rolls() -> None:
    scene = scene_of()
    add_floor(scene, "box", 0.5)
    scene.add_rigid_body(PILL, at=(0.0, 0.0, 0.1), rotation=(0.0, np.pi / 2, 0.0))
    scene.add_rigid_body(BALL, at=(0.0, 1.0, 0.15), velocity=(1.0, 0.0, 0.0))
    scene.add_rigid_body(PILL, at=(0.0, -1.0, 0.1), rotation=(0.0, np.pi / 2, 0.0))
    scene.add_rigid_body(PILL, at=(0.0, -1.0, 0.3), rotation=(0.0, np.pi / 2, 0.0), friction=1.0)
    world = RigidWorld(scene, 1 / 600)
    world.step(600)
    assert world.x[1] == pytest.approx([0.0, 0.0, 0.1], abs=1e-3)
    assert world.v[2, 0] == pytest.approx(5 / 7, rel=0.01)  # sliding turned into rolling
    assert world.spin[2, 1] == pytest.approx(5 / 7 / 0.15, rel=0.01)
    assert world.x[2, 2] == pytest.approx(0.15, abs=1e-3)
    assert world.x[3] == pytest.approx([0.0, -1.0, 0.1], abs=2e-3)


@pytest.mark.req("B14")
@pytest.mark.parametrize("dim", [2, 3])
def test_a_moving_floor_carries_a_box(dim) -> None:
    for floor in ("wall", "kinematic"):
        scene = scene_of(dim)
        speed = (0.5, *[0.0] * (dim - 2), 0.2)
        if floor == "wall":
            scene.add_plane(point=(0.0,) * dim, normal=up(dim, 1.0), velocity=speed, friction=0.8)
        else:
            slab = (
                shapes.box(size=(6.0, 6.0, 0.2))
                if dim == 3
                else shapes.outline(points=[(-3, -0.1), (3, -0.1), (3, 0.1), (-3, 0.1)])
            )
            scene.add_rigid_body(slab, at=up(dim, -0.1), kind="kinematic", velocity=speed, friction=0.8)
        scene.add_rigid_body(box_of(dim), at=up(dim, 0.15), velocity=speed, friction=0.8)
        world = RigidWorld(scene, 1 / 600)
        start = world.x[-1]
        world.step(600)
        assert world.x[-1] - start == pytest.approx(speed, abs=2e-3)
        assert world.v[-1] == pytest.approx(speed, abs=1e-3)


# how it is computed ------------------------------------------------------------------------------------------------


def pile(dim=3, count=12, **options):
    rng = np.random.default_rng(1)
    scene = scene_of(dim)
    scene.add_ground()
    for i in range(count):
        turn = float(rng.uniform(-1, 1)) if dim == 2 else tuple(rng.uniform(-1, 1, 3))
        scene.add_rigid_body(box_of(dim), at=up(dim, 0.3 + 0.4 * i, *rng.uniform(-0.05, 0.05, dim - 1)), rotation=turn)
    return RigidWorld(scene, 1 / 600, **options)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("parallel", [False, True])
def test_kept_impulses_are_all_that_a_substep_needs_to_know(dim, parallel) -> None:
    world = pile(dim, parallel=parallel)
    world.step(400)
    other = pile(dim, parallel=parallel)
    for name in ("x", "v", "q", "angular", "spin"):
        getattr(other.state.rigid, name).assign(getattr(world.state.rigid, name))
    restore(other.contacts, saved(world.contacts))
    for w in (world, other):
        w.step(50)
    assert len(world.points()) > 3
    for name in ("x", "v", "q", "angular", "spin"):
        assert np.array_equal(getattr(world, name), getattr(other, name))


def test_worlds_do_not_touch_each_other() -> None:
    one, many = pile(precision="single"), pile(precision="single", worlds=3)
    for w in (one, many):
        w.step(300)
    for name in ("x", "q", "spin"):
        assert np.array_equal(getattr(many, name), np.tile(getattr(one, name), (3, 1)))


def test_too_many_pairs_are_told_and_growing_helps() -> None:
    world = pile(capacity=3)
    world.contacts.find()
    assert int(world.contacts.overflow.numpy()[0]) > 3
    world.contacts.grow()
    world.graph = None
    world.step(100)


def test_walls_alone() -> None:
    """pairs=False: bodies pass each other, and stop at walls."""
    scene = scene_of()
    scene.add_ground()
    for height in (0.15, 0.5):
        scene.add_rigid_body(BOX, at=(0.0, 0.0, height))
    world = RigidWorld(scene, 1 / 600, pairs=False)
    world.step(600)
    assert world.x[:, 2] == pytest.approx(0.15, abs=1e-3)
