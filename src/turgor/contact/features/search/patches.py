"""Bodies that may touch themselves, cut into patches: a few neighbouring points each, with faces and edges at them.

Points are in an order in which neighbours in space are mostly neighbours (Morton), so a patch has a range of them. Each
face and edge belongs to the patch of its lowest point; the corners of a patch are the points of all that belongs to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["Patches"]

IntArray = npt.NDArray[np.int32]

SIZE = 4  # points of a patch
MOST = 2048  # patches of a body, which are compared all with all


class Patches:
    """Which points, faces and edges belong to each patch of the bodies that may touch themselves; never changes."""

    def __init__(self, model: Model, surfaces: Surfaces) -> None:
        f = surfaces
        ranges, start = [], [0]
        for first, last, own in zip(f.point_start.numpy(), f.point_end.numpy(), f.self_contact.numpy(), strict=True):
            if own:
                step = max(SIZE, -(-(last - first) // MOST))
                ranges += [(begin, min(begin + step, last)) for begin in range(first, last, step)]
            start.append(len(ranges))
        bounds = np.array(ranges, np.int32).reshape(-1, 2)
        self.count = len(bounds)
        self.patch_start = model.int_array(np.array(start))  # first patch of each contact body, and the end
        self.patch_points = model.index_array(bounds, wp.vec2i)  # first, and behind the last
        self.patch_faces, self.face_range, at_faces = self._owned(model, f.faces.numpy(), bounds)
        self.patch_edges, self.edge_range, at_edges = self._owned(model, f.edges.numpy()[:, :2], bounds)
        sizes = bounds[:, 1] - bounds[:, 0]
        own = np.stack([np.repeat(np.arange(self.count), sizes), _joined(bounds)], axis=1)
        corners = np.unique(np.concatenate([at_faces, at_edges, own]), axis=0)
        self.patch_corners = model.int_array(corners[:, 1])
        ends = np.searchsorted(corners[:, 0], np.arange(self.count + 1))
        self.corner_range = model.index_array(np.stack([ends[:-1], ends[1:]], axis=1).astype(np.int32), wp.vec2i)

    @staticmethod
    def _owned(model: Model, corners: IntArray, bounds: IntArray) -> tuple[Any, Any, IntArray]:
        """(features in the order of their patches, range of each patch, rows of patch and corner)."""
        lowest = corners.min(axis=1) if len(corners) else np.zeros(0, np.int32)
        order = np.argsort(lowest, kind="stable").astype(np.int32)
        ends = np.searchsorted(lowest[order], bounds).astype(np.int32)
        mine = order[_joined(ends)]
        patch = np.repeat(np.arange(len(bounds)), ends[:, 1] - ends[:, 0])
        rows = np.stack([np.repeat(patch, corners.shape[1]), corners[mine].ravel()], axis=1)
        return model.int_array(order), model.index_array(ends, wp.vec2i), rows


def _joined(ranges: IntArray) -> IntArray:
    """All that lies in the ranges, one after another."""
    return np.concatenate([*(np.arange(first, last) for first, last in ranges), np.zeros(0)]).astype(np.int32)
