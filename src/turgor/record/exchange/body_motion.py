"""The motion of one body as an animation: how it moves as a whole, and the shapes it takes, within an allowed error.

Each frame is a rotation and a place (`poses`), and a shape in the body's own frame (`shape_basis`). What flies or rolls
without changing its shape, such as a rigid body, has no shapes to store; a ball that bounces needs some ten, however
long it does so. Then each of the three is thinned to keyframes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor.record.exchange.keyframes import Track, reduced
from turgor.record.exchange.poses import fitted_rotation, moved_between, near_quaternion, slerp, turned_between
from turgor.record.exchange.shape_basis import MorphTargets, ShapeBasis
from turgor.record.exchange.surfaces import Surface

__all__ = ["BodyMotion", "Motion"]

FloatArray = npt.NDArray[np.float64]
#: Shares of the allowed error; together 1. Shapes cost most, so they get most.
BASIS, LEFT_OUT, PLACE, TURN, WEIGHTS = 0.3, 0.25, 0.15, 0.1, 0.2


@dataclass(frozen=True)
class Motion:
    """What is animated. A vertex is at place + turn · (rest + Σ weight · shape)."""

    rest: FloatArray  # (vertices, 3) m: the first frame about its mean
    normals: FloatArray  # (normals, 3) of the first frame
    targets: MorphTargets
    place: Track  # (keys, 3) m
    turn: Track  # (keys, 4) quaternions x, y, z, w
    weights: Track  # (keys, targets)
    error: float  # m: by which the animation misses any vertex of any frame, at most


class BodyMotion:
    """Takes the frames of one body."""

    def __init__(self, surface: Surface, first: FloatArray, allowed: float, rigid: bool) -> None:
        """first: (vertices, 3) m, the first frame, which is also to be added; allowed: m."""
        self._surface = surface
        self._allowed = allowed
        self._rest = first - first.mean(axis=0)
        self._normals = surface.normals(first)
        points = 0 if surface.flat else len(surface.smooth_vertices)
        self._basis = ShapeBasis(len(first), points, BASIS * allowed)
        self._rigid = rigid
        self._rotation = np.eye(3)
        self._times: list[float] = []
        self._places: list[FloatArray] = []
        self._turns: list[FloatArray] = []
        self._radius = 0.0  # m: largest distance from the mean so far

    def add(self, time: float, positions: FloatArray) -> None:
        """positions: (vertices, 3) m at `time`, s."""
        place = positions.mean(axis=0)
        local = positions - place
        rotation = np.eye(3) if not self._times else fitted_rotation(
            self._rest, local, None if self._rigid else self._rotation
        )  # fmt: skip
        self._rotation = rotation
        self._times.append(time)
        self._places.append(place)
        self._turns.append(near_quaternion(rotation, self._turns[-1] if self._turns else None))
        self._radius = max(self._radius, float(np.sqrt((local**2).sum(axis=1).max())))
        if self._surface.flat or self._rigid:
            change = np.zeros((0, 3))
        else:
            change = self._surface.normals(local) @ rotation - self._normals
        self._basis.add(local @ rotation - self._rest, change)

    def finish(self) -> Motion:
        """The animation of all frames."""
        targets = self._basis.finish(LEFT_OUT * self._allowed)
        times, places, turns = np.array(self._times), np.array(self._places), np.array(self._turns)
        place = reduced(times, places, PLACE * self._allowed, moved_between)

        def rim(one: FloatArray, other: FloatArray) -> FloatArray:
            return self._radius * turned_between(one, other)

        def shift(one: FloatArray, other: FloatArray) -> FloatArray:
            return targets.reach * moved_between(one * targets.sizes, other * targets.sizes)

        turn = reduced(times, turns, TURN * self._allowed, rim, slerp)
        weights = reduced(times, targets.weights, WEIGHTS * self._allowed, shift)
        missed = targets.errors + place.errors + turn.errors + weights.errors
        # Places, quaternions and points are written in single precision.
        rounding = 4.0 * float(np.finfo(np.float32).eps) * (np.abs(places).max() + self._radius)
        return Motion(self._rest, self._normals, targets, place, turn, weights, float(missed.max() + rounding))
