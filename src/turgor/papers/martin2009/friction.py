"""Martin 2009, section 3.1.4: friction on the ground, on slopes, against Coulomb's law."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turgor import shapes
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.drawing.stills import jpeg, stills, strip
from turgor.papers.report.blocks import Block, Picture, Row, Svg, Table, Text
from turgor.scene import Gas, Scene, Springs
from turgor.scene.options import PlacedOptions
from turgor.simulation.simulation import Simulation

__all__ = ["MU", "Creep", "blocks", "coulomb", "literal", "on_slope", "slide"]

G = 9.81  # m/s²
MU = 0.5
SHARES = (0.4, 0.8, 0.95, 1.05, 1.25, 1.6, 2.0)  # tan(angle) over μ
QUICK = (0.8, 0.95, 1.05, 1.6)
KINDS = {"cushion": "soft cushion with gas", "rigid": "rigid box"}


def coulomb(angle: float, mu: float = MU) -> float:
    """m/s² down the slope: none up to tan(angle) = μ, then g (sin - μ cos)."""
    return max(0.0, G * (math.sin(angle) - mu * math.cos(angle)))


def on_slope(kind: str, angle: float, mu: float = MU) -> Simulation:
    """A box on a plane that falls towards +x; it has a flat base, so that it slides and does not roll."""
    scene = Scene(dim=3, gravity=(0.0, 0.0, -G))
    normal = (math.sin(angle), 0.0, math.cos(angle))
    scene.add_plane(point=(0.0, 0.0, 0.0), normal=normal, friction=mu, restitution=0.0)
    place: PlacedOptions = {"at": tuple(0.151 * part for part in normal), "rotation": (0.0, angle, 0.0), "name": "box"}
    if kind == "rigid":
        scene.add_rigid_body(
            shapes.box(size=(1.0, 1.0, 0.3)), mass=1.0, friction=mu, restitution=0.0, color="#7d8896", **place
        )
    else:
        scene.add_soft_body(
            shapes.box(size=(1.0, 1.0, 0.3), subdivisions=3), mass=1.0, bending=1.0, settled=True, color="#f4ae3d",
            springs=Springs(stiffness=3000.0, damping=6.0), gas=Gas(gauge=40.0, ambient=3000.0), **place,
        )  # fmt: skip
    return Simulation(scene, fps=60.0)


@dataclass(frozen=True)
class Slide:
    """Motion of the centre of mass, after the body has settled on the slope."""

    acceleration: float  # m/s², fitted
    moved: float  # m


@functools.cache
def slide(kind: str, share: float, settle: float = 0.6, seconds: float = 0.8) -> Slide:
    """On a slope of tan(angle) = share × μ: the path of the centre, fitted by a parabola."""
    angle = math.atan(share * MU)
    sim = on_slope(kind, angle)
    sim.run(settle)
    along = np.array([math.cos(angle), 0.0, -math.sin(angle)])
    times, ways = [sim.time], [float(np.asarray(sim["box"].center) @ along)]
    for _ in range(round(seconds * sim.settings.fps)):
        sim.step()
        times.append(sim.time)
        ways.append(float(np.asarray(sim["box"].center) @ along))
    return Slide(2.0 * float(np.polyfit(times, ways, 2)[0]), ways[-1] - ways[0])


@dataclass(frozen=True)
class Creep:
    """A point on a slope with the friction as printed."""

    fastest: float  # m/s: largest speed, of a point that should be at rest
    uphill: float  # part of the steps that end moving uphill


def literal(share: float, rate: float = 60.0, seconds: float = 2.0, mu: float = MU) -> Creep:
    """The paper's rule as printed, v += -μ v̂ max(w, 0), w the speed the ground took away; `rate` steps a second."""
    angle, dt = math.atan(share * mu), 1.0 / rate
    speed, seen = 0.0, []
    for _ in range(round(seconds * rate)):
        speed += G * math.sin(angle) * dt
        speed -= math.copysign(mu * G * math.cos(angle) * dt, speed)
        seen.append(speed)
    return Creep(max(map(abs, seen)), float(np.mean([speed < 0.0 for speed in seen])))


def blocks(quick: bool) -> list[Block]:
    """Section 3.1.4 of the report."""
    shares = QUICK if quick else SHARES
    rows = []
    for share in shares:
        angle = math.atan(share * MU)
        row: list[float] = [share, math.degrees(angle), coulomb(angle)]
        for kind in KINDS:
            found = slide(kind, share)
            row += [round(found.acceleration, 5), round(1e3 * found.moved, 4)]
        rows.append(row)
    header = [
        "tan(angle) over μ",
        "angle, °",
        "Coulomb, m/s²",
        "cushion, m/s²",
        "moved, mm",
        "rigid box, m/s²",
        "moved, mm",
    ]
    below = [slide(kind, share).moved for kind in KINDS for share in shares if share < 1.0]
    errors = [
        abs(slide(kind, share).acceleration / coulomb(math.atan(share * MU)) - 1.0)
        for kind in KINDS for share in shares if share > 1.2
    ]  # fmt: skip
    creep = literal(0.8)
    return [
        Text(
            "The paper reduces the velocity along the ground by μ times what the ground took from the velocity into "
            f"it, and calls it static friction. Here boxes lie on slopes, μ = {MU:g}: up to tan(angle) = μ they must "
            "stay, beyond it slide with g (sin - μ cos)."
        ),
        Table(
            header,
            rows,
            "A soft cushion with gas, a rigid box. Acceleration: a parabola fitted to the way of the centre in 0.8 "
            "s, after 0.6 s to settle in; how far it moved in this time.",
            digits=4,
        ),
        Svg(
            _chart(shares),
            f"Acceleration on slopes, μ = {MU:g}. Where one kind of point hides the other, they coincide.",
        ),
        Row(_pictures()),
        Text(
            f"Below the limit the boxes moved at most {1e3 * max(map(abs, below)):.2g} mm; beyond 1.2 times the limit "
            f"the acceleration is Coulomb's within {100 * max(errors):.1g} %.",
            "measured",
        ),
        Text(
            "As printed, friction is not limited to what stops the body, so it turns the velocity round: a point "
            f"that should rest (tan(angle) = 0.8 μ) jitters with up to {1e3 * creep.fastest:.0f} mm/s at 60 steps a "
            f"second, and moves uphill in {100 * creep.uphill:.0f} % of the steps. turgor never reverses the "
            "velocity: the point is at rest.",
            "wrong",
        ),
    ]


def _chart(shares: Sequence[float]) -> str:
    fine = np.linspace(0.0, max(shares), 80)
    curves = [Curve("Coulomb", fine.tolist(), [coulomb(math.atan(MU * share)) for share in fine])]
    curves += [
        Curve(name, shares, [slide(kind, share).acceleration for share in shares], line=False, marks=True)
        for kind, name in KINDS.items()
    ]
    return chart(curves, "tan(angle) over μ", "acceleration, m/s²", height=280)


def _pictures() -> list[Picture]:
    out = []
    for share in (0.8, 1.6):
        sim = on_slope("cushion", math.atan(share * MU))
        pair = stills(sim, [0.0, 0.7], (240, 160), zoom=0.95, view=(-90.0, 8.0))
        out.append(
            Picture(
                jpeg(strip(pair)), f"the cushion on tan(angle) = {share:g} μ, at the start and after 0.7 s", width=486
            )
        )
    return out
