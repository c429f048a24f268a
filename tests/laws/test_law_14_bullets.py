"""Bullets: 200 random throws at 5 to 30 m/s, and nothing ever passes through a surface.

Worlds of one simulation are thrown differently. Small meshes; a frame of 1/60 s moves a bullet by up to 0.5 m, which is
more than its own size and 25 times the thickness of the thin box.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import turgor
from reference.inside import pierced
from support import penetration
from support.laws import DEVICE
from turgor import shapes

# of each of the four kinds
THROWS = [("symplectic", 50), ("implicit", 5)]
FRAMES = 12
GAS = turgor.Gas(gauge=300.0, ambient=2000.0)
SPRINGS = turgor.Springs(stiffness=400.0, damping=0.3)


def soft(scene, name, at, radius=0.3, **options):
    ball = shapes.icosphere(radius=radius, subdivisions=1)
    scene.add_soft_body(ball, name=name, at=at, springs=SPRINGS, gas=GAS, settled=True, mass=0.5, **options)


def soft_at_soft(scene):
    soft(scene, "bullet", (0.0, 0.0, 0.8), radius=0.2)
    soft(scene, "target", (0.0, 0.0, 0.0))


def soft_at_thin_box(scene):
    soft(scene, "bullet", (0.0, 0.0, 0.5), radius=0.2)
    scene.add_rigid_body(shapes.box((1.6, 1.6, 0.02)), name="target", kind="static")


def box_at_soft(scene):
    soft(scene, "target", (0.0, 0.0, 0.0))
    scene.add_rigid_body(shapes.box((0.2, 0.25, 0.15)), name="bullet", at=(0.0, 0.0, 0.8), mass=0.3)


def cloth_at_ball(scene):
    sheet = shapes.sheet(size=(0.9, 0.9), resolution=(9, 9))
    springs = turgor.Springs(stiffness=300.0, damping=0.1)
    lies = (0.5 * np.pi, 0.0, 0.0)
    scene.add_cloth(sheet, name="bullet", at=(0.0, 0.0, 0.5), rotation=lies, mass=0.3, springs=springs, wind_drag=0.0)
    scene.add_rigid_body(shapes.icosphere(radius=0.25), name="target", kind="static")


THROWN = [soft_at_soft, soft_at_thin_box, box_at_soft, cloth_at_ball]


def throws(rng, count):
    """(count, 3) m/s: downwards, up to 20 degrees from the vertical."""
    speed = rng.uniform(5.0, 30.0, count)
    tilt, around = np.radians(rng.uniform(0.0, 20.0, count)), rng.uniform(0.0, 2.0 * np.pi, count)
    ways = [np.sin(tilt) * np.cos(around), np.sin(tilt) * np.sin(around), -np.cos(tilt)]
    return speed[:, None] * np.stack(ways, axis=1)


def surfaces(sim, places):
    """Of each world: its two bodies, bullet first. `places` is name -> (worlds, n, 3) m."""
    for world in range(sim.settings.worlds):
        points = np.concatenate([places[layout.name][world] for layout in sim.layout.bodies])
        bodies = {body.name: body for body in penetration.surfaces(sim, SimpleNamespace(positions=points))}
        yield world, bodies["bullet"], bodies["target"]


def sides(cloth, ball, way):
    """(whether the cloth is in front of the ball, whether it is behind it), as seen along its way."""
    center, far = ball.points[0], 10.0 * way / np.linalg.norm(way)
    rays = (np.broadcast_to([center, center + end], (len(cloth.faces), 2, 3)) for end in (-far, far))
    return tuple(bool(pierced(ray, cloth.corners).any()) for ray in rays)


@pytest.mark.req("X1")
@pytest.mark.parametrize(("solver", "count"), THROWS)
@pytest.mark.parametrize("build", THROWN, ids=lambda build: build.__name__)
def test_nothing_passes_through(build, solver, count):
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    build(scene)
    sim = turgor.Simulation(scene, device=DEVICE, worlds=count, solver=solver)
    rng = np.random.default_rng(THROWN.index(build))
    aim = throws(rng, count)
    bullet, target = sim["bullet"], sim["target"]
    if build is box_at_soft:
        bullet.velocity = aim
        bullet.spin = 5.0 * rng.normal(size=(count, 3))
    else:
        bullet.velocities = np.repeat(aim[:, None], bullet.positions.shape[1], axis=1)
    seen = [(True, False)] * count  # a cloth may wrap the ball, be on both sides, and slide off
    for _ in range(FRAMES):
        sim.step()
        assert sim.finite
        places = {name: sim[name].positions for name in sim.names}
        for world, one, two in surfaces(sim, places):
            assert penetration.depths_of([one, two]) == {}, (world, aim[world])
            assert one.round or two.round or penetration.crossings_of(one, two) == 0, (world, aim[world])
            if build is cloth_at_ball:
                before, seen[world] = seen[world], sides(one, two, aim[world])
                assert (before, seen[world]) != ((True, False), (False, True)), (world, aim[world])  # right through it
    # most were hit and stopped or turned, and what is near the middle is still on its own side
    thrown, height = aim[:, 2], bullet.center[:, 2] - target.center[:, 2]
    if build is cloth_at_ball:
        return  # was looked at in each frame
    mean = bullet.velocity if build is box_at_soft else bullet.momentum / np.atleast_1d(bullet.mass)[:, None]
    changed = np.linalg.norm(mean - aim, axis=1) > 0.1 * np.abs(thrown)
    assert changed.mean() > 0.9
    if build is soft_at_thin_box:
        assert (places["bullet"][:, :, 2] > 0.0).all()
    else:
        aside = np.linalg.norm(bullet.center[:, :2] - target.center[:, :2], axis=1)
        assert not ((height < 0.0) & (aside < 0.2)).any()
