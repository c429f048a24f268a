"""Rigid bodies in motion: pose, velocity, angular momentum and grabs; and the work arrays of a substep."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.model.rigids import Rigids
from turgor.scene.data import rotation_matrix
from turgor.scene.rigid import RigidBody
from turgor.shapes.mass import MassProperties

__all__ = ["RigidScratch", "RigidState"]

FloatArray = npt.NDArray[np.float64]


class RigidState:
    """Device arrays, one entry per body and world; positions are relative to the model's anchor."""

    SAVED: tuple[str, ...] = (
        "x", "v", "q", "angular", "spin", "grab_on", "grab_local", "grab_target", "grab_stiffness", "grab_damping",
        "dissipated", "work",
    )  # fmt: skip
    CHANGED: tuple[str, ...] = ("x", "v", "q", "angular", "spin", "dissipated", "work")

    def __init__(self, rigids: Rigids, anchor: FloatArray) -> None:
        n = rigids.numbers
        rows = [
            (body, props, rotation_matrix(body.rotation))
            for body, props in zip(rigids.bodies, rigids.props, strict=True)
        ]
        self.x = rigids.vectors([np.array(body.at) + turn @ props.center - anchor for body, props, turn in rows])  # m
        self.v = rigids.vectors([body.velocity for body in rigids.bodies])  # m/s
        self.q = rigids.poses([turn @ props.rotation for _, props, turn in rows])  # principal axes in the world
        self.spin = rigids.spins([body.spin for body in rigids.bodies])  # rad/s
        self.angular = rigids.spins([_angular_momentum(*row) for row in rows])  # kg m²/s
        self.grab_on = rigids.zeros(wp.int32)  # 1: the body is grabbed
        self.grab_local, self.grab_target = rigids.zeros(n.vec), rigids.zeros(n.vec)  # m: principal frame; from anchor
        self.grab_stiffness, self.grab_damping = rigids.zeros(n.real), rigids.zeros(n.real)  # N/m; N s/m
        self.dissipated, self.work = rigids.zeros(wp.float64), rigids.zeros(wp.float64)  # J: the ledger


class RigidScratch:
    """Work arrays of a substep, one entry per body and world."""

    def __init__(self, rigids: Rigids, ledger: bool = False) -> None:
        n = rigids.numbers
        self.force, self.torque = rigids.zeros(n.vec), rigids.zeros(n.spin)  # N, N m: of glued vertices
        self.push_move, self.push_turn = rigids.zeros(n.vec), rigids.zeros(n.spin)  # m, rad: removal of penetration
        # N s, N m s: on bodies that are moved from outside; for the ledger, else empty
        driven = rigids.total if ledger and any(body.kind == "kinematic" for body in rigids.bodies) else 0
        self.driven_impulse = wp.zeros(driven, dtype=n.vec, device=rigids.device)
        self.driven_moment = wp.zeros(driven, dtype=n.spin, device=rigids.device)
        self.world_inertia = _inverse_inertias(rigids)  # inverse inertia in world axes; a substep refreshes it


def _angular_momentum(body: RigidBody, props: MassProperties, turn: FloatArray) -> Any:
    """In world axes at the start; 0 for a body that forces do not move."""
    if body.dim == 2:
        return float(props.moments[0]) * float(np.asarray(body.spin)) * (body.kind == "dynamic")
    return turn @ props.inertia @ turn.T @ np.array(body.spin) * (body.kind == "dynamic")


def _inverse_inertias(rigids: Rigids) -> Any:
    """Inverse inertia in world axes at the start."""
    n = rigids.numbers
    rows = list(zip(rigids.bodies, rigids.props, strict=True))
    if n.dim == 2:
        return rigids.reals([1.0 / float(p.moments[0]) if b.kind == "dynamic" else 0.0 for b, p in rows])
    kind = wp.mat33f if n.precision == "single" else wp.mat33d
    inverse = np.zeros((rigids.count, 3, 3))
    for index, (body, props) in enumerate(rows):
        if body.kind == "dynamic":
            turn = rotation_matrix(body.rotation)
            inverse[index] = turn @ np.linalg.inv(props.inertia) @ turn.T
    return rigids.tiled(inverse, kind)
