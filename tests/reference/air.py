"""The air around a body: wind (D3), drag, and Martin's velocity damping (B5)."""

from __future__ import annotations

import numpy as np

from reference.volume import vertex_normals


def wind_forces(x, v, faces, wind, coefficient):
    """coefficient ((w - v)·n) n at every point, n its area-weighted unit normal (Matyka 2007); coefficient kg/s."""
    n = vertex_normals(x, faces)
    return coefficient * np.einsum("ij,ij->i", np.asarray(wind) - v, n)[:, None] * n


def drag_forces(v, mass, c):
    """-c m v: dv/dt = -c v, c in 1/s."""
    return -c * np.asarray(mass)[:, None] * v


def martin_damping(v, dt, k, general=0.01, k_max=400.0, rate=60.0):
    """Martin 2009, 3.1.3: v' = v - ρ v once per frame of his 60 Hz, ρ = ρg + (1 - ρg) k/kmax.

    For any other step the same decay per second: v (1 - ρ)^(rate dt).
    """
    rho = general + (1.0 - general) * k / k_max
    return v * (1.0 - rho) ** (rate * dt)
