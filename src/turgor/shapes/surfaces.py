"""Closed surfaces in 3D: balls, torus, box, capsule, cone. No seams, counter-clockwise seen from outside, about 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import MeshError
from turgor.shapes.arguments import length, lengths, limit, whole
from turgor.shapes.shape import FloatArray, IntArray, Shape

Indices = npt.NDArray[np.integer[Any]]

__all__ = ["box", "capsule", "cone", "icosphere", "torus", "uv_sphere"]


def icosphere(radius: float = 0.5, subdivisions: int = 2) -> Shape:
    """Sphere from an icosahedron whose triangles are split in four `subdivisions` times: the most even mesh.

    It has 10·4^s + 2 vertices and 20·4^s faces (s = 2: 162 and 320). `radius` in metres; vertices lie on the sphere.
    """
    radius = length("icosphere", "radius", radius)
    subdivisions = whole("icosphere", "subdivisions", subdivisions, 0, 9)
    limit("icosphere", 10 * 4**subdivisions + 2)
    vertices, faces = _icosahedron()
    for _ in range(subdivisions):
        vertices, faces = _split_in_four(vertices, faces)
        vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
    recipe = {"icosphere": {"radius": radius, "subdivisions": subdivisions}}
    return Shape(vertices * radius, faces, "surface", recipe)


def uv_sphere(radius: float = 0.5, stacks: int = 8, slices: int = 8) -> Shape:
    """Sphere of `stacks` bands from pole to pole (z axis) and `slices` around; each pole is one vertex.

    It has (stacks − 1)·slices + 2 vertices. `radius` in metres. (Martin 2009: "sphere of stacks × slices".)
    """
    radius = length("uv_sphere", "radius", radius)
    stacks = whole("uv_sphere", "stacks", stacks, 2)
    slices = whole("uv_sphere", "slices", slices, 3)
    limit("uv_sphere", (stacks - 1) * slices + 2)
    polar = math.pi * np.arange(1, stacks) / stacks
    vertices, faces = _lathe(radius * np.sin(polar), radius * np.cos(polar), radius, slices)
    recipe = {"uv_sphere": {"radius": radius, "stacks": stacks, "slices": slices}}
    return Shape(vertices, faces, "surface", recipe)


def capsule(radius: float = 0.25, height: float = 0.5, stacks: int = 12, slices: int = 16) -> Shape:
    """Cylinder along z of `height` (m) closed by two half balls of `radius` (m); total height is height + 2·radius.

    `stacks` bands are shared out by length between the caps (an equal number each) and the cylinder. With height 0 it
    is a sphere, and an odd `stacks` is rounded down.
    """
    radius = length("capsule", "radius", radius)
    height = length("capsule", "height", height, zero=True)
    stacks = whole("capsule", "stacks", stacks, 3)
    slices = whole("capsule", "slices", slices, 3)
    limit("capsule", (stacks - 1) * slices + 2)
    quarter = 0.5 * math.pi * radius
    cap = min(max(1, round(stacks * quarter / (2.0 * quarter + height))), (stacks - 1) // 2)
    middle = stacks - 2 * cap
    if height == 0.0:
        cap, middle = max(1, stacks // 2), 0
    polar = 0.5 * math.pi * np.arange(1, cap + 1) / cap
    ring, z = radius * np.sin(polar), radius * np.cos(polar)
    z[-1] = 0.0  # cos(π/2) is 6e-17 in floating point: keep the mesh mirror symmetric
    between = height * (0.5 - np.arange(1, middle) / middle) if middle else np.zeros(0)
    tail = slice(None, None, -1) if middle else slice(-2, None, -1)
    rings = np.concatenate([ring, np.full(len(between), radius), ring[tail]])
    levels = np.concatenate([0.5 * height + z, between, -0.5 * height - z[tail]])
    vertices, faces = _lathe(rings, levels, 0.5 * height + radius, slices)
    recipe = {"capsule": {"radius": radius, "height": height, "stacks": stacks, "slices": slices}}
    return Shape(vertices, faces, "surface", recipe)


def cone(radius: float = 0.5, height: float = 1.0, stacks: int = 12, slices: int = 16) -> Shape:
    """Cone about the z axis, its tip at +height/2, its round base of `radius` at −height/2 (both in m).

    `stacks` bands are shared out by length between the side and the base; tip and middle of the base are one vertex
    each: (stacks − 1)·slices + 2 vertices. The centre of mass lies at −height/4.
    """
    radius = length("cone", "radius", radius)
    height = length("cone", "height", height)
    stacks = whole("cone", "stacks", stacks, 2)
    slices = whole("cone", "slices", slices, 3)
    limit("cone", (stacks - 1) * slices + 2)
    slant = math.hypot(radius, height)
    side = min(max(1, round(stacks * slant / (slant + radius))), stacks - 1)
    down = np.arange(1, side + 1) / side
    inwards = np.arange(stacks - side - 1, 0, -1) / (stacks - side)
    rings = radius * np.concatenate([down, inwards])
    levels = height * np.concatenate([0.5 - down, np.full(len(inwards), -0.5)])
    vertices, faces = _lathe(rings, levels, 0.5 * height, slices)
    recipe = {"cone": {"radius": radius, "height": height, "stacks": stacks, "slices": slices}}
    return Shape(vertices, faces, "surface", recipe)


def torus(radius: float = 0.5, tube: float = 0.2, stacks: int = 16, slices: int = 16) -> Shape:
    """Ring about the z axis: `radius` (m) from the centre to the middle of the tube, `tube` (m) the tube's own radius.

    `stacks` vertices around the tube, `slices` around the axis: stacks·slices vertices, twice as many faces, no seam.
    """
    radius = length("torus", "radius", radius)
    tube = length("torus", "tube", tube)
    stacks = whole("torus", "stacks", stacks, 3)
    slices = whole("torus", "slices", slices, 3)
    limit("torus", stacks * slices)
    if tube >= radius:
        raise MeshError(
            f"torus: tube ({tube:g} m) must be smaller than radius ({radius:g} m), or the ring meets itself"
        )
    around = 2.0 * math.pi * np.arange(slices) / slices
    section = 2.0 * math.pi * np.arange(stacks) / stacks
    u, v = np.meshgrid(around, section, indexing="ij")
    distance = radius + tube * np.cos(v)
    vertices = np.stack([distance * np.cos(u), distance * np.sin(u), tube * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(slices), np.arange(stacks), indexing="ij")
    i1, j1 = (i + 1) % slices, (j + 1) % stacks
    faces = _quads(i * stacks + j, i1 * stacks + j, i1 * stacks + j1, i * stacks + j1)
    recipe = {"torus": {"radius": radius, "tube": tube, "stacks": stacks, "slices": slices}}
    return Shape(vertices, faces, "surface", recipe)


def box(size: Sequence[float] | float = (1.0, 1.0, 1.0), subdivisions: int = 1) -> Shape:
    """Box with edges `size` (x, y, z; m); each side is a grid of subdivisions × subdivisions squares of two triangles.

    It has 6·s² + 2 vertices and 12·s² faces (s = 1: the 8 corners and 12 faces). The diagonals of neighbouring
    squares alternate when s > 1, so that the springs on them have no preferred direction.
    """
    extent = np.array(lengths("box", "size", size, 3))
    n = whole("box", "subdivisions", subdivisions, 1)
    limit("box", 6 * n * n + 2)
    grid, faces = _box_grid(n)
    recipe = {"box": {"size": extent.tolist(), "subdivisions": n}}
    return Shape((grid / n - 0.5) * extent, faces, "surface", recipe)


def _icosahedron() -> tuple[FloatArray, IntArray]:
    """Unit icosahedron (12, 3), (20, 3), with a vertex at each pole of z and two rings at z = ±1/√5."""
    turn = 2.0 * math.pi * np.arange(5) / 5
    r, h = 2.0 / math.sqrt(5.0), 1.0 / math.sqrt(5.0)
    upper = np.stack([r * np.cos(turn), r * np.sin(turn), np.full(5, h)], axis=1)
    half = turn + math.pi / 5
    lower = np.stack([r * np.cos(half), r * np.sin(half), np.full(5, -h)], axis=1)
    vertices = np.concatenate([[[0.0, 0.0, 1.0]], upper, lower, [[0.0, 0.0, -1.0]]])
    k = np.arange(5)
    a, b, c, d = 1 + k, 1 + (k + 1) % 5, 6 + k, 6 + (k + 1) % 5
    top, bottom = np.zeros(5, int), np.full(5, 11)
    faces = np.concatenate([np.stack(t, 1) for t in ((top, a, b), (a, c, b), (b, c, d), (bottom, d, c))])
    return vertices, faces.astype(np.int32)


def _split_in_four(vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, IntArray]:
    """Loop's 1-to-4 split: one new vertex in the middle of each edge, shared by the two faces beside it."""
    sides = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).astype(np.int64)
    keys = sides.min(axis=1) * len(vertices) + sides.max(axis=1)
    unique, inverse = np.unique(keys, return_inverse=True)
    middle = 0.5 * (vertices[unique // len(vertices)] + vertices[unique % len(vertices)])
    a, b, c = faces.T
    ab, bc, ca = (len(vertices) + inverse.reshape(-1, 3)).astype(np.int32).T
    split = np.stack([a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca], axis=1).reshape(-1, 3)
    return np.concatenate([vertices, middle]), split


def _lathe(ring: FloatArray, z: FloatArray, pole: float, slices: int) -> tuple[FloatArray, IntArray]:
    """Rings of radius ring[i] at height z[i] (falling) about the z axis, closed by one vertex at each of ±pole."""
    rows = len(ring)
    turn = 2.0 * math.pi * np.arange(slices) / slices
    bands = np.empty((rows, slices, 3))
    bands[..., 0] = ring[:, None] * np.cos(turn)
    bands[..., 1] = ring[:, None] * np.sin(turn)
    bands[..., 2] = z[:, None]
    vertices = np.concatenate([[[0.0, 0.0, pole]], bands.reshape(-1, 3), [[0.0, 0.0, -pole]]])
    j = np.arange(slices)
    j1 = (j + 1) % slices
    i = 1 + np.arange(rows - 1)[:, None] * slices
    last = 1 + (rows - 1) * slices
    top = np.stack([np.zeros_like(j), 1 + j, 1 + j1], axis=1)
    bottom = np.stack([np.full_like(j, last + slices), last + j1, last + j], axis=1)
    sides = _quads(i + j, i + slices + j, i + slices + j1, i + j1)
    return vertices, np.concatenate([top, sides, bottom]).astype(np.int32)


def _quads(a: Indices, b: Indices, c: Indices, d: Indices) -> IntArray:
    """Squares a-b-c-d (counter-clockwise) as triangles abc and acd."""
    return np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3).astype(np.int32)


def _box_grid(n: int) -> tuple[FloatArray, IntArray]:
    """Lattice points 0..n of a cube's skin (6n² + 2, 3), as floats, and its faces with shared rims."""
    p, q = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    points: list[npt.NDArray[np.int64]] = []
    triangles: list[IntArray] = []
    for axis in range(3):
        for side in (0, n):
            lattice = np.empty((n + 1, n + 1, 3), np.int64)
            lattice[..., axis] = side
            lattice[..., (axis + 1) % 3] = p
            lattice[..., (axis + 2) % 3] = q
            k = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
            a, b, c, d = k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]
            even = ((p + q)[:-1, :-1] % 2 == 0).ravel()
            one, other = _quads(a, b, c, d).reshape(-1, 2, 3), _quads(b, c, d, a).reshape(-1, 2, 3)
            square = np.where(even[:, None, None], one, other).reshape(-1, 3)
            triangles.append((square if side else square[:, ::-1]) + len(points) * (n + 1) ** 2)
            points.append(lattice.reshape(-1, 3))
    lattice = np.concatenate(points)
    keys = (lattice[:, 0] * (n + 1) + lattice[:, 1]) * (n + 1) + lattice[:, 2]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return lattice[first].astype(np.float64), inverse[np.concatenate(triangles)].astype(np.int32)
