"""The union of closed shells that overlap, by manifold3d."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turgor.errors import MeshError
from turgor.shapes.shape import FloatArray, Shape
from turgor.shapes.topology import Integers

__all__ = ["union"]


def union(source: str, parts: Sequence[Shape]) -> tuple[FloatArray, Integers]:
    """Vertices and faces of the surface around all parts; what lies inside another part is gone.

    The parts are moved to the origin and back, so that the digits of coordinates far from it are not lost.
    """
    import manifold3d

    middle = np.concatenate([part.vertices for part in parts]).mean(axis=0)
    solids = []
    for number, part in enumerate(parts):
        mesh = manifold3d.Mesh64(
            np.ascontiguousarray(part.vertices - middle), np.ascontiguousarray(part.faces.astype(np.uint64))
        )
        solid = manifold3d.Manifold(mesh)
        if solid.status() != manifold3d.Error.NoError:
            raise MeshError(
                f'{source}: shell {number} cannot be joined with the others; load it apart, with parts="all" or shell'
            )
        solids.append(solid)
    joined = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add).to_mesh64()
    return np.asarray(joined.vert_properties)[:, :3] + middle, np.asarray(joined.tri_verts).astype(np.int64)
