"""Matyka & Ollila 2003, figure 8: a hand is hit by a ball."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from turgor import gallery
from turgor.papers.drawing.stills import cover, jpeg, stills, strip
from turgor.papers.matyka2003.ways import beside
from turgor.papers.report.blocks import Block, Compared, Picture, Text
from turgor.simulation.simulation import Simulation

__all__ = ["Hit", "hand"]

FloatArray = npt.NDArray[np.float64]


class Hit:
    """What a ball does to the hand: how far a point moves (m), the least volume, the ball's speed at the end (m/s)."""

    def __init__(self) -> None:
        self.rest: FloatArray | None = None
        self.volumes: list[float] = []
        self.moved, self.speed = 0.0, 0.0

    def look(self, sim: Simulation) -> None:
        """The first look is at rest."""
        points = sim["hand"].positions
        if self.rest is None:
            self.rest = points
        self.moved = max(self.moved, float(np.linalg.norm(points - self.rest, axis=1).max()))
        self.volumes.append(float(sim["hand"].volume))
        self.speed = float(sim.rigid_bodies["ball"].velocity[1])

    def found(self) -> list[float]:
        """Largest displacement, least volume over that at rest, the ball's speed towards the hand."""
        return [self.moved, min(self.volumes) / self.volumes[0], self.speed]


def hand(quick: bool) -> list[Block]:
    """Figure 8 of the report."""
    sim = Simulation(gallery.load("hand-and-ball"))
    body = sim.scene.soft_bodies[0]
    rest = sim["hand"].positions
    start = sim.rigid_bodies["ball"].velocity.copy()
    times = (0.0, 0.45, 0.6) if quick else (0.0, 0.4, 0.5, 0.7)
    pictures = stills(sim, times, (400 if quick else 300, 300), zoom=1.3)
    wrist = float(np.abs(sim["hand"].positions[body.pinned] - rest[body.pinned]).max())
    by_bounds = Simulation(gallery.load("hand-and-ball"), contact="bounding", solver="midpoint")
    others = stills(by_bounds, times, (400 if quick else 300, 300), zoom=1.3)
    found, table = beside(
        lambda: gallery.load("hand-and-ball"), times[-1],
        ["moved, m", "volume / rest", "ball, m/s"], Hit,
        caption="Farthest that a point of the hand moves, its smallest volume, the ball's speed towards it at the end.",
    )  # fmt: skip
    ours, paper = found[0], found[-1]
    moved, smallest, end = ours.found
    rows: list[tuple[str, Any, Any]] = [
        ("vertices of the hand", "386 (figure 8), about 370 (text)", len(body.shape.vertices)),
        ("faces of the hand", "768 (figure 8), 736 (text)", len(body.shape.faces)),
        ("frames per second, midpoint and bounding objects as in the paper", "50 (40 to 50 in the text)", paper.fps),
        ("frames per second, turgor's solver and contact of all features", None, ours.fps),
        ("substeps per frame, for springs this stiff", None, ours.substeps),
        ("ball towards the hand: at the start, m/s", None, start[1]),
        ("ball towards the hand: at the end, m/s", None, end),
        ("largest displacement of a point of the hand, m", None, moved),
        ("smallest volume / volume at rest", None, smallest),
        ("displacement of the wrist, m", None, wrist),
    ]
    moments = "At " + ", ".join(f"{moment:g}" for moment in times) + " s"
    return [
        Text("A user hits a soft hand with a rigid ball. Here the ball is thrown; `turgor play` lets you pull it."),
        Picture(
            jpeg(strip(pictures)), f"{moments}; contact of all features.", cover=cover(pictures[1], top=0.0),
        ),
        Picture(
            jpeg(strip(others)),
            f"{moments}; midpoint and bounding objects as in the paper.",
        ),
        Compared(
            rows,
            "The paper gives two sizes of its hand; both fit a closed mesh: F = 2V − 4. Frames of 1/60 s simulated per "
            "second of processor time, not drawn.",
        ),
        table,
        Text(
            f"The ball comes with {start[1]:.1f} m/s and goes with {end:.1f} m/s; the hand gives way by {moved:.2f} m, "
            f"loses at most {1 - smallest:.1%} of its volume; the wrist is held. With the paper's solver and bounding "
            f"objects the ball goes with {paper.found[2]:.1f} m/s, and the hand gives way by {paper.found[0]:.2f} m.",
            "measured",
        ),
    ]  # fmt: skip
