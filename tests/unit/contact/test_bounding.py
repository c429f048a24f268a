"""2003's contact, C4: one substep of the response, without a simulation around it."""

import numpy as np
import pytest
import warp as wp

import turgor
from support.contact_stage import Stage
from support.laws import EPS, PRECISIONS
from turgor.contact.matyka2003 import response
from turgor.contact.matyka2003.method import BoundingContacts

pytestmark = pytest.mark.req("C4")
DIMS = [2, 3]
DT = 1e-3


class Rig(Stage):
    """The bounding method, with momentum and energy of soft and rigid bodies together."""

    def __init__(self, scene, precision="double", worlds=1, dt=DT):
        super().__init__(scene, BoundingContacts, precision=precision, worlds=worlds, dt=dt)

    def momentum(self):
        r = self.state.rigid
        inverse = self.model.rigids.inverse_mass.numpy()
        mass = np.where(inverse > 0, 1.0 / np.where(inverse > 0, inverse, 1.0), 0.0)
        return self.mass @ self.v + mass @ r.v.numpy().astype(float).reshape(-1, self.v.shape[1])

    def angular(self):
        """About the origin; bodies of finite mass only."""
        r = self.state.rigid
        mass = 1.0 / self.model.rigids.inverse_mass.numpy()
        spins = np.cross(r.x.numpy(), mass[:, None] * r.v.numpy()).sum(0) + r.angular.numpy().sum(0)
        return np.cross(self.x, self.mass[:, None] * self.v).sum(0) + spins

    def energy(self):
        r, inverse = self.state.rigid, self.model.rigids.inverse_mass.numpy()
        free = inverse > 0
        kinetic = 0.5 * self.mass @ (self.v**2).sum(1)
        if free.any():
            kinetic += 0.5 * ((r.v.numpy()[free] ** 2).sum(1) / inverse[free]).sum()
            spin, angular = (a.numpy()[free].reshape(free.sum(), -1) for a in (r.spin, r.angular))
            kinetic += 0.5 * (spin * angular).sum()
        return float(kinetic)


def ball(dim, radius=0.5):
    shapes = turgor.shapes
    return shapes.circle(radius=radius, points=24) if dim == 2 else shapes.icosphere(radius=radius, subdivisions=2)


def two_balls(dim, gap=-0.05, speed=1.0, masses=(1.0, 1.0), aside=0.0, **options):
    """The first flies at the second, along the first axis."""
    scene = turgor.Scene(dim=dim, gravity=0.0)
    at, velocity = np.zeros(dim), np.zeros(dim)
    at[0], at[1], velocity[0] = -1.0 - gap, aside, speed
    options = {"restitution": 0.0, "friction": 0.0} | options
    scene.add_soft_body(ball(dim), name="a", at=at, velocity=velocity, mass=masses[0], **options)
    scene.add_soft_body(ball(dim), name="b", mass=masses[1], **options)
    return scene


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("masses", [(1.0, 1.0), (30.0, 0.1), (0.1, 30.0)])
@pytest.mark.parametrize("dim", DIMS)
def test_soft_bodies_keep_momentum_and_gain_no_energy(dim, masses, precision):
    rig = Rig(two_balls(dim, gap=-0.3, masses=masses, aside=0.2, restitution=1.0, friction=0.5), precision)
    momentum, energy, scale = rig.momentum(), rig.energy(), max(masses)
    for _ in range(5):
        rig.contacts.find()
        np.testing.assert_allclose(rig.momentum(), momentum, atol=2e2 * EPS[precision] * scale)
        assert rig.energy() <= energy * (1.0 + 1e2 * EPS[precision])
        energy = rig.energy()
    assert len(rig.contacts.found()["pair"]) > 3
    assert np.abs(rig.momentum() - rig.mass[: rig.soft // 2] @ rig.v[: rig.soft // 2]).max() > 1e-3  # both move


@pytest.mark.parametrize("kind", ["sphere", "box"])
def test_soft_and_rigid_keep_both_momenta(kind):
    scene = turgor.Scene(gravity=0.0)
    scene.add_soft_body(ball(3), at=(-0.9, 0.2, 0.1), velocity=(2.0, 0.0, 0.0), restitution=0.5, friction=0.4)
    shape = ball(3) if kind == "sphere" else turgor.shapes.box(size=(0.9, 0.9, 0.9))
    scene.add_rigid_body(shape, mass=0.7, rotation=(0.3, 0.2, 0.1))
    rig = Rig(scene)
    momentum, angular, energy = rig.momentum(), rig.angular(), rig.energy()
    rig.contacts.find()
    assert np.linalg.norm(rig.state.rigid.v.numpy()) > 0.01
    np.testing.assert_allclose(rig.momentum(), momentum, atol=1e-12)
    if kind == "sphere":  # its centre is outside of the soft ball: only impulses at the points, which keep both
        np.testing.assert_allclose(rig.angular(), angular, atol=1e-12)
    assert rig.energy() <= energy
    # velocity and momentum of the rigid body agree
    spin = rig.scratch.rigid.world_inertia.numpy()[0] @ rig.state.rigid.angular.numpy()[0]
    np.testing.assert_allclose(rig.state.rigid.spin.numpy()[0], spin, atol=1e-12)


@pytest.mark.parametrize("dim", DIMS)
def test_velocity_is_split_and_each_part_is_scaled(dim):
    """On a static ball: the normal part is reflected and scaled by e, the tangent part loses mu (1 + e) times it."""
    e, mu = 0.5, 0.2
    scene = turgor.Scene(dim=dim, gravity=0.0)
    at, velocity = np.zeros(dim), np.zeros(dim)
    at[0], velocity[0], velocity[1] = -0.95, 1.0, 2.0
    scene.add_soft_body(ball(dim), at=at, velocity=velocity, restitution=e, friction=mu)
    scene.add_rigid_body(ball(dim), kind="static", restitution=e, friction=mu)
    rig = Rig(scene)
    before = rig.v
    inside = np.linalg.norm(rig.x + rig.move, axis=1) < 0.5
    normal = (rig.x + rig.move) / np.linalg.norm(rig.x + rig.move, axis=1, keepdims=True)
    approach = (before * normal).sum(1)
    rig.contacts.find()
    touched = inside & (approach < 0.0)
    assert touched.sum() >= 2
    after_normal = (rig.v * normal).sum(1)
    np.testing.assert_allclose(after_normal[touched], -e * approach[touched], rtol=1e-9)
    slide = before - approach[:, None] * normal
    kept = np.maximum(0.0, 1.0 - mu * (1 + e) * -approach / np.linalg.norm(slide, axis=1))
    after_slide = rig.v - after_normal[:, None] * normal
    np.testing.assert_allclose(after_slide[touched], (kept[:, None] * slide)[touched], atol=1e-9)
    assert 0.0 < kept[touched].min() < 1.0
    np.testing.assert_array_equal(rig.v[~inside], before[~inside])


def test_slow_impacts_do_not_bounce():
    scene = turgor.Scene(gravity=0.0)
    scene.add_soft_body(ball(3), at=(-0.95, 0.0, 0.0), velocity=(0.05, 0.0, 0.0), restitution=1.0, friction=0.0)
    scene.add_rigid_body(ball(3), kind="static", restitution=1.0)
    rig = Rig(scene)
    normal = (rig.x + rig.move) / np.linalg.norm(rig.x + rig.move, axis=1, keepdims=True)
    rig.contacts.find()
    touched = rig.contacts.found()["pair"][:, 0] == 0
    assert touched.any()
    assert np.abs((rig.v * normal).sum(1)[np.linalg.norm(rig.x + DT * 0.05, axis=1) < 0.5]).max() < 1e-9


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", DIMS)
def test_movement_is_cut_at_the_object(dim, precision):
    """What would go in ends on the surface."""
    scene = turgor.Scene(dim=dim, gravity=0.0)
    at, velocity = np.zeros(dim), np.zeros(dim)
    at[0], velocity[0] = -1.001, 20.0
    scene.add_soft_body(ball(dim), at=at, velocity=velocity)
    scene.add_rigid_body(ball(dim), kind="static")
    rig = Rig(scene, precision)
    assert np.linalg.norm(rig.x + rig.move, axis=1).min() < 0.49
    rig.contacts.find()
    assert np.linalg.norm(rig.x + rig.move, axis=1).min() > 0.5 - 20 * EPS[precision]


@pytest.mark.parametrize("what", ["mesh", "cloth"])
def test_nothing_passes_a_sheet(what):
    """At 30 m/s a point would be 3 cm behind it; a cloth is held at all its points."""
    scene = turgor.Scene(gravity=0.0)
    sheet = turgor.shapes.sheet(size=(3.0, 3.0), resolution=7)
    if what == "mesh":
        scene.add_rigid_body(sheet, kind="static", collider="mesh")
    else:
        scene.add_cloth(sheet, pins=list(range(len(sheet.vertices))), friction=0.0, restitution=0.0)
    scene.add_soft_body(ball(3), at=(0.0, 0.51, 0.0), velocity=(0.0, -30.0, 0.0), friction=0.0, restitution=0.0)
    rig = Rig(scene)
    flying = rig.x[:, 1] > 0.005
    assert (rig.x + rig.move)[flying, 1].min() < -0.015
    rig.contacts.find()
    assert (rig.x + rig.move)[flying, 1].min() >= 0.0


def test_overlap_is_pushed_out_gently_and_ends():
    """Two balls that start inside each other part, slowly, and stop when they are apart; nothing is kicked."""
    scene = two_balls(3, gap=-0.4, speed=0.0)
    rig = Rig(scene, dt=1e-2)
    largest = 0.0
    for _ in range(400):
        rig.contacts.find()
        move = rig.move
        largest = max(largest, float(np.linalg.norm(move, axis=1).max()))
        rig.put(rig.x + move)
        rig.scratch.move.zero_()
    assert 0.0 < largest <= 1.01e-2 * 2 * response.PUSH_RATE * 0.5
    assert np.abs(rig.v).max() < 1e-12
    rig.contacts.find()
    depth = rig.contacts.found()["depth"]
    assert depth.size == 0 or depth.max() < 1e-3


def test_a_ball_inside_a_larger_one_leaves_as_a_whole():
    scene = turgor.Scene(gravity=0.0)
    scene.add_soft_body(ball(3, 0.2), at=(0.3, 0.0, 0.0))
    scene.add_soft_body(ball(3, 1.0))
    rig = Rig(scene)
    rig.contacts.find()
    small = rig.move[: len(rig.move) // 2]
    np.testing.assert_allclose(small / np.linalg.norm(small, axis=1, keepdims=True), [[1, 0, 0]] * len(small), atol=0.2)
    assert np.linalg.norm(small, axis=1).max() <= 1.01 * DT * response.PUSH_RATE


def test_worlds_do_not_meet():
    alone, many = Rig(two_balls(3, gap=-0.1)), Rig(two_balls(3, gap=-0.1), worlds=3)
    alone.contacts.find()
    many.contacts.find()
    np.testing.assert_allclose(many.v.reshape(3, -1, 3), np.broadcast_to(alone.v, (3, *alone.v.shape)), atol=1e-14)
    found = many.contacts.found()["pair"]
    assert (found[:, 0] // 2 == found[:, 1] // 2).all()
    assert len(found) == 3 * len(alone.contacts.found()["pair"])


def test_overflow_is_told_and_growing_helps():
    rig = Rig(two_balls(3, gap=-0.3))
    expected = Rig(two_balls(3, gap=-0.3))
    expected.contacts.find()
    rig.contacts.capacity, rig.contacts.pair_capacity = 3, 1
    rig.contacts._buffers()
    kept = wp.clone(rig.state.point_v), wp.clone(rig.scratch.move)
    rounds = 0
    while True:
        rig.contacts.find()
        if not rig.contacts.overflow.numpy()[0]:
            break
        rig.contacts.grow()
        wp.copy(rig.state.point_v, kept[0])
        wp.copy(rig.scratch.move, kept[1])
        rounds += 1
        assert rounds < 6
    assert rounds > 0
    np.testing.assert_array_equal(rig.v, expected.v)


def test_found_tells_who_where_and_how_hard():
    rig = Rig(two_balls(3, gap=-0.05))
    rig.contacts.find()
    found = rig.contacts.found()
    assert set(map(tuple, found["pair"])) == {(0, 1), (1, 0)}
    first = found["pair"][:, 0] == 0
    assert (found["normal"][first, 0] < -0.5).all()  # from the second to the first
    assert (found["normal"][~first, 0] > 0.5).all()
    assert found["impulse"].max() > 0.0
    assert (found["depth"] > 0.0).all()
    assert np.abs(found["point"][:, 0] + 0.475).max() < 0.1


def test_pinned_points_stay():
    scene = turgor.Scene(gravity=0.0)
    scene.add_soft_body(ball(3), at=(-0.9, 0.0, 0.0), velocity=(3.0, 0.0, 0.0))
    scene.add_soft_body(ball(3), name="held", pins=list(range(len(ball(3).vertices))))
    rig = Rig(scene)
    rig.contacts.find()
    half = rig.soft // 2
    np.testing.assert_array_equal(rig.v[half:], 0.0)
    np.testing.assert_array_equal(rig.move[half:], 0.0)
    assert (rig.mass[:half] @ rig.v[:half])[0] < 3.0


def test_what_is_glued_together_does_not_touch():
    scene = turgor.Scene(gravity=0.0)
    scene.add_soft_body(ball(3), name="soft")
    scene.add_rigid_body(ball(3, 0.3), name="core", at=(0.4, 0.0, 0.0))
    rig = Rig(scene, worlds=2)
    rig.contacts.find()
    assert len(rig.contacts.found()["pair"]) > 0
    scene.attach("soft", "top", "core")
    rig = Rig(scene, worlds=2)
    rig.contacts.find()
    assert len(rig.contacts.found()["pair"]) == 0


@pytest.mark.parametrize("precision", PRECISIONS)
def test_flat_rigid_box_gets_the_opposite_impulse_where_it_was_hit(precision):
    """A disc hits the upper end of a bar: the bar is pushed and turned; momentum is kept."""
    scene = turgor.Scene(dim=2, gravity=0.0)
    scene.add_soft_body(ball(2, 0.2), at=(-0.24, 0.7), velocity=(20.0, 0.0), friction=0.0, restitution=0.0)
    bar = turgor.shapes.outline([(-0.05, -1.0), (0.05, -1.0), (0.05, 1.0), (-0.05, 1.0)])
    scene.add_rigid_body(bar, mass=2.0, friction=0.0, restitution=0.0)
    rig = Rig(scene, precision)
    before, energy = rig.momentum(), rig.energy()
    rig.contacts.find()
    np.testing.assert_allclose(rig.momentum(), before, atol=2e2 * EPS[precision])
    assert rig.state.rigid.v.numpy()[0, 0] > 0.0
    assert rig.state.rigid.spin.numpy()[0] < 0.0
    assert rig.energy() < energy
    mass, inertia = 2.0, 2.0 * (0.1**2 + 2.0**2) / 12.0
    hit = rig.state.rigid.v.numpy()[0, 0] * mass
    assert rig.state.rigid.spin.numpy()[0] * inertia == pytest.approx(-0.7 * hit, rel=0.05)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("volume", ["ellipsoid", "ball", "box"])
def test_a_box_first_finds_the_same_contacts(volume, precision):
    """Footnote 4 of the paper: the box holds the ellipsoid, so only time can differ."""
    found = []
    for boxed in (0, 1):
        stage = Rig(two_balls(3, -0.2, aside=0.15, volume=volume, gas=turgor.Gas(nRT=1.0)), precision)
        stage.contacts.boxed = boxed
        stage.respond(3)
        contacts = stage.contacts.found()
        order = np.lexsort((*contacts["point"].T, contacts["pair"][:, 0]))
        found.append([contacts[key][order] for key in ("pair", "point", "normal", "depth", "impulse")])
        assert len(order) > 5
    for alone, first in zip(*found, strict=True):
        assert np.array_equal(alone, first)
