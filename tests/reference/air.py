"""The air around a body: drag per area, Matyka's wind (D3), drag per mass, and Martin's velocity damping (B5)."""

from __future__ import annotations

import numpy as np

from reference.volume import vertex_normals


def wind_forces(x, v, faces, wind, coefficient):
    """coefficient ((w - v)·n) n at every point, n its area-weighted unit normal (Matyka 2007); coefficient kg/s."""
    n = vertex_normals(x, faces)
    return coefficient * np.einsum("ij,ij->i", np.asarray(wind) - v, n)[:, None] * n


def air_forces(x, v, faces, wind, share, density, across, along):
    """½ ρ A |u| (C_across u_n + C_along u_t) at every point, u = w - v; A n: `share` of the face vectors around it."""
    corners = x[faces]
    if x.shape[1] == 2:
        d = corners[:, 1] - corners[:, 0]
        vectors = np.stack([d[:, 1], -d[:, 0]], axis=1) / 2
    else:
        vectors = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 6
    area = np.zeros_like(x)
    for corner in range(x.shape[1]):
        np.add.at(area, faces[:, corner], vectors)
    size = np.linalg.norm(area, axis=1, keepdims=True)
    n, u = area / size, np.asarray(wind) - v
    normal = np.sum(u * n, axis=1, keepdims=True) * n
    speed = np.linalg.norm(u, axis=1, keepdims=True)
    return 0.5 * density * np.reshape(share, (-1, 1)) * size * speed * (across * normal + along * (u - normal))


def drag_forces(v, mass, c):
    """-c m v: dv/dt = -c v, c in 1/s."""
    return -c * np.asarray(mass)[:, None] * v


def martin_damping(v, dt, k, general=0.01, k_max=400.0, rate=60.0):
    """Martin 2009, 3.1.3: v' = v - ρ v once per frame of his 60 Hz, ρ = ρg + (1 - ρg) k/kmax.

    For any other step the same decay per second: v (1 - ρ)^(rate dt).
    """
    rho = general + (1.0 - general) * k / k_max
    return v * (1.0 - rho) ** (rate * dt)
