"""Ways to hand the pressure to the vertices: exact gradient (B2), vertex normals in two readings (C7), scaled (B4)."""

from __future__ import annotations

import numpy as np

from reference.volume import face_normals, vertex_normals, volume_gradient


def gradient_forces(x, faces, gauge):
    """gauge × dV/dx: area × normal of each face, a third (2D: half) to each corner (B2, A4)."""
    return gauge * volume_gradient(x, faces)


def vertex_normal_forces(x, faces, gauge, divided=False):
    """C7: gauge × (sum of the areas of its faces) / dim along the mean of the unit normals of its faces.

    divided: by the number of its faces instead of dim.
    """
    area = np.zeros(len(x))
    for s in range(x.shape[1]):
        np.add.at(area, faces[:, s], face_normals(x, faces)[1])
    shares = np.bincount(np.ravel(faces), minlength=len(x)) if divided else x.shape[1]
    return gauge * (area / shares)[:, None] * vertex_normals(x, faces, weighted=False)


def spring_count_scaling(count, edges):
    """B4: springs at the vertex divided by the mean number of springs per vertex, (n,)."""
    springs = np.bincount(np.asarray(edges).ravel(), minlength=count).astype(float)
    return springs / springs.mean()
