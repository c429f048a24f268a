"""What the references share: a scene brought to rest from a given start, and a picture of it.

`at_rest` asks the engine's statics. Skins that hardly stretch and wrinkle have many soft ways to move and few stiff
ones, and taut and slack faces take turns, so that FIRE creeps; `calmed` runs such a scene with so much drag that its
slowest motion is about critically damped, until the forces that are left are small. Both end in the same equilibria.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import UnstableError
from turgor.papers.drawing.stills import jpeg, stills
from turgor.papers.report.blocks import Picture
from turgor.scene import Scene
from turgor.scene.data import Body, Cloth
from turgor.simulation.simulation import Simulation
from turgor.simulation.warn import silent

__all__ = ["about_axis", "at_rest", "calmed", "photo", "still_scene"]

FloatArray = npt.NDArray[np.float64]

MOST = 1_000_000  # substeps of a frame
LOOKS = 100  # frames until a scene that is not at rest is given up


def still_scene(dim: int = 3) -> Scene:
    """An empty scene without weight and air."""
    return Scene(dim, gravity=(0.0,) * dim, air_density=0.0)


def at_rest(scene: Scene, tolerance: float = 1e-4, contact: str = "none", **start: FloatArray) -> Simulation:
    """The scene in equilibrium, in double precision; start: m, positions of bodies by name, from which it is sought."""
    with silent():
        sim = Simulation(scene, contact=contact, precision="double", solver="symplectic")
    for name, positions in start.items():
        sim[name].positions = positions
    sim.settle(tolerance)
    return sim


def calmed(
    scene: Scene, load: float, start: FloatArray, *, softer: Sequence[float] = (), tolerance: float = 1e-3
) -> Simulation:
    """The only body of a scene at rest: no force on a free vertex is above `tolerance` times the load on one.

    load: Pa, the pressure on the skin. start: (n, dim) m. softer: factors of Young's modulus in runs before the last
    one, each the start of the next; such a run only has to come near its rest.
    """
    (body,) = scene.bodies
    places = start
    for factor in (*softer, 1.0):
        scene = _with(scene, _damped(body, load, factor))
        sim = _calm(scene, load, places, tolerance if factor == 1.0 else 0.1)
        places = sim[body.name].positions
    return sim


def _damped(body: Body, load: float, factor: float) -> Body:
    """With drag: the slowest motion of a skin under pressure has about ω² = p L/m (L: size), critical drag is 2 ω."""
    size = float(np.ptp(body.shape.vertices, axis=0).max()) ** (body.dim - 2)
    skin = body.membrane
    material = skin if skin is None else replace(skin, young=factor * skin.young)
    return replace(body, material=material, drag=1.2 * float(np.sqrt(load * size / body.mass)))


def _with(scene: Scene, body: Body) -> Scene:
    scene = scene.copy()
    (scene.cloths if isinstance(body, Cloth) else scene.soft_bodies)[:] = [body]  # type: ignore[list-item]
    return scene


def _calm(scene: Scene, load: float, start: FloatArray, tolerance: float) -> Simulation:
    (body,) = scene.bodies
    with silent():
        sim = Simulation(
            scene, contact="none", precision="double", solver="symplectic", fps=body.drag, max_substeps=MOST
        )
    view = sim[body.name]
    view.positions = start
    corners = start[body.shape.faces]
    sides = corners[:, 1:] - corners[:, :1]
    sizes = np.linalg.norm(sides[:, 0], axis=1) if body.dim == 2 else (
        0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    )  # fmt: skip
    limit = tolerance * load * float(sizes.sum()) / len(start)
    free = np.setdiff1d(np.arange(len(start)), body.pinned)
    for _ in range(LOOKS):
        sim.step()
        left = float(
            np.linalg.norm(
                view.forces[free] + body.drag * view.masses[free, None] * view.velocities[free], axis=1
            ).max()
        )
        if left <= limit and float(np.abs(view.velocities).max()) * body.drag * view.mass <= limit * len(start):
            return sim
    raise UnstableError(
        f"{body.name!r} is not at rest: {left / limit:.3g} times the allowed force is left after {sim.time:.3g} s "
        "of drag"
    )


def about_axis(points: FloatArray, top: int, bottom: int) -> tuple[FloatArray, FloatArray]:
    """(n,) m: distance from the line through two of the points, and height over its middle; bags are free to turn."""
    middle, way = 0.5 * (points[top] + points[bottom]), points[top] - points[bottom]
    axis = way / np.linalg.norm(way)
    height = (points - middle) @ axis
    return np.linalg.norm(points - middle - height[:, None] * axis, axis=1), height


def photo(sim: Simulation, caption: str, size: tuple[int, int] = (440, 330), **look: Any) -> Picture:
    """The present state as a picture."""
    (pixels,) = stills(sim, [sim.time], size, **look)
    return Picture(jpeg(pixels), caption, caption, width=size[0])
