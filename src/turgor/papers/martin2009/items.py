"""Martin 2009, Real-Time Soft Body Simulation Using an Approximation of the Pressure Force: what the report shows."""

from __future__ import annotations

from turgor.papers.martin2009 import adaptive, benchmarks, contact, formulas, friction, particles, pressure
from turgor.papers.report.item import Item

__all__ = ["ITEMS"]

COARSE = "{uv_sphere={radius=%s,stacks=8,slices=8}}"

ITEMS: tuple[Item, ...] = (
    Item(
        "2009-benchmarks", "2009", "Section 6.3", "The eight timed scenes",
        "turgor run two-spheres -o two-spheres.mp4"
        f' --set "lower.shape={COARSE % 0.5}" --set "upper.shape={COARSE % 0.4}"',
        benchmarks.blocks, ("B1", "B8", "B17", "B18"),
    ),
    Item(
        "2009-pressure", "2009", "Section 6.4", "Much gas, stiff springs; little gas, weak springs",
        f'turgor run hanging-ball -o limp.mp4 --set ball.pins=[] --set "ball.shape={COARSE % 3}" --set ball.at=[0,0,4]'
        ' --set ball.mass=0.7 --set "ball.gas={nRT=5}" --set ball.springs.stiffness=10',
        pressure.pressure_blocks, ("B1", "B2", "B3"),
    ),
    Item(
        "2009-collision", "2009", "Section 6.5", "Collisions, with the collision particles drawn",
        "turgor run spheres-torus-cubes --contact particles-martin -o particles.mp4 "
        + " ".join(f"--set {name}.skin=0.06" for name in ("torus", "first", "second", "third")),
        particles.blocks, ("B10", "B12", "B17", "B19"),
    ),
    Item(
        "2009-methods", "2009", "Section 5.2", "Particles against features: missed contacts, penetration, time",
        "turgor run two-spheres --contact particles-martin --set lower.skin=0.083 --set upper.skin=0.083 -o martin.mp4",
        contact.blocks, ("B9", "B10", "B11", "B14", "B15"),
    ),
    Item(
        "2009-friction", "2009", "Section 3.1.4", "Friction on the ground",
        "turgor run stack --set gravity=[4.0,0,-8.96] --set ground.friction=0.3 -o slope.mp4",
        friction.blocks, ("B6",),
    ),
    Item(
        "2009-scaling", "2009", "Section 3.1.2", "Pressure scaling for uneven meshes",
        f'turgor run drop --set "ball.shape={COARSE % 0.5}" --set ball.pressure_scaling=true -o scaled.mp4',
        pressure.scaling_blocks, ("B4",),
    ),
    Item(
        "2009-formulas", "2009", "Sections 3 to 5", "Formulas as printed, and the laws",
        "turgor run drop --solver rk4-martin -o rk4-martin.mp4",
        formulas.blocks, ("B3", "B5", "B7", "B8", "B12", "B14"),
    ),
    Item(
        "2009-section-7", "2009", "Section 7", "As many particles as find contacts",
        "turgor run two-spheres --contact particles-adaptive -o adaptive.mp4",
        adaptive.blocks, ("B10",),
    ),
)  # fmt: skip
