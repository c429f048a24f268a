"""What a skin of a material costs beside one of springs, per vertex and substep: same mesh, same stiffness, one run."""

from __future__ import annotations

from typing import Any

from turgor import shapes
from turgor.bench.measure import best_time, devices
from turgor.scene import Gas, Membrane, Scene, Springs
from turgor.simulation.simulation import Simulation

__all__ = ["skins"]

SUBSTEPS = 100  # in a frame, so that planning does not count
STIFFNESS, THICKNESS = 1e4, 1e-3  # N/m, m
YOUNG = 2.0 / 3.0**0.5 * STIFFNESS / THICKNESS  # Pa: of a skin that is as stiff as these springs
FLAT = Membrane(young=YOUNG, poisson=0.33, thickness=THICKNESS, rigidity=0.0, wrinkling=False)
SKINS: dict[str, Membrane | None] = {
    "springs": None,
    "stvk": FLAT,
    "stvk, wrinkling": Membrane(young=YOUNG, poisson=0.33, thickness=THICKNESS, rigidity=0.0),
    "neo-hookean, wrinkling": Membrane(young=YOUNG, thickness=THICKNESS, rigidity=0.0, law="neo-hookean"),
    "stvk, bending": Membrane(young=YOUNG, poisson=0.33, thickness=THICKNESS, wrinkling=False),
}


def skins(sizes: tuple[int, ...] = (2, 5)) -> dict[str, Any]:
    """Time per vertex and substep of skins of springs and of materials, and their ratio."""
    results: dict[str, Any] = {}
    for device in devices():
        cases = [(subdivisions, 1) for subdivisions in sizes]
        cases += [(7, 1), (2, 4096)] if device != "cpu" else []
        for subdivisions, worlds in cases:
            rows, base = [], 0.0
            for name, material in SKINS.items():
                seconds = _per_vertex(device, subdivisions, worlds, material)
                base = base or seconds
                rows.append({"skin": name, "ns": 1e9 * seconds, "cost_of_springs": seconds / base})
            vertices = 10 * 4**subdivisions + 2
            results[f"{device}, {worlds} x {vertices:,} vertices"] = rows
    return results


def _per_vertex(device: str, subdivisions: int, worlds: int, material: Membrane | None) -> float:
    """Seconds. Substeps are fixed, so all forces act in each of them."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    shape = shapes.icosphere(radius=0.5, subdivisions=subdivisions)
    gas = Gas.at(gauge=500.0)
    if material is None:
        scene.add_soft_body(shape, mass=1.0, gas=gas, springs=Springs(STIFFNESS))
    else:
        scene.add_soft_body(shape, mass=1.0, gas=gas, material=material)
    sim = Simulation(
        scene, device=device, worlds=worlds, solver="symplectic", contact="none", substeps=SUBSTEPS, fps=6000.0
    )
    return best_time(sim.step, device, seconds=1.0) / (SUBSTEPS * worlds * len(shape.vertices))
