"""The gallery's scenes of contact: nothing is ever in or through anything else, and each ends as its description says.

Depths are measured by plain geometry (penetration.py), not by the engine, at every frame of the seconds below.
"""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support import penetration
from turgor import gallery

SHARE = 0.5  # of the skin between two bodies (the sum of both skins): how deep a point may be in the other body
LOOKS = 3  # frames from one look to the next: the check takes longer than the simulation
RUNS = {  # seconds
    "five-balls": 3.0,
    "two-spheres": 4.0,
    "three-spheres": 3.0,
    "sphere-in-torus": 3.0,
    "torus-and-cubes": 3.0,
    "spheres-torus-cubes": 1.5,
    "hand-and-ball": 1.5,
    "cat-and-sphere": 1.2,
    "pile": 2.5,
    "stack": 3.0,
    "ball-on-cloth": 4.0,
    "jelly-2d": 10.0,
}


def depth_of_skin(sim):
    """name -> m."""
    surfaces = sim.engine.split.surfaces
    return dict(zip(surfaces.names, surfaces.skins.tolist(), strict=True))


def wall_depths(sim):
    """name -> m: how deep each body is in a wall."""
    found = dict.fromkeys(sim.names, 0.0)
    for layout, pose in zip(sim.layout.walls, sim.frame().walls, strict=True):
        for normal, offset in penetration.half_spaces(layout, pose):
            for body in penetration.surfaces(sim):
                depth = float(offset - (body.points @ normal).min()) + body.radius
                found[body.name] = max(found[body.name], depth)
    return found


def look(sim, skins):
    """Whether the state is fine."""
    bodies = penetration.surfaces(sim)
    for (one, two), depth in penetration.depths(sim, bodies=bodies).items():
        assert depth <= SHARE * (skins[one] + skins[two]), (sim.time, one, two, depth)
    assert penetration.crossings(sim, bodies=bodies) == 0, sim.time
    if penetration.wall_depth(sim, bodies=bodies) > SHARE * min(skins.values()):  # then body by body
        for name, depth in wall_depths(sim).items():
            assert depth <= SHARE * skins[name], (sim.time, name, depth)


def speed(sim, name):
    """m/s, of the body as a whole."""
    body = sim[name]
    return float(np.linalg.norm(body.momentum)) / float(body.mass)


def aside(sim, one, two):
    """m: horizontal distance of two centres."""
    return float(np.linalg.norm((sim[one].center - sim[two].center)[:2]))


# --- how each ends


def five_balls(sim, start):
    """The balls are carried up by the box's side and roll over each other."""
    ways = [np.linalg.norm(sim[name].center - start[name].mean(axis=0)) for name in sim.names]
    assert min(ways) > 0.3
    volumes = [sim[name].volume / sim[name].rest_volume for name in sim.names]
    assert 0.8 < min(volumes) < max(volumes) < 2.5


def two_spheres(sim, start):
    """The upper one rolled off: both lie on the floor, apart."""
    assert sim["upper"].center[2] < 0.6
    assert aside(sim, "upper", "lower") > 0.8
    assert sim["lower"].center[0] < -0.05  # it was pushed the other way


def three_spheres(sim, start):
    """The third pushed the two apart and lies between them."""
    assert aside(sim, "left", "right") > 1.5
    assert sim["left"].center[0] < sim["third"].center[0] < sim["right"].center[0]


def sphere_in_torus(sim, start):
    """The ball sits in the hole, held by the torus."""
    assert aside(sim, "ball", "torus") < 0.1
    assert 0.35 < sim["ball"].center[2] < 0.8
    assert speed(sim, "ball") < 0.2


def torus_and_cubes(sim, start):
    """All lie low, and some cubes are in the hole."""
    cubes = [name for name in sim.names if name != "torus"]
    assert all(sim[name].center[2] < 1.3 for name in cubes)
    assert sum(aside(sim, name, "torus") < 0.55 for name in cubes) >= 2


def spheres_torus_cubes(sim, start):
    """All have come down, and most are in the hole or on the torus."""
    assert max(sim[name].center[2] for name in sim.names) < 1.4
    assert sum(np.linalg.norm(sim[name].center[:2]) < 1.2 for name in sim.names) >= 4


def hand_and_ball(sim, start):
    """The ball bounces off the palm; the wrist is where it was and the hand has about its shape again."""
    wrist = sim.scene["hand"].pinned
    assert sim["hand"].positions[wrist] == pytest.approx(start["hand"][wrist], abs=1e-6)
    assert sim["ball"].center[1] < -0.3
    assert sim["ball"].velocity[1] < 0.0
    assert np.ptp(sim["hand"].positions, axis=0) == pytest.approx(np.ptp(start["hand"], axis=0), rel=0.25)


def cat_and_sphere(sim, start):
    """The cat stays on its feet and keeps its shape."""
    size, before = np.ptp(sim["cat"].positions, axis=0), np.ptp(start["cat"], axis=0)
    assert size[2] > 0.85 * before[2]
    assert size[0] == pytest.approx(before[0], rel=0.15)
    assert sim["ball"].velocities[:, 0].mean() > -2.0  # it was stopped


def pile(sim, start):
    """Balls and boxes lie on the floor and on each other; none is lost."""
    centers = np.array([sim[name].center for name in sim.names])
    assert centers[:, 2].min() > 0.5
    assert np.abs(centers[:, :2]).max() < 50.0


def stack(sim, start):
    """The boxes still stand on each other, in the same order."""
    centers = np.array([sim[f"box-{k}"].center for k in range(1, 11)])
    assert np.diff(centers[:, 2]) == pytest.approx(0.2, abs=0.01)
    assert np.abs(np.diff(centers[:, :2], axis=0)).max() < 0.03
    assert 0.2 < centers[0, 2] < 0.7


def ball_on_cloth(sim, start):
    """Both balls lie in the cloth, above the floor."""
    cloth = sim["cloth"].positions
    for name, radius in (("soft", 0.35), ("hard", 0.2)):
        center = sim[name].center
        under = cloth[np.linalg.norm(cloth[:, :2] - center[:2], axis=1) < 0.5 * radius]
        assert len(under)
        assert under[:, 2].max() < center[2] - 0.5 * radius  # the cloth is below it,
        assert under[:, 2].max() > center[2] - 1.3 * radius  # close below,
        assert center[2] > 0.3  # and above the floor


def jelly_2d(sim, start):
    """All came through the funnel, kept their area and lie in the bin."""
    jellies = [body.name for body in sim.scene.soft_bodies]
    assert all(sim[name].center[1] < 2.0 for name in jellies)
    areas = [sim[name].volume / sim[name].rest_volume for name in jellies]
    assert 0.7 < min(areas) < max(areas) < 1.6
    assert max(speed(sim, name) for name in jellies) < 0.1


ENDS = [
    five_balls, two_spheres, three_spheres, sphere_in_torus, torus_and_cubes, spheres_torus_cubes, hand_and_ball,
    cat_and_sphere, pile, stack, ball_on_cloth, jelly_2d,
]  # fmt: skip


def test_all_scenes_of_the_issue_are_there():
    assert set(RUNS) <= set(gallery.names())
    assert {end.__name__.replace("_", "-") for end in ENDS} == set(RUNS)
    scene = gallery.load("pile")
    assert len(scene.soft_bodies) == len(scene.rigid_bodies) == 121
    assert all(len(body.shape.vertices) == 162 for body in scene.soft_bodies)
    assert len(gallery.load("stack").rigid_bodies) == 10
    assert len(gallery.load("jelly-2d").soft_bodies) == 10


IMPLICIT = [spheres_torus_cubes]  # takes seconds with steps of 1/240 s


@pytest.mark.req("C5", "X1")
@pytest.mark.parametrize(
    ("end", "solver"),
    [(end, None) for end in ENDS] + [(end, "implicit") for end in IMPLICIT],
    ids=lambda value: value and (value if isinstance(value, str) else value.__name__),
)
def test_nothing_penetrates_and_all_ends_well(end, solver):
    name = end.__name__.replace("_", "-")
    sim = turgor.Simulation(gallery.load(name), device="cpu", solver=solver)
    start = {body: sim[body].positions for body in sim.names}
    skins = depth_of_skin(sim)
    assert penetration.depths(sim) == {}
    assert penetration.wall_depth(sim) <= 1e-6
    for frame in range(round(RUNS[name] * sim.settings.fps)):
        sim.step()
        if frame % LOOKS == 0:
            look(sim, skins)
    assert sim.finite
    end(sim, start)
