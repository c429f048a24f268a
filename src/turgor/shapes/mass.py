"""Mass properties of solid bodies of uniform density: exact integrals over any closed shape, and closed forms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turgor.errors import MeshError, SceneError
from turgor.shapes.shape import FloatArray, IntArray, Shape

__all__ = ["MassProperties", "box_inertia", "capsule_inertia", "mass_properties", "solid", "sphere_inertia"]

# A shape with less than this part of its own extent to the power of its dimension encloses nothing that round-off
# could not have made.
EMPTY = 1e-14
# Products of inertia below this part of the trace are round-off: the shape's own axes are principal ones.
ALIGNED = 1e-12


@dataclass(frozen=True, eq=False)
class MassProperties:
    """What the motion of a solid needs. In 2D the inertia is a number and `rotation` the identity.

    `rotation` takes principal to shape coordinates: its columns are the principal axes, right-handed, and
    inertia = rotation · diag(moments) · rotationᵀ. Where the shape's own axes are principal it is the identity.
    """

    mass: float  # kg
    center: FloatArray  # (dim,) centre of mass, m
    inertia: FloatArray  # (3, 3) about the centre, along the shape's axes, kg·m²; () in 2D
    moments: FloatArray  # (3,) principal moments, kg·m²; (1,) in 2D
    rotation: FloatArray  # (dim, dim)

    def with_points(self, masses: FloatArray, points: FloatArray) -> MassProperties:
        """Of this solid with point masses (n,) kg at `points` (n, dim), in the shape's axes: all that moves as one."""
        if not len(masses):
            return self
        mass = self.mass + float(masses.sum())
        center = (self.mass * self.center + masses @ points) / mass
        dim = len(center)
        spread = np.concatenate([[self.center], points]) - center
        weights = np.concatenate([[self.mass], masses])
        second = np.einsum("n,ni,nj->ij", weights, spread, spread)  # ∫ x xᵀ dm of the parts as points (Steiner)
        if dim == 2:
            return solid(mass, center, self.inertia + np.trace(second))
        return solid(mass, center, self.inertia + np.trace(second) * np.eye(3) - second)


def solid(mass: float, center: FloatArray, inertia: FloatArray) -> MassProperties:
    """Mass properties from the inertia about the centre: (3, 3) along the shape's axes; () in 2D."""
    inertia = np.asarray(inertia, np.float64)
    if len(center) == 2:
        return MassProperties(mass, center, inertia, inertia.reshape(1), np.eye(2))
    return MassProperties(mass, center, inertia, *_principal(inertia))


def mass_properties(shape: Shape, mass: float) -> MassProperties:
    """Centre and inertia of the solid of `mass` (kg) that a closed surface or outline encloses, at uniform density.

    Exact for the polyhedron or polygon, convex or not, with holes and handles: by the divergence theorem the solid is
    the sum of the signed tetrahedra (triangles in 2D) between a point and its faces. The first pass takes them about
    the mean vertex and finds the centre of mass, the second about that, so nothing cancels far from the origin.
    """
    mass = _positive("mass", mass)
    _must_be_closed(shape)
    start = shape.vertices.mean(axis=0)
    extent = float(np.ptp(shape.vertices, axis=0).max())
    if not (np.isfinite(extent) and extent > 0.0):
        raise MeshError(
            "a rigid body's shape must have finite vertices that are not all in one place; check its points"
        )
    local = (shape.vertices - start) / extent  # of size one: no over- or underflow in products of five lengths
    volume, first, _ = _integrals(local, shape.faces)
    name = "area" if shape.dim == 2 else "volume"
    if volume < -EMPTY:
        raise MeshError(
            f"a rigid body's shape is inside out (its {name} is {volume * extent**shape.dim:.3g}); "
            "reverse its faces, or pass it through turgor.shapes.repair"
        )
    if volume <= EMPTY:
        raise MeshError(
            f"a rigid body's shape encloses no {name}, so its inertia is not defined; "
            "give it thickness, or use a box of that size"
        )
    middle = first / volume
    _, _, second = _integrals(local - middle, shape.faces)
    second *= mass * extent**2 / volume  # ∫ x xᵀ dm
    center = start + extent * middle
    trace = np.array(np.trace(second))
    made = solid(mass, center, trace if shape.dim == 2 else trace * np.eye(3) - second)
    if made.moments.min() <= 0.0:
        raise MeshError(
            "a rigid body's shape crosses itself, so that parts of it count as negative mass; "
            "use its convex hull, or pass it through turgor.shapes.repair"
        )
    return made


def box_inertia(mass: float, size: Sequence[float]) -> FloatArray:
    """(3,) moments, kg·m², of a solid box with edges `size` (w, h, d; m) about its axes.

    m/12·(h² + d², w² + d², w² + h²). Martin 2009 prints one of the three twice, which is right for cubes only.
    """
    if len(size) != 3:
        raise SceneError(f"a box has three edges, got size {tuple(size)!r}; give (width, height, depth) in metres")
    w, h, d = (_positive("size", edge) for edge in size)
    return _positive("mass", mass) / 12.0 * np.array([h * h + d * d, w * w + d * d, w * w + h * h])


def sphere_inertia(mass: float, radius: float) -> FloatArray:
    """(3,) moments, kg·m², of a solid ball of `radius` (m): 2/5·m·r² about every axis."""
    return np.full(3, 0.4 * _positive("mass", mass) * _positive("radius", radius) ** 2)


def capsule_inertia(mass: float, radius: float, height: float) -> FloatArray:
    """(3,) moments, kg·m², of a solid capsule along z: a cylinder of `height` (m) and two half balls of `radius` (m).

    The half balls, moved apart by half the height, have 2/5·r² + h²/4 + 3/8·h·r per mass across the axis: their
    centres lie 3/8·r beyond the flat sides.
    """
    mass, radius = _positive("mass", mass), _positive("radius", radius)
    height = _positive("height", height, zero=True)
    barrel = height / (height + 4.0 / 3.0 * radius)  # part of the volume, and so of the mass
    caps = 1.0 - barrel
    r2, h2 = radius * radius, height * height
    across = barrel * (h2 / 12.0 + r2 / 4.0) + caps * (0.4 * r2 + h2 / 4.0 + 0.375 * height * radius)
    along = barrel * r2 / 2.0 + caps * 0.4 * r2
    return mass * np.array([across, across, along])


def _integrals(vertices: FloatArray, faces: IntArray) -> tuple[float, FloatArray, FloatArray]:
    """∫ 1, ∫ x (dim,) and ∫ x xᵀ (dim, dim) over the solid, from signed simplices with a corner at the origin.

    A simplex of dimension d with corners 0 and aᵢ has, with D = det(a) and s = Σ aᵢ: D/d!, D/(d+1)!·s and
    D/(d+2)!·(Σ aᵢ aᵢᵀ + s sᵀ).
    """
    corners = vertices[faces]
    dim = vertices.shape[1]
    det = np.linalg.det(corners)
    total = corners.sum(axis=1)
    second = np.einsum("f,fki,fkj->ij", det, corners, corners) + np.einsum("f,fi,fj->ij", det, total, total)
    return (
        float(det.sum()) / math.factorial(dim),
        det @ total / math.factorial(dim + 1),
        0.5 * (second + second.T) / math.factorial(dim + 2),
    )


def _principal(inertia: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Moments (3,) and rotation (3, 3). Rising moments, unless the axes of the shape are principal already."""
    trace = float(np.trace(inertia))
    if np.abs(inertia - np.diag(np.diag(inertia))).max() <= ALIGNED * trace:
        return np.diag(inertia).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    for axis in axes.T[:2]:  # the same signs on every machine
        axis *= math.copysign(1.0, axis[np.abs(axis).argmax()])
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return moments, axes


def _must_be_closed(shape: Shape) -> None:
    """Every side of a face is the side of another, the other way round (2D: every end of a segment starts another)."""
    if shape.dim == 2:
        starts, ends = np.sort(shape.faces[:, 0]), np.sort(shape.faces[:, 1])
    else:
        sides = shape.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).astype(np.int64)
        n = len(shape.vertices)
        starts, ends = np.sort(sides[:, 0] * n + sides[:, 1]), np.sort(sides[:, 1] * n + sides[:, 0])
    if shape.kind == "sheet" or len(starts) == 0 or not np.array_equal(starts, ends):
        raise MeshError(
            "a rigid body's shape must be closed to have an inside, and this one is not; "
            "close it with turgor.shapes.repair, or use its convex hull"
        )


def _positive(name: str, value: float, zero: bool = False) -> float:
    number = float(value)
    if not (math.isfinite(number) and (number > 0.0 or (zero and number == 0.0))):
        raise SceneError(
            f"{name} of a rigid body must be a {'non-negative' if zero else 'positive'} number, got {value!r}"
        )
    return number
