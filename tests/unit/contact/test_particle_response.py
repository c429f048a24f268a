"""2009's contact method, launched by hand (B12, B14, B15): what it does to bodies that touch."""

import numpy as np
import pytest

import turgor
from support.contact_stage import BALL, RING, Stage, scene_of, two_balls
from support.laws import EPS, PRECISIONS


def momenta(stage):
    """Linear and angular momentum of the soft vertices, and the size of what could have cancelled."""
    x, p = stage.x, stage.mass[:, None] * stage.v
    wide = np.zeros((len(x), 3)), np.zeros((len(x), 3))
    wide[0][:, : x.shape[1]], wide[1][:, : x.shape[1]] = x, p
    return p.sum(axis=0), np.cross(*wide).sum(axis=0), np.abs(p).sum()


@pytest.mark.req("B14")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
def test_a_soft_pair_keeps_its_momentum(dim, precision):
    stage = Stage(two_balls(0.02, dim=dim, offset=0.2, friction=0.8), precision=precision)
    random = np.random.default_rng(5)
    stage.plan(stage.v + 0.1 * random.normal(size=stage.v.shape))
    before, _, size = momenta(stage)
    hits = 0.0
    for _ in range(15):
        stage.respond()
        hits += stage.contacts.found()["impulse"].sum()
    after = momenta(stage)[0]
    assert hits > 0.005
    tolerance = 100 * EPS[precision] * size
    assert np.abs(after - before).max() <= tolerance


@pytest.mark.req("B14")
@pytest.mark.parametrize("dim", [2, 3])
def test_without_friction_a_response_keeps_angular_momentum(dim):
    stage = Stage(two_balls(0.02, dim=dim, offset=0.2, friction=0.0))
    hits = 0.0
    for _ in range(15):
        x = stage.x
        stage.plan(stage.v)
        before = momenta(stage)[1]
        stage.contacts.find()
        after, size = momenta(stage)[1:]
        assert np.abs(after - before).max() <= 1e-12 * size
        hits += stage.contacts.found()["impulse"].sum()
        stage.put(x + stage.move)
    assert hits > 0.0


@pytest.mark.req("B14")
@pytest.mark.parametrize("dim", [2, 3])
def test_a_response_adds_no_energy(dim):
    stage = Stage(two_balls(0.02, dim=dim, offset=0.1, friction=0.5, restitution=1.0))
    for _ in range(20):
        before = (stage.mass[:, None] * stage.v**2).sum()
        stage.respond()
        assert (stage.mass[:, None] * stage.v**2).sum() <= before * (1.0 + 1e-12)
    assert stage.v[stage.body(0), 0].mean() < 0.999


def settled_and_shifted(dim, depth):
    """Balls at rest, vertex towards face, that have come to overlap by `depth` after their particles had settled."""
    stage = Stage(two_balls(0.06, dim=dim, speed=3.0, offset=0.05))
    stage.respond(8)  # 48 mm closer
    x = stage.x
    x[stage.body(1), 0] -= x[stage.body(1), 0].min() - x[stage.body(0), 0].max() + depth
    stage.put(x)
    stage.plan(np.zeros_like(x))
    return stage


@pytest.mark.req("B14")
@pytest.mark.parametrize("dim", [2, 3])
def test_nothing_is_pulled(dim):
    """Bodies inside each other that move apart are left alone, though their features touch."""
    stage = settled_and_shifted(dim, 0.02)
    v = stage.v * 0.0
    v[stage.body(0), 0], v[stage.body(1), 0] = -1.0, 1.0
    stage.plan(v)
    stage.contacts.find()
    found = stage.contacts.found()
    assert len(found["impulse"]) > 0
    assert (found["depth"] > 0.0).any()
    assert (found["impulse"] == 0.0).all()
    assert (stage.v == v).all()


@pytest.mark.req("B14")
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_one_contact_bounces_with_the_restitution(restitution):
    """A vertex on a face: the relative normal velocity is reversed times e, and friction stops what mu j can."""
    stage = Stage(two_balls(0.05, speed=0.0, restitution=restitution, friction=0.2))
    contacts, m = stage.contacts, stage.model
    corners = m.faces.numpy().reshape(-1, 3)
    face = corners[corners[:, 0] >= m.starts[1]][0]
    rows = {
        "bodies": [0, 1], "first": [3, 3, 3], "first_weights": [1.0, 0.0, 0.0], "second": face,
        "second_weights": [0.2, 0.3, 0.5], "rigid": -1, "normal": [-1.0, 0.0, 0.0], "gap": 0.0,
        "thickness": 0.0, "separate": 0,
    }  # fmt: skip
    for name, value in rows.items():
        array = getattr(contacts.contacts, name)
        table = array.numpy()
        table[0] = value
        array.assign(table)
    contacts.contact_count.fill_(1)
    counts = contacts.contacts.vertex_contacts.numpy()
    counts[[3, *face]] = 1
    contacts.contacts.vertex_contacts.assign(counts)
    v = np.zeros_like(stage.v)
    v[3] = [1.0, 0.7, 0.0]
    stage.state.v.assign(v)
    contacts.resolve()
    after = stage.v
    side = np.array([0.2, 0.3, 0.5]) @ after[face]
    assert (after[3] - side)[0] == pytest.approx(-restitution, abs=1e-12)
    impulse = contacts.found()["impulse"][0]
    mass = stage.mass
    inverse = 1.0 / mass[3] + (np.array([0.04, 0.09, 0.25]) / mass[face]).sum()  # the masses of the features
    assert impulse == pytest.approx((1.0 + restitution) / inverse, rel=1e-12)
    assert (after[3] - side)[1] == pytest.approx(0.7 - 0.2 * (1.0 + restitution), abs=1e-12)
    assert (contacts.contacts.vertex_contacts.numpy() == 0).all()


@pytest.mark.req("B11", "B14")
@pytest.mark.parametrize("dim", [2, 3])
def test_normals_point_from_the_second_body_of_a_row_to_the_first(dim):
    stage = Stage(two_balls(0.02, dim=dim, offset=0.05))
    seen = 0
    for _ in range(15):
        stage.respond()
        found = stage.contacts.found()
        seen += len(found["depth"])
        if len(found["depth"]):
            towards = np.where(found["pair"][:, 0] == 0, -1.0, 1.0)
            assert (found["normal"][:, 0] * towards > 0.5).all()
    assert seen > 0


@pytest.mark.req("B15")
@pytest.mark.parametrize("dim", [2, 3])
def test_crossed_features_are_moved_apart(dim):
    """Where particles have settled, features that have passed through each other come out; the centre stays."""
    stage = settled_and_shifted(dim, 0.03)
    centre = (stage.mass[:, None] * stage.x).sum(axis=0)
    stage.contacts.find()
    found, size = stage.contacts.found(), np.abs(stage.mass[:, None] * stage.x).sum()
    crossed = found["depth"] > 2.0 * stage.surfaces.thickness.numpy()[0]
    assert crossed.any()
    towards = np.where(found["pair"][:, 0] == 0, -1.0, 1.0)
    assert (found["normal"][:, 0] * towards > 0.0).all()
    moved = stage.mass[:, None] * stage.move
    assert moved[stage.body(0), 0].sum() < -1e-6
    assert np.abs(moved.sum(axis=0)).max() <= 1e-15 * size
    assert (stage.v == 0.0).all()
    before = found["depth"].max()
    stage.put(stage.x + stage.move)
    for _ in range(30):
        stage.respond()
    assert stage.contacts.found()["depth"].max(initial=0.0) < 0.5 * before
    assert np.abs((stage.mass[:, None] * stage.x).sum(axis=0) - centre).max() <= 1e-13 * size


# soft and rigid -------------------------------------------------------------------------------------------------------


def ball_on_box(height, *, kind="static", dim=3, precision="double", **options):
    """A ball above a box whose top is at 0."""
    shape = BALL() if dim == 3 else RING()
    block = turgor.shapes.box(size=(3.0, 3.0, 1.0)) if dim == 3 else turgor.shapes.outline(
        [[-1.5, -0.5], [1.5, -0.5], [1.5, 0.5], [-1.5, 0.5]]
    )  # fmt: skip
    at = (0.05, 0.03, 0.5 + height) if dim == 3 else (0.05, 0.5 + height)
    low = (0.0, 0.0, -0.5) if dim == 3 else (0.0, -0.5)
    scene = scene_of(dim, (shape, {"at": at, **options}), rigid=[(block, {"at": low, "kind": kind, "mass": 2.0})])
    return Stage(scene, precision=precision)


@pytest.mark.req("B12", "B15")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
def test_soft_vertices_inside_a_box_are_pushed_out_by_the_skin(dim, precision):
    stage = ball_on_box(-0.1, dim=dim, precision=precision)
    deep = stage.x[:, -1] < 0.0
    assert deep.sum() > 2
    stage.respond(2)
    skins = float(stage.surfaces.thickness.numpy().sum())
    assert stage.x[deep, -1] == pytest.approx(skins, abs=float(100 * EPS[precision]))
    found = stage.contacts.found()
    assert found["normal"][:, -1] == pytest.approx(1.0, abs=1e-5)
    assert (stage.v == 0.0).all()


@pytest.mark.req("B12", "B14")
@pytest.mark.parametrize("dim", [2, 3])
def test_soft_and_rigid_exchange_momentum(dim):
    velocity = (0.3,) + (0.0,) * (dim - 2) + (-2.0,)
    stage = ball_on_box(0.02, kind="dynamic", dim=dim, velocity=velocity, restitution=0.5)
    rigid = stage.state.rigid
    before, _, size = momenta(stage)
    stage.respond(15)
    after = momenta(stage)[0]
    push = 2.0 * rigid.v.numpy()[0]
    assert push[-1] < -0.05
    assert push[0] > 0.0  # friction
    assert np.abs(after + push - before).max() <= 1e-12 * size
    spin, angular = rigid.spin.numpy()[0], rigid.angular.numpy()[0]
    inertia = stage.scratch.rigid.world_inertia.numpy()[0]
    assert np.allclose(spin, inertia @ angular if dim == 3 else inertia * angular)


@pytest.mark.req("B12")
@pytest.mark.parametrize("dim", [2, 3])
def test_a_corner_inside_a_soft_body_is_pushed_out(dim):
    """A small box, one corner in a face of a large ball: no soft vertex is inside it."""
    size = (0.06,) * dim
    block = turgor.shapes.box(size=size) if dim == 3 else turgor.shapes.outline(
        [[-0.03, -0.03], [0.03, -0.03], [0.03, 0.03], [-0.03, 0.03]]
    )  # fmt: skip
    shape = BALL() if dim == 3 else RING()
    middle = shape.vertices[shape.faces[0]].mean(axis=0)
    at = tuple(middle * (1.0 + 0.025 / np.linalg.norm(middle)))
    scene = scene_of(dim, (shape, {}), rigid=[(block, {"at": at, "mass": 0.01})])
    stage = Stage(scene)
    stage.contacts.find()
    found, out = stage.contacts.found(), middle / np.linalg.norm(middle)
    deep = found["depth"] > float(stage.surfaces.thickness.numpy().sum())
    assert deep.any()
    assert (found["normal"][deep] @ out < -0.9).all()  # from the box into the ball
    push = stage.scratch.rigid.push_move.numpy()[0]
    assert push @ out > 0.001
    moved = (stage.mass[:, None] * stage.move).sum(axis=0) + 0.01 * push
    assert np.abs(moved).max() < 1e-12


@pytest.mark.req("B12")
@pytest.mark.parametrize("collider", ["sphere", "capsule", "mesh"])
def test_round_and_mesh_colliders_keep_their_distance(collider):
    shapes = turgor.shapes
    shape = {
        "sphere": lambda: shapes.icosphere(radius=0.3, subdivisions=2),
        "capsule": lambda: shapes.capsule(radius=0.2, height=0.2),
        "mesh": lambda: shapes.box(size=(2.0, 2.0, 0.6)),
    }[collider]()
    ball = (BALL(), {"at": (0.0, 0.0, 0.82), "velocity": (0.0, 0.0, -2.0)})
    options = {"kind": "static"} | ({"collider": "mesh"} if collider == "mesh" else {})
    stage = Stage(scene_of(3, ball, rigid=[(shape, options)]))
    assert stage.model.rigids.collision[0].kind == collider
    stage.respond(30)
    x = stage.x
    if collider == "sphere":
        assert np.linalg.norm(x, axis=1).min() > 0.3
    elif collider == "mesh":
        assert x[:, 2].min() > 0.3
    assert stage.v[:, 2].max() > -1e-9  # some vertices have been stopped
    assert len(stage.contacts.found()["depth"]) > 0


@pytest.mark.req("B12")
def test_glued_vertices_do_not_touch_their_own_body():
    block = turgor.shapes.box(size=(0.4, 0.4, 0.4))
    scene = scene_of(3, (BALL(), {"at": (0.0, 0.0, 0.68)}), rigid=[(block, {"mass": 1.0})])
    low = np.argsort(BALL().vertices[:, 2])[:1]
    scene.attach("soft0", low.tolist(), "rigid0")
    stage = Stage(scene)
    stage.contacts.find()
    found = stage.contacts.found()
    glued = int(stage.model.glue.vertex.numpy()[0])
    assert glued not in stage.contacts.contacts.first.numpy()[: len(found["depth"]), 0].tolist()


# worlds ---------------------------------------------------------------------------------------------------------------


def test_worlds_are_alone_and_alike():
    scene = two_balls(0.02, offset=0.1)
    scene.add_rigid_body(turgor.shapes.box(size=(0.5, 0.5, 0.5)), name="block", at=(0.5, 0.0, -0.55))
    one, three = Stage(scene), Stage(scene, worlds=3)
    one.respond(12)
    three.respond(12)
    count = one.model.vertices
    assert np.abs(one.v - np.tile(one.model.initial_velocities, (1, 1))).max() > 0.1
    for world in range(3):
        assert (three.x[world * count : (world + 1) * count] == one.x).all()
        assert (three.v[world * count : (world + 1) * count] == one.v).all()
    pairs = three.contacts.found()["pair"] // three.surfaces.bodies
    assert (pairs[:, 0] == pairs[:, 1]).all()
    assert set(pairs[:, 0].tolist()) == {0, 1, 2}
