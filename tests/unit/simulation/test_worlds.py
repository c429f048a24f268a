"""Single worlds of a batch: a restart, a copy or a failure in one leaves every bit of the others as it is."""

import numpy as np
import pytest

import turgor
from turgor import Gas, SceneError, Simulation, Springs, UnstableError, shapes

FRAMES = 12


def three_balls(**options):
    scene = turgor.Scene()
    scene.add_ground()
    for number in range(3):
        scene.add_soft_body(
            turgor.shapes.icosphere(0.3, 2), name=f"ball {number}", at=(0.1 * number, 0, 0.32 + 0.61 * number),
            mass=0.5, springs=turgor.Springs(stiffness=150.0, damping=0.3), gas=turgor.Gas.at(gauge=100.0),
        )  # fmt: skip
    return Simulation(scene, substeps=16, **options)


def pile(**options):
    return Simulation(turgor.gallery.load("pile"), substeps=12, **options)


def lone_ball(**options):
    scene = turgor.Scene()
    scene.add_ground()
    scene.add_soft_body(
        turgor.shapes.torus(0.4, 0.15, 16, 8), name="ring", at=(0, 0, 0.5), mass=1.0,
        springs=turgor.Springs(stiffness=300.0, damping=0.3), gas=turgor.Gas.at(gauge=20.0), velocity=(0, 0, -3),
    )  # fmt: skip
    return Simulation(scene, substeps=40, **options)


def touching_discs(**options):
    scene = turgor.Scene(dim=2)
    scene.add_ground()
    for number in range(3):
        scene.add_soft_body(
            turgor.shapes.circle(0.3, 24), name=f"disc {number}", at=(0.1 * number, 0.35 + 0.62 * number), mass=0.5,
            springs=turgor.Springs(stiffness=400.0, damping=0.5), gas=turgor.Gas.at(gauge=40.0),
        )  # fmt: skip
    return Simulation(scene, substeps=16, **options)


def overlapping(**options):
    """Two balls that are inside each other at the start, so that contact has a list of them."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    for number in range(2):
        scene.add_soft_body(
            turgor.shapes.icosphere(0.3, 2), name=f"ball {number}", at=(0.25 * number, 0, 0), mass=0.5,
            springs=turgor.Springs(stiffness=60.0, damping=0.3), gas=turgor.Gas.at(gauge=5.0),
        )  # fmt: skip
    return Simulation(scene, substeps=16, **options)


SCENES = [three_balls, pile, lone_ball, touching_discs, overlapping]


def motion(sim, world):
    """All that moves in a world, as bytes."""
    arrays = [sim.state.x, sim.state.v, sim.state.rigid.x, sim.state.rigid.q, sim.state.rigid.v, sim.state.rigid.spin]
    rows = [array.numpy().reshape(sim.worlds, -1)[world] for array in arrays if len(array)]
    return b"".join(row.tobytes() for row in rows)


def stepped(sim, frames):
    for _ in range(frames):
        sim.step()
    return sim


@pytest.mark.req("X6")
@pytest.mark.parametrize("make", SCENES)
def test_a_restarted_world_runs_as_at_first_and_the_others_as_ever(make):
    sim = stepped(make(worlds=3), FRAMES)
    first = motion(sim, 0)
    sim.restart([1])
    stepped(sim, FRAMES)
    undisturbed = stepped(make(worlds=3), 2 * FRAMES)
    assert motion(sim, 1) == first
    assert motion(sim, 0) == motion(undisturbed, 0) == motion(sim, 2)
    assert motion(sim, 0) != first


@pytest.mark.parametrize("make", [three_balls, pile, touching_discs])
def test_a_copy_goes_on_as_the_world_it_is_a_copy_of(make):
    sim = make(worlds=3)
    sim.gravity = np.outer([1.0, 0.7, 1.3], sim.gravity[0])
    stepped(sim, FRAMES)
    before = motion(sim, 0)
    sim.copy_world(2, [0])
    assert motion(sim, 0) == motion(sim, 2) != before
    assert np.array_equal(sim.gravity[0], sim.gravity[2])
    other = motion(sim, 1)
    stepped(sim, 3)
    assert motion(sim, 1) != other
    # contact lists and warm impulses of the copy are new, so the two agree as far as such a start does
    table = sim.positions
    assert np.abs(table[0] - table[2]).max() < 0.02 * np.abs(table[2] - table[1]).max()


def test_a_kept_start_is_that_of_each_world():
    sim = touching_discs(worlds=2)
    sim["disc 0"].velocities = np.array([[[1.0, 0.0]], [[-1.0, 0.0]]]) * np.ones((2, 24, 2))
    stepped(sim, 2)
    sim.keep_start()
    kept = [motion(sim, world) for world in range(2)]
    stepped(sim, FRAMES)
    sim.restart(np.array([True, False]))
    assert motion(sim, 0) == kept[0]
    assert motion(sim, 1) != kept[1]
    sim.restart()
    assert motion(sim, 1) == kept[1] != kept[0]


def test_one_world_alone_begins_again_at_time_zero():
    sim = touching_discs()
    start = sim.state_hash()
    stepped(sim, 2)
    sim.restart()
    assert sim.state_hash() == start
    assert sim.frame_index == 0


def with_gravity(make, **options):
    sim = make(worlds=4, **options)
    sim.gravity = np.outer([1.0, 1.1, 0.9, 1.05], sim.gravity[0])
    return sim


@pytest.mark.req("X6")
@pytest.mark.parametrize("make", [touching_discs, three_balls])
def test_worlds_that_fail_are_named_and_the_others_do_not_notice(make):
    sim, fine = with_gravity(make), with_gravity(make)
    stepped(sim, 4), stepped(fine, 4)
    name = next(iter(sim.bodies))
    stiffness = np.array(sim[name].stiffness)
    sim[name].stiffness = stiffness * np.array([1.0, 1e7, 1.0, 1e7])
    fine[name].stiffness = stiffness
    with pytest.raises(UnstableError, match="world 1: body") as failure:
        stepped(sim, 3)
    assert failure.value.worlds == (1, 3)
    assert all(f"body {name!r}" in reason for reason in failure.value.reasons.values())
    assert "1 more of 4 worlds" in str(failure.value)
    sim.copy_world(0, failure.value.worlds)
    while fine.frame_index < 10:
        fine.step()
    while sim.frame_index < 10:
        sim.step()
    for world in (0, 2):
        assert motion(sim, world) == motion(fine, world)
    assert sim.finite


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_worlds_that_fail_for_other_reasons_at_once_each_have_their_own():
    """A rigid body beside one that is too stiff: only soft ones ask for substeps."""
    scene = turgor.Scene(dim=2, gravity=0)
    scene.add_soft_body(turgor.shapes.circle(0.3, 24), name="disc", mass=0.5, gas=turgor.Gas.at(gauge=40.0),
                        springs=turgor.Springs(stiffness=400.0, damping=0.5))  # fmt: skip
    scene.add_rigid_body(turgor.shapes.polygon(sides=4, points=4), name="box", at=(5.0, 0.0), mass=100.0)
    sim = Simulation(scene, solver="symplectic", worlds=3, max_substeps=500)
    sim.step()
    sim["disc"].stiffness = [400.0, 1e9, 400.0]
    sim["box"].spin = [0.0, 0.0, 3e38]  # rad/s: its angular momentum is beyond all numbers
    with pytest.raises(UnstableError) as failure:
        stepped(sim, 2)
    reasons = failure.value.reasons
    assert set(reasons) == {1, 2}
    assert "'disc'" in reasons[1]
    assert "more than max_substeps = 500" in reasons[1]
    assert "'box'" in reasons[2]
    assert "diverged" in reasons[2]


def test_worlds_that_are_too_stiff_are_named():
    scene = turgor.Scene(dim=2)
    scene.add_soft_body(turgor.shapes.circle(0.3, 24), name="disc", mass=0.5, gas=turgor.Gas.at(gauge=40.0),
                        springs=turgor.Springs(stiffness=400.0, damping=0.5))  # fmt: skip
    sim = Simulation(scene, solver="symplectic", worlds=3, max_substeps=500)
    sim.step()
    sim["disc"].stiffness = [400.0, 1e9, 400.0]
    with pytest.raises(UnstableError, match="more than max_substeps = 500") as failure:
        stepped(sim, 2)
    assert failure.value.worlds == (1,)
    sim.copy_world(0, failure.value.worlds)
    sim.step()
    assert sim.finite


@pytest.mark.parametrize("wrong", [[3], [-1], [0.5], np.array([True, False]), [[0]]])
def test_worlds_that_are_not_there(wrong):
    sim = touching_discs(worlds=3)
    with pytest.raises(SceneError, match=r"worlds are numbers from 0 to 2|one entry per world \(3\)"):
        sim.restart(wrong)


def test_glue_gives_each_body_its_own_sum_in_every_world():
    """Two rigid bodies, glued alternately: what pulls at one is the sum over its own vertices, world by world."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    scene.add_soft_body(
        shapes.icosphere(0.3, 2), name="ball", mass=0.5, springs=Springs(stiffness=150.0), gas=Gas.at(gauge=100.0)
    )
    for name, z in (("top", 0.4), ("bottom", -0.4)):
        scene.add_rigid_body(shapes.box((0.2, 0.2, 0.2)), name=name, at=(0, 0, z), mass=1.0)
    for number, name in enumerate(("top", "bottom", "top", "bottom")):
        scene.attach("ball", (10 + number,), name)
    sim = Simulation(scene, worlds=3, substeps=60)
    sim["ball"].gauge_pressure = [50.0, 100.0, 400.0]
    stepped(sim, 2)
    for world, gauge in enumerate((50.0, 100.0, 400.0)):
        alone = Simulation(scene, substeps=60)
        alone["ball"].gauge_pressure = gauge
        stepped(alone, 2)
        assert motion(sim, world) == motion(alone, 0)
