"""V10. An inflated beam: when it wrinkles, and what it carries at most.

A tube of radius r and pressure p with closed ends has the axial tension N₀ = p r/2 per length of circumference, as
the ends pull with p π r². Bend it with the moment M (Comer & Levy 1963): while all of it is taut, the axial tension
is N = p r/2 + (M/(π r²)) cos β, with β the angle around the tube, and it vanishes at β = π when **M = π p r³/2**.

Beyond, the part |β| > π - β₀ is slack. With N = N₁ (cos β + cos β₀)/(1 + cos β₀) on the taut part |β| < π - β₀:

    p π r² = ∫ N r dβ         = 2 N₁ r (sin β₀ + (π - β₀) cos β₀)/(1 + cos β₀)
    M      = ∫ N r² cos β dβ  = N₁ r² (π - β₀ + sin β₀ cos β₀)/(1 + cos β₀)

so M/(π p r³) = (2π - 2β₀ + sin 2β₀)/(4 ((π - β₀) cos β₀ + sin β₀)). β₀ = 0 gives 1/2, and β₀ → π gives 1: all tension
is in one line at the outer side, **M = π p r³**, the collapse. The curvature is κ = N₁/(E h r (1 + cos β₀)) (the
tension per strain is E h in axial direction where the hoop strain is free). Both numbers hold as written, for a
section that stays round and small strains.

In the engine: the end rings and caps are held (pinned) and turned against each other; their distance is chosen such
that the resultant along the axis vanishes, as at free ends. M is the moment of the forces on one end about its
middle.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from turgor.errors import UnstableError
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Row, Svg
from turgor.scene import Gas, Membrane
from turgor.shapes.shape import Shape
from turgor.simulation.simulation import Simulation
from turgor.validate.meshes import mean_edge, tube
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.rest import calmed, photo, still_scene

__all__ = ["BEAM", "beam_curve", "beam_moment"]

FloatArray = npt.NDArray[np.float64]

RADIUS, LENGTH, PRESSURE = 0.1, 0.6, 10_000.0  # m, m, Pa
LOAD = 1e-3  # p r/(E h)
TOLERANCE = 0.02  # our own
FREE, SECANTS = 1e-3, 10  # of p π r²: what may be left along the axis; and how often to look


def beam_moment(slack: npt.ArrayLike) -> FloatArray:
    """M/(π p r³) when the part within the angle β₀ (rad) of the inner side is slack."""
    b = np.asarray(slack, np.float64)
    return np.asarray((2.0 * math.pi - 2.0 * b + np.sin(2.0 * b)) / (4.0 * ((math.pi - b) * np.cos(b) + np.sin(b))))


def beam_curve(points: int = 100) -> tuple[FloatArray, FloatArray]:
    """κ E h/p (curvature, without unit) and M/(π p r³), from nothing to β₀ = 150°."""
    b = np.linspace(0.0, math.radians(150.0), points)
    return np.concatenate([[0.0], _curvature(b)]), np.concatenate([[0.0], beam_moment(b)])


def beam(around: int) -> tuple[Shape, npt.NDArray[np.int32], Membrane]:
    """The tube, its rings, and its skin."""
    along = 2 * round(LENGTH / RADIUS * around / (2.0 * math.pi) / math.sqrt(0.75) / 2)
    shape, rings = tube(RADIUS, LENGTH, around, along)
    material = Membrane(
        young=PRESSURE * RADIUS / (LOAD * 1e-3), poisson=0.0, thickness=1e-3, density=1000.0, rigidity=0.0
    )
    return shape, rings, material


class Bent:
    """The tube with its ends turned against each other by an angle (rad)."""

    def __init__(self, around: int, angle: float) -> None:
        self.shape, self.rings, self.material = beam(around)
        count = len(self.shape.vertices)
        self.ends = [np.append(self.rings[0], count - 2), np.append(self.rings[-1], count - 1)]
        self.angle = angle
        self.sim: Simulation | None = None

    def start(self, stretch: float) -> FloatArray:
        """The tube bent to an arc whose middle line is stretched."""
        points = self.shape.vertices.copy()
        middle = points[:, 0] - 0.5 * LENGTH
        turn = self.angle * middle / LENGTH
        length = LENGTH * (1.0 + stretch)
        radius = length / self.angle if self.angle else math.inf
        out = np.empty_like(points)
        if self.angle:
            out[:, 0] = (radius + points[:, 2]) * np.sin(turn)
            out[:, 2] = (radius + points[:, 2]) * np.cos(turn) - radius
        else:
            out[:, 0], out[:, 2] = middle * (1.0 + stretch), points[:, 2]
        out[:, 1] = points[:, 1]
        return out

    def settle(self, stretch: float, warm: FloatArray | None = None) -> tuple[float, float]:
        """(axial resultant on an end over p π r², M/(π p r³)) at rest."""
        scene = still_scene()
        gas = Gas(gauge=PRESSURE, ambient=0.0, held=True)
        pins = np.concatenate(self.ends)
        scene.add_soft_body(
            self.shape, name="beam", mass=1.0, material=self.material, gas=gas, pins=pins, self_contact=False
        )
        place = self.start(stretch)
        if warm is not None:
            free = np.setdiff1d(np.arange(len(place)), pins)
            place[free] = warm[free]
        self.sim = sim = calmed(scene, PRESSURE, place)
        axial, moment = [], []
        for end, sign in zip(self.ends, (-1.0, 1.0), strict=True):
            turn = 0.5 * sign * self.angle
            axis = sign * np.array([math.cos(turn), 0.0, -math.sin(turn)])
            forces = sim["beam"].forces[end]
            arms = sim["beam"].positions[end] - sim["beam"].positions[end[-1]]
            axial.append(float((forces @ axis).sum()))
            moment.append(abs(float(np.cross(arms, forces)[:, 1].sum())))
        return (
            float(np.mean(axial)) / (PRESSURE * math.pi * RADIUS**2),
            float(np.mean(moment)) / (math.pi * PRESSURE * RADIUS**3),
        )

    def free_ends(self) -> float:
        """M/(π p r³) where nothing pulls at the ends along the axis: secants from the stretch that the formula "
        "gives."""
        guess = middle_stretch(self.angle / LENGTH * RADIUS / LOAD)
        one, other = guess, guess + 0.02 * LOAD
        pull, moment = self.settle(one)
        for _ in range(SECANTS):
            if abs(pull) < FREE:
                return moment
            assert self.sim is not None
            after, moment = self.settle(other, self.sim["beam"].positions)
            one, other, pull = other, other - after * (other - one) / (after - pull), after
        if abs(pull) < FREE:
            return moment
        raise UnstableError(f"the ends of the beam keep {abs(pull):.2g} of the pull of its pressure")


def middle_stretch(curvature: float) -> float:
    """Strain of the axis at κ E h/p: half of p r/E h while all is taut, κ r cos β₀ beyond."""
    angles = np.linspace(0.0, math.radians(170.0), 400)
    slack = float(np.interp(curvature, _curvature(angles), angles)) if curvature > 0.5 else 0.0
    return LOAD * (curvature * math.cos(slack) if slack else 0.5)


def _curvature(slack: FloatArray) -> FloatArray:
    """κ E h/p at β₀: N₁/(1 + cos β₀) = p π r/(2 (sin β₀ + (π - β₀) cos β₀)), and κ is that over E h r."""
    return np.asarray(math.pi / (2.0 * (np.sin(slack) + (math.pi - slack) * np.cos(slack))))


def inner_tension(bent: Bent) -> float:
    """Axial tension along the inner side over p r/2: of the faces in the middle half of the tube; hoops carry more."""
    assert bent.sim is not None
    centres = bent.shape.vertices[bent.shape.faces].mean(axis=1)
    along = np.abs(centres[:, 0] - 0.5 * LENGTH) < 0.25 * LENGTH
    side = np.arctan2(np.abs(centres[:, 1]), -centres[:, 2])  # 0 at the inner side
    near = along & (side < math.radians(30.0))
    tension = np.asarray(bent.sim["beam"].tension)[near, 1] / (0.5 * PRESSURE * RADIUS)
    return float(np.polyfit(np.cos(side[near]), tension, 1) @ [1.0, 1.0])  # N = a + b cos: at cos = 1


def collapse(curvature: FloatArray, moment: FloatArray) -> float:
    """M at infinite curvature. With δ = π - β₀ small, κ ~ δ⁻³ and 1 - M ~ δ²: M is a series in κ^(-2/3)."""
    return float(np.polyfit(curvature ** (-2.0 / 3.0), moment, 2)[-1])


def _bent(around: int, curvature: float) -> tuple[float, Bent]:
    """M/(π p r³) at κ E h/p, and the tube."""
    tube_bent = Bent(around, curvature * LOAD / RADIUS * LENGTH)
    return tube_bent.free_ends(), tube_bent


def run(quick: bool) -> Outcome:
    """Moment over curvature; onset of wrinkles; collapse."""
    sizes = (12, 18) if quick else (16, 24, 32)
    taut = (0.15, 0.42) if quick else (0.15, 0.3, 0.42)
    slack = np.array([1.0, 3.0, 8.0] if quick else [0.6, 1.0, 2.0, 3.0, 5.0, 8.0])
    high = slack >= 1.0
    onset, limit = [], []
    for around in sizes:
        pairs = [_bent(around, curvature) for curvature in taut]
        moments = [moment for moment, _ in pairs]
        line = np.polyfit(moments, [inner_tension(bent) for _, bent in pairs], 1)
        onset.append(float(-line[1] / line[0]))
        bent_far = [_bent(around, float(curvature)) for curvature in slack]
        far = np.array([moment for moment, _ in bent_far])
        limit.append(collapse(slack[high], far[high]))
    last = bent_far[-1][1].sim
    assert last is not None
    checks = [
        Check("M/(πpr³) where the inner side loses its tension", 0.5, onset[-1], TOLERANCE),
        Check("M/(πpr³) for ever larger curvature: collapse", 1.0, limit[-1], TOLERANCE),
    ]
    x, y = beam_curve()
    expected = np.interp(slack, x, y)
    checks += [
        Check(f"M/(πpr³) at κEh/p = {curvature:g}", float(exact), float(moment), TOLERANCE)
        for curvature, exact, moment in zip(slack, expected, far, strict=True)
        if curvature in (1.0, 3.0, 8.0)
    ]
    shown = x <= 9.0
    curves = [
        Curve("Comer & Levy", x[shown], y[shown]),
        Curve("turgor", [*taut, *slack], [*moments, *far], line=False),
        Curve("1/2 and 1", [0.0, 9.0], [0.5, 0.5], dashed=True),
        Curve("", [0.0, 9.0], [1.0, 1.0], dashed=True),
    ]
    turned = math.degrees(float(slack[-1]) * LOAD / RADIUS * LENGTH)
    meshes = [beam(around)[0] for around in sizes]
    vertices, edges = [len(mesh.vertices) for mesh in meshes], [mean_edge(mesh) / RADIUS for mesh in meshes]
    return Outcome(
        checks,
        [
            Row([
                Svg(chart(curves, "curvature κEh/p", "M/(πpr³)"), "Moment over curvature."),
                photo(last, f"Bent by {turned:.1f}°, {vertices[-1]:,} vertices.", view=(-90.0, 10.0)),
            ])
        ],
        [
            Refinement("M/(πpr³) at the onset of wrinkles", vertices, edges, onset, 0.5),
            Refinement("M/(πpr³) at collapse", vertices, edges, limit, 1.0),
        ],
        [
            "The moment tends to its limit with the curvature to the power −2/3; the limit is that of a parabola "
            "in this power "
            "through the moments from κEh/p = 1 on. At much larger curvature the section flattens and the moment "
            "falls, "
            "which the formula leaves out."
        ],
    )  # fmt: skip


BEAM = Reference(
    "V10",
    "beam",
    "Inflated beam",
    "Wrinkles at M = πpr³/2, collapses at πpr³; in between M over curvature by the tension field (Comer & Levy 1963).",
    "A closed tube, pr/Eh = 1e-3, ν = 0, wrinkling, pressure held; its ends are held, turned, and moved until "
    "nothing pulls "
    "along the axis. Tolerance (our own): 2 %.",
    run,
)
