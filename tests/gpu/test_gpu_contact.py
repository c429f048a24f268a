"""Contact on an NVIDIA GPU: the laws of momentum hold there too, it repeats itself, and its statistics are the CPU's.

Contacts are solved all at once on a GPU and one after another on the CPU, so single paths differ; what is compared is
what does not depend on the order: conserved quantities, penetration, heights and energies of many bodies.
Runs as a plain script too: `PYTHONPATH=src:tests python tests/gpu/test_gpu_contact.py`.
"""

from __future__ import annotations

import sys
import time

import numpy as np

try:
    import pytest
except ImportError:  # a bare machine: run as a script
    pytest = None

import turgor
from support.penetration import self_crossings
from support.plain_checks import run_checks, title
from support.worlds import check_each_world_alone
from turgor import Gas, Springs, gallery, shapes
from turgor.simulation.failure import ensure_fine


def collision(kind, contact="features", precision="single"):
    scene = turgor.Scene(gravity=(0, 0, 0))
    ball = shapes.icosphere(radius=0.5, subdivisions=2)
    options = {"springs": Springs(150.0), "gas": Gas.at(gauge=200.0, ambient=2000.0), "settled": True}
    scene.add_soft_body(ball, name="a", at=(-0.7, 0, 0.1), velocity=(2.0, 0, 0), **options)
    if kind == "soft":
        scene.add_soft_body(ball, name="b", at=(0.7, 0, -0.1), velocity=(-2.0, 0, 0), **options)
    else:
        shape = shapes.box(size=(0.5, 0.5, 0.5)) if kind == "box" else shapes.icosphere(radius=0.3)
        scene.add_rigid_body(shape, name="b", at=(0.7, 0, -0.1), velocity=(-2.0, 0, 0), spin=(1.0, 2.0, 0.5))
    return turgor.Simulation(scene, device="cuda", contact=contact, precision=precision)


def momentum(sim):
    total = np.zeros(3)
    angular = np.zeros(3)
    for name in sim.names:
        view = sim[name]
        total = total + view.momentum
        if hasattr(view, "masses"):
            angular = angular + np.cross(view.positions, view.masses[:, None] * view.velocities).sum(axis=0)
        else:
            angular = angular + view.angular_momentum + np.cross(view.center, view.momentum)
    return total, angular


def check_momentum(kind, contact, precision):
    sim = collision(kind, contact, precision)
    linear, angular = momentum(sim)
    for _ in range(40):
        sim.step()
    after, turned = momentum(sim)
    assert sim["a"].momentum[0] < 1.0, "they did not meet"
    # displacements that remove penetration move matter without its momentum: 1e-3 of the angular momentum at most
    loose = {"single": 2e-5, "double": 1e-8}[precision]
    assert np.abs(after - linear).max() < loose, np.abs(after - linear).max()
    if contact == "features":
        assert np.abs(turned - angular).max() < 1e-3, np.abs(turned - angular).max()


def check_repeat(kind):
    hashes = set()
    for _ in range(2):
        sim = collision(kind)
        for _ in range(40):
            sim.step()
        hashes.add(sim.state_hash())
    assert len(hashes) == 1


def check_ledger(kind, contact, precision):
    """As in test_law_ledger_contact.py: nothing is lost from the ledger in a collision."""
    made = collision(kind, contact, precision)
    sim = turgor.Simulation(made.scene, device="cuda", contact=contact, precision=precision, ledger=True)
    start = sim.energy()
    worst, most = 0.0, start.kinetic
    for _ in range(40):
        sim.step()
        now = sim.energy()
        worst = max(worst, abs(now.total + now.dissipated - now.work - start.total))
        most = max(most, now.kinetic)
    assert now.dissipated > 0.02 * most, now
    assert worst < 0.01 * most, (worst, most)


def check_gallery_ledger(name):
    sim = turgor.Simulation(gallery.load(name), device="cuda", ledger=True)
    start = sim.energy()
    worst, most = 0.0, start.kinetic
    for _ in range(60):
        sim.step()
        now = sim.energy()
        worst = max(worst, abs(now.total + now.dissipated - now.work - start.total))
        most = max(most, now.kinetic)
    assert worst < 0.01 * most, (worst, most)


def check_readings(precision):
    """A box and a soft ball at rest on a static table: the mean contact forces over a second are the weights."""
    scene = turgor.Scene()
    scene.add_ground()
    scene.add_rigid_body(shapes.box((1.0, 1.0, 0.2)), name="table", at=(0, 0, 0.3), kind="static")
    scene.add_rigid_body(shapes.box((0.8, 0.8, 0.2)), name="box", at=(0, 0, 0.52), mass=2.0, restitution=0.0)
    scene.add_rigid_body(shapes.box((0.6, 0.6, 0.2)), name="other", at=(2, 0, 0.11), mass=3.0, restitution=0.0)
    scene.add_soft_body(
        shapes.icosphere(0.3, 2), name="ball", at=(0, 0, 0.94), mass=0.5, drag=3.0, settled=True, restitution=0.0,
        springs=Springs(300.0, 3.0), gas=Gas.at(gauge=300.0),
    )  # fmt: skip
    sim = turgor.Simulation(scene, device="cuda", precision=precision, readings=True)
    sim.run(2.0)
    sums = {
        ("ball",): 0.5,
        ("box",): 2.0,
        ("table",): -2.5,
        ("box", "table"): 2.5,
        ("ball", "box"): 0.5,
        ("ground",): -3.0,
    }
    forces = {names: [] for names in sums}
    for _ in range(60):
        sim.step()
        force = sim.contacts().force
        for names, rows in forces.items():
            rows.append((force.on(*names) if len(names) == 1 else force.between(*names))[2])
    for names, mass in sums.items():
        assert abs(np.mean(forces[names]) - 9.81 * mass) < 0.02 * 9.81 * abs(mass), (names, np.mean(forces[names]))


def check_crumpled(precision):
    """As in test_law_13_contact.py: a cloth in a knot keeps its momentum, and the same knot comes out twice."""
    hashes = set()
    for _ in range(2):
        scene = turgor.Scene(gravity=0)
        sheet = shapes.sheet(size=(1.0, 1.0), resolution=(21, 21))
        scene.add_cloth(sheet, name="cloth", mass=0.2, springs=Springs(stiffness=100.0, damping=0.05), wind_drag=0.0)
        sim = turgor.Simulation(scene, device="cuda", precision=precision)
        arms = sim["cloth"].positions - sim["cloth"].center
        noise = np.random.default_rng(6).normal(size=arms.shape)
        sim["cloth"].velocities = (
            np.array([1.0, 0.0, 0.0]) + 8.0 * noise - 40.0 * arms + np.cross([0.0, 0.0, 3.0], arms)
        )
        linear, angular = momentum(sim)
        sim.run(0.3)
        after, turned = momentum(sim)
        assert np.abs(after - linear).max() < 1e-5, np.abs(after - linear).max()
        assert np.abs(turned - angular).max() < 1e-3, np.abs(turned - angular).max()
        hashes.add(sim.state_hash())
    assert len(hashes) == 1


def flat_pile():
    scene = turgor.Scene(dim=2)
    scene.add_container(size=(3.0, 4.0), at=(0.0, 2.0))
    for i in range(12):
        where = {"name": f"body-{i}", "at": (0.7 * (i % 4) - 1.05 + 0.02 * i, 0.4 + 0.7 * (i // 4))}
        if i % 3 == 2:
            scene.add_rigid_body(shapes.polygon(sides=4, radius=0.3), mass=0.5, **where)
        else:
            soft = {"springs": Springs(200.0, 1.0), "gas": Gas.at(gauge=50.0, ambient=1000.0), "settled": True}
            scene.add_soft_body(shapes.circle(radius=0.3, points=24), **where, **soft)
    return scene


def heights(device, name, frames, worlds=1, **options):
    """Mean and spread of the heights of all bodies, kinetic energy per body, deepest penetration, ms per frame."""
    sim = turgor.Simulation(
        flat_pile() if name == "flat pile" else gallery.load(name), device=device, worlds=worlds, **options
    )
    sim.step()
    start = time.perf_counter()
    for _ in range(frames):
        sim.step()
    ensure_fine(sim)
    wall = (time.perf_counter() - start) / frames
    z = np.concatenate([np.atleast_2d(sim[body].center)[:, -1] for body in sim.names])
    energy = np.mean(np.atleast_1d(sim.energy().kinetic)) / len(sim.names)
    assert sim.finite
    allowed = 0.5 * float(sim.engine.split.surfaces.skins.max())
    deepest = sim.contacts().max_penetration
    assert deepest <= allowed, (deepest, allowed)
    return z.mean(), z.std(), energy, deepest, 1e3 * wall, sim.substeps


def check_statistics(name, frames):
    cpu, gpu = heights("cpu", name, frames), heights("cuda", name, frames)
    print(f"  {name}: cpu {np.round(cpu, 4)} gpu {np.round(gpu, 4)}", flush=True)
    assert abs(cpu[0] - gpu[0]) < 0.05 * abs(cpu[0]) + 0.02
    assert abs(cpu[1] - gpu[1]) < 0.2 * cpu[1] + 0.02


def check_worlds(name, frames, worlds):
    one, many = heights("cuda", name, frames), heights("cuda", name, frames, worlds=worlds)
    print(f"  {name}: one world {np.round(one, 4)}, {worlds} worlds {np.round(many, 4)}", flush=True)
    assert abs(one[0] - many[0]) < 0.05 * abs(one[0]) + 0.02
    assert abs(one[1] - many[1]) < 0.2 * one[1] + 0.02


def square_box(dim):
    return shapes.box(size=(0.5, 0.5, 0.5)) if dim == 3 else shapes.polygon(sides=4, radius=0.5 * np.sqrt(0.5))


def check_mass_ratio(dim, precision):
    """As in test_rigid_mass_ratios.py: 1,000 kg stand on 1 kg."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground(friction=0.6, restitution=0.0)
    aside = (0.0,) * (dim - 1)
    for name, mass, height in (("light", 1.0, 0.25), ("heavy", 1000.0, 0.755)):
        scene.add_rigid_body(
            square_box(dim), name=name, at=(*aside, height), mass=mass, friction=0.6, restitution=0.0,
            rotation=np.pi / 4 if dim == 2 else (0.0, 0.0, 0.0),
        )  # fmt: skip
    sim = turgor.Simulation(scene, device="cuda", precision=precision)
    for _ in range(10):
        sim.run(1.0)
        where = np.array([sim["light"].center, sim["heavy"].center])
        assert np.abs(where - [(*aside, 0.25), (*aside, 0.75)]).max() < 0.005, where


def check_mirror(dim, precision):
    """As in test_rigid_mass_ratios.py: two boxes face-on onto a third."""
    scene = turgor.Scene(dim=dim, gravity=(0.0,) * dim)
    aside = (0.0,) * (dim - 1)
    for i, (x, v) in enumerate([(-1.0, 1.0), (0.0, 0.0), (1.0, -1.0)]):
        scene.add_rigid_body(
            square_box(dim), name=f"box-{i}", at=(x, *aside), velocity=(v, *aside), friction=0.5, restitution=1.0,
            rotation=np.pi / 4 if dim == 2 else (0.0, 0.0, 0.0),
        )  # fmt: skip
    sim = turgor.Simulation(scene, device="cuda", precision=precision)
    sim.run(1.0)
    boxes = [sim[f"box-{i}"] for i in range(3)]
    assert boxes[2].velocity[0] > 0.9, "they did not meet"
    assert max(np.abs(box.spin).max() for box in boxes) < 1e-3
    assert max(np.abs(box.velocity[1:]).max() for box in boxes) < 1e-3


def check_alone(dim, kinds, precision):
    """Each world is, bit for bit, what it is alone."""
    check_each_world_alone(dim, kinds.split(), [1, 2, 3], precision, device="cuda")


def check_crossings(name):
    """As in test_law_17_self_crossings.py: a soft bag thrown at the floor does not cross itself."""
    shape = {"capsule": shapes.capsule(0.12, 0.9, 16, 12), "flat": shapes.box((1.0, 0.6, 0.08), 6)}[name]
    scene = turgor.Scene()
    scene.add_ground(friction=0.5, restitution=0.1)
    scene.add_soft_body(
        shape, name="bag", at=(0, 0, 1), rotation=(0.5, 1.3, 0.2), velocity=(0, 0, -6.0), springs=Springs(60.0, 0.2),
        gas=Gas.at(gauge=20.0, ambient=300.0),
    )  # fmt: skip
    sim = turgor.Simulation(scene, device="cuda")
    for frame in range(24):
        sim.step()
        if frame >= 6 and frame % 3 == 0:
            assert self_crossings(sim)["bag"] == 0, f"frame {frame}"


CHECKS = [
    *((check_momentum, kind, "features", p) for kind in ("soft", "box", "ball") for p in ("single", "double")),
    *(
        (check_momentum, "soft", contact, "single")
        for contact in ("particles", "particles-martin", "particles-adaptive", "bounding")
    ),
    *((check_repeat, kind) for kind in ("soft", "box")),
    *((check_ledger, kind, "features", p) for kind in ("soft", "box") for p in ("single", "double")),
    *((check_ledger, "soft", contact, "single") for contact in ("particles", "bounding")),
    *((check_gallery_ledger, name) for name in ("five-balls", "rotating-box", "flag", "stack")),
    *((check_readings, precision) for precision in ("single", "double")),
    *((check_crumpled, precision) for precision in ("single", "double")),
    *((check_mass_ratio, dim, precision) for dim in (2, 3) for precision in ("single", "double")),
    *((check_mirror, dim, precision) for dim in (2, 3) for precision in ("single", "double")),
    (check_statistics, "two-spheres", 120),
    (check_statistics, "five-balls", 120),
    (check_statistics, "stack", 120),
    (check_statistics, "flat pile", 120),
    (check_statistics, "pile", 100),
    (check_worlds, "pile", 100, 64),
    *((check_alone, 3, kinds, p) for kinds in ("ball cloth", "torus", "box torus ball") for p in ("single", "double")),
    (check_alone, 2, "star ball", "single"),
    (check_alone, 2, "star", "single"),
    (check_crossings, "capsule"),
    (check_crossings, "flat"),
]

if pytest is not None:

    @pytest.mark.gpu
    @pytest.mark.req("X1", "X6")
    @pytest.mark.parametrize("check", CHECKS, ids=[title(*check) for check in CHECKS])
    def test_gpu_contact(check):
        function, *arguments = check
        function(*arguments)


if __name__ == "__main__":
    sys.exit(run_checks(CHECKS))
