"""Glue between rigid bodies and vertices of soft bodies: which vertex hangs on which body, and where on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.model.parts import Part
from turgor.model.rotations import swing
from turgor.scene.data import rotation_matrix
from turgor.scene.scene import Scene

if TYPE_CHECKING:
    from turgor.model.rigids import Rigids

__all__ = ["Glue"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]


class Glue:
    """Host arrays of one world, in the internal order of vertices; `place` adds the device arrays of all worlds."""

    def __init__(self, scene: Scene, parts: Sequence[Part], starts: npt.NDArray[np.int64]) -> None:
        soft = {body.name: index for index, body in enumerate(scene.bodies)}
        hard = {body.name: index for index, body in enumerate(scene.rigid_bodies)}
        vertices: list[int] = []
        owners: list[int] = []
        for entry in scene.attachments:
            index = soft[entry.body]
            chosen = np.isin(parts[index].order, scene.bodies[index].chosen_vertices(entry.vertices))
            found = (np.flatnonzero(chosen) + starts[index]).tolist()
            vertices += found
            owners += [hard[entry.rigid]] * len(found)
        self.vertex_host = np.array(vertices, np.int32)
        self.body_host = np.array(owners, np.int32)
        owner = np.searchsorted(starts, self.vertex_host, side="right") - 1
        pairs = [(parts[b], v - starts[b]) for b, v in zip(owner, self.vertex_host, strict=True)]
        self.masses = np.array([part.masses[v] for part, v in pairs])  # (g,) kg
        self.positions = np.array([part.positions[v] for part, v in pairs]).reshape(-1, scene.dim)  # (g, dim) m, world

    def vertices_between(self, first: int, last: int) -> IntArray:
        """The glued ones of the vertices first .. last of a world, counted from `first`, in internal order."""
        mine = self.vertex_host[(self.vertex_host >= first) & (self.vertex_host < last)]
        return np.asarray(mine - first, np.int32)

    def place(self, rigids: Rigids, vertices: int) -> None:
        """Device arrays: vertex and body of all worlds, and the vertex in the body's principal frame.

        Glued vertices start with the velocity of their body at that place (`velocities`, m/s, host, one world).
        """
        local = np.zeros_like(self.positions)
        self.velocities = np.zeros_like(self.positions)
        for index, (body, props) in enumerate(zip(rigids.bodies, rigids.props, strict=True)):
            mine = self.body_host == index
            turn = rotation_matrix(body.rotation)
            arms = self.positions[mine] - (np.array(body.at) + turn @ props.center)
            local[mine] = arms @ (turn @ props.rotation)
            self.velocities[mine] = np.array(body.velocity) + swing(body.spin, arms)
        count = len(self.vertex_host)
        self.count = count * rigids.worlds
        self.vertex = rigids.tiled(self.vertex_host, wp.int32, vertices)
        self.body = rigids.tiled(self.body_host, wp.int32, rigids.count)
        self.local = rigids.tiled(local, rigids.numbers.vec)
        # of each rigid body: entries start[r] .. start[r + 1] of `order`, which are places in `vertex`
        counts = np.tile(np.bincount(self.body_host, minlength=rigids.count), rigids.worlds)
        self.order = rigids.tiled(np.argsort(self.body_host, kind="stable"), wp.int32, count)
        self.start = rigids.array(np.cumsum([0, *counts]) if count else [], wp.int32)
