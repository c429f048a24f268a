"""What a skin of a material costs beside one of springs, per vertex and substep: same mesh, same stiffness, one run."""

from __future__ import annotations

from turgor import shapes
from turgor.bench.measure import simulated, spread, timed
from turgor.bench.suite import Options, Row, Tables
from turgor.scene import Gas, Membrane, Scene, Springs

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


def skins(options: Options) -> Tables:
    """Time per vertex and substep of skins of springs and of materials, and their ratio."""
    tables: Tables = {}
    for device in options.devices:
        cases = [(2, 1)] if options.quick else [(2, 1), (5, 1)]
        cases += [(7, 1), (2, 4096)] if device != "cpu" and not options.quick else []
        for subdivisions, worlds in cases:
            rows, base = [], 0.0
            for name, material in SKINS.items():
                times = _per_vertex(device, subdivisions, worlds, material, options)
                base = base or times["median"]
                rows.append({"skin": name, "ns": times, "cost_of_springs": times["median"] / base})
            vertices = 10 * 4**subdivisions + 2
            tables[f"{device}: {worlds} x {vertices:,} vertices"] = rows
    return tables


def _per_vertex(device: str, subdivisions: int, worlds: int, material: Membrane | None, options: Options) -> Row:
    """Spread of ns. Substeps are fixed, so all forces act in each of them."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    shape = shapes.icosphere(radius=0.5, subdivisions=subdivisions)
    gas = Gas.at(gauge=500.0)
    if material is None:
        scene.add_soft_body(shape, mass=1.0, gas=gas, springs=Springs(STIFFNESS))
    else:
        scene.add_soft_body(shape, mass=1.0, gas=gas, material=material)
    sim = simulated(
        scene, device, options.threads, worlds=worlds, solver="symplectic", contact="none", substeps=SUBSTEPS, fps=6e3
    )
    times = timed(sim.step, device, options.seconds, options.least)
    return spread(1e9 * seconds / (SUBSTEPS * worlds * len(shape.vertices)) for seconds in times)
