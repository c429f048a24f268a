"""As many particles as find contacts: `contact="particles-adaptive"` (B10; Martin 2009, section 7)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import turgor
from support.contact_stage import Stage, scene_of, two_balls
from support.program import EXE
from turgor.contact.martin2009.method import AdaptiveParticleContacts, ParticleContacts
from turgor.contact.martin2009.placement import LEAST_PARTICLES, MOST_TIMES
from turgor.diagnose import penetration

pytestmark = pytest.mark.req("B10")


def in_use(stage: Stage) -> np.ndarray:
    """(pairs, 2): particles of the first and of the second body."""
    return stage.contacts.particle_active.numpy().reshape(-1, 2)


def two_squares() -> turgor.Scene:
    """In 2D, side by side: 33 features of each face the other (of two rings it would be a handful)."""
    square = turgor.shapes.outline([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]], spacing=1 / 16)
    return scene_of(2, (square, {"velocity": (0.5, 0.0)}), (square, {"at": (1.0 + 1e-4, 0.0), "velocity": (-0.5, 0.0)}))


def resting(stage: Stage, side: int) -> np.ndarray:
    """Features on which the particles of a body of the only pair rest."""
    room = stage.contacts.features.pair_counts[0]
    first = side * room[0]
    return stage.contacts.particle_feature.numpy()[first : first + in_use(stage)[0][side]]


@pytest.mark.parametrize("dim", [2, 3])
def test_more_particles_where_they_find_contacts(dim: int) -> None:
    """Two bodies pressed together: at most twice as many per substep, never two on one feature, up to the limit."""
    scene = two_balls(-0.15, speed=0.5) if dim == 3 else two_squares()
    stage = Stage(scene, AdaptiveParticleContacts)
    start, room = in_use(stage)[0].copy(), stage.contacts.features.pair_counts[0]
    seen = [start]
    for _ in range(5):  # they gather before anything is pushed apart
        stage.contacts.find_pairs()
        stage.contacts.move_particles()
    for _ in range(6):
        stage.respond()
        seen.append(in_use(stage)[0].copy())
        for side in (0, 1):
            places = resting(stage, side)
            assert len(np.unique(places)) == len(places)
            low, high = stage.contacts.features.feature_start[side : side + 2]
            assert low <= places.min()
            assert places.max() < high
        assert np.all(seen[-1] <= np.minimum(2 * seen[-2], room))
    assert np.all(np.max(seen, axis=0) > start)
    assert np.all(room <= MOST_TIMES * start)


def test_fewer_particles_where_nothing_touches() -> None:
    """The spheres about the bodies meet, the bodies do not: what the paper's number is too much for."""
    stage = Stage(two_balls(0.3, speed=0.0), AdaptiveParticleContacts)
    assert in_use(stage)[0].tolist() == [21, 21]
    for _ in range(3):
        stage.respond()
    assert int(stage.contacts.pair_count.numpy()[0]) == 1
    assert in_use(stage)[0].tolist() == [LEAST_PARTICLES] * 2
    assert len(stage.contacts.particles()["position"]) == 2 * LEAST_PARTICLES


def test_particles_with_a_contact_are_the_last_to_go() -> None:
    """By hand: 64 particles, three with a contact at the end of the list; half of them leave, the three stay."""
    stage = Stage(two_balls(0.1, speed=0.0), AdaptiveParticleContacts)
    contacts = stage.contacts
    contacts.find_pairs()
    contacts.particle_active.assign(np.array([[64, 64]], np.int32))
    features = contacts.particle_feature.numpy()
    marked = [int(features[k]) for k in (61, 62, 63)]
    hit = np.zeros(len(features), np.int32)
    hit[[61, 62, 63]] = 1
    contacts.particle_hit.assign(hit)
    before = set(features[:64].tolist())
    contacts.adapt_counts()
    assert in_use(stage)[0].tolist() == [32, 32]
    kept = resting(stage, 0).tolist()
    assert set(marked) <= set(kept) <= before
    assert len(set(kept)) == 32


def test_the_papers_number_stays_the_papers() -> None:
    stage = Stage(two_balls(-0.15, speed=0.5), ParticleContacts)
    stage.respond(5)
    assert in_use(stage)[0].tolist() == [21, 21]
    assert len(stage.contacts.particle_feature) == 42
    assert len(stage.contacts.particles()["position"]) == 42


# whole simulations ----------------------------------------------------------------------------------------------------


def pressed(contact: str) -> tuple[turgor.Simulation, float]:
    """Two balls thrown at each other, and the deepest that one vertex gets into the other body (m)."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    ball = turgor.shapes.uv_sphere(0.5, 8, 8)
    for name, x in (("left", -0.62), ("right", 0.62)):
        scene.add_soft_body(
            ball, name=name, at=(x, 0, 0), velocity=(-4.0 * x, 0, 0), mass=1.0, gas=turgor.Gas(nRT=30.0),
            springs=turgor.Springs(stiffness=200.0, damping=1.0),
        )  # fmt: skip
    sim = turgor.Simulation(scene, contact=contact, precision="double")
    deepest = 0.0
    for _ in range(30):
        sim.step()
        for a, b in penetration.touching_boxes(penetration.surfaces(sim.layout, sim.frame())):
            found = penetration.overlap(a, b)
            deepest = max(deepest, found.depth) if found else deepest
    return sim, deepest


def test_bodies_sink_less_into_each_other_and_momentum_is_kept() -> None:
    (_, fixed), (sim, adaptive) = pressed("particles"), pressed("particles-adaptive")
    print(f"deepest: {1e3 * fixed:.1f} mm with the paper's number of particles, {1e3 * adaptive:.1f} mm when it adapts")
    assert fixed > 0.01
    assert adaptive < 0.5 * fixed
    total = sum(sim[name].momentum for name in ("left", "right"))
    assert np.abs(total).max() < 1e-9
    assert sim["left"].momentum[0] < 0.0 < sim["right"].momentum[0]  # they have bounced


def test_a_saved_state_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """How many particles there are is part of the state."""
    sim, _ = pressed("particles-adaptive")
    sim.save(tmp_path / "state.npz")
    other = turgor.Simulation.load(tmp_path / "state.npz")
    assert other.settings.contact == "particles-adaptive"
    for _ in range(10):
        sim.step()
        other.step()
    assert other.state_hash() == sim.state_hash()


def test_scene_files_and_the_command_line_know_it(tmp_path: Path) -> None:
    scene = turgor.Scene(gravity=(0, 0, 0))
    for x in (-0.45, 0.45):
        scene.add_soft_body(turgor.shapes.icosphere(0.5, 1), at=(x, 0, 0))
    scene.set("simulation.contact", "particles-adaptive")
    scene.save(tmp_path / "scene.toml")
    assert turgor.Scene.load(tmp_path / "scene.toml").simulation.contact == "particles-adaptive"
    sim = turgor.Simulation(turgor.Scene.load(tmp_path / "scene.toml"))
    sim.step()
    assert len(sim.collision_particles()["position"]) >= 2 * LEAST_PARTICLES
    run = [EXE, "run", str(tmp_path / "scene.toml"), "--seconds", "0.05", "--contact"]
    done = subprocess.run([*run, "particles-adaptive", "-q"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run([*run, "particles-adaptiv"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "did you mean 'particles-adaptive'" in done.stderr
