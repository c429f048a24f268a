"""Scene -> static arrays on the device: topology, rest state and parameters of all bodies in all worlds.

Everything is flat. World w holds vertices w*N .. (w+1)*N and bodies w*B .. (w+1)*B, so kernels never divide and a
parameter of one body in one world is one entry of an array of length worlds * B.
Positions are stored relative to `anchor` (double precision), so that single precision is as good 10 km away as at home.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.model import topology
from turgor.model.energy_scale import energy_scale
from turgor.model.glue import Glue
from turgor.model.parts import Part, part_of
from turgor.model.rigids import Rigids
from turgor.model.tiling import joined, tiled
from turgor.model.variants import Variants
from turgor.model.walls import Walls
from turgor.scene.data import VOLUMES, Body, Cloth, SoftBody, VelocityDamping
from turgor.scene.material import RUBBER, STVK, Membrane
from turgor.scene.scene import Scene
from turgor.scene.swelling import spring_like

__all__ = ["BODY_PARAMETERS", "Model", "decay_rate"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

ANCHOR_DISTANCE = 64.0  # m: closer to the origin, single precision resolves 4 µm and no anchor is needed
BLOCK = 256  # threads of a GPU block, and vertices of a chunk there
WARP = 32  # threads that a GPU runs together
MANY = 1024  # bodies

# What can be set per body and world: name -> whether it is an integer
BODY_PARAMETERS = {
    "stiffness": False,  # N/m
    "damping": False,  # N s/m
    "bending": False,  # N m/rad; of a material its rigidity, N m
    "skin_law": True,  # of forces.membrane; 0: springs
    "young": False,  # Pa
    "poisson": False,
    "thickness": False,  # m
    "mooney": False,  # share of c2 in c1 + c2
    "wrinkling": True,
    "viscosity": False,  # s
    "skin_stiffness": False,  # N/m: of springs that would hold the skin as well
    "drag": False,  # 1/s
    "decay": False,  # 1/s, from Martin's velocity damping
    "drag_coefficient": False,
    "drag_tangential": False,
    "wind_drag": False,  # N s/m per point
    "friction": False,  # < 0: the wall's own
    "restitution": False,  # < 0: the wall's own
    "nRT": False,  # J
    "ambient": False,  # Pa
    "gamma": False,  # 1: isothermal
    "held": True,
    "inflate": False,  # s
    "gravity_waits": True,
    "rest_volume": False,  # m³
    "breathing": False,  # 1/kg
    "size": False,  # m
    "method": True,  # index into scene.data.VOLUMES
    "samples": True,
}


def decay_rate(damping: VelocityDamping | None, stiffness: FloatArray) -> FloatArray:
    """1/s: v loses the share rho per 1/rate seconds, a rate of -rate ln(1 - rho); rho = 1 stops in one such time."""
    if damping is None:
        return np.zeros_like(stiffness)
    rho = damping.base + (1.0 - damping.base) * stiffness / damping.stiffness_max
    return np.asarray(-damping.rate * np.log1p(-np.minimum(rho, 1.0 - 1e-6)))


def _material(material: Membrane | None, part: Part) -> dict[str, float]:
    """What a skin is made of, as the kernels want it."""
    if material is None:
        return dict.fromkeys(("skin_law", "young", "poisson", "thickness", "mooney", "wrinkling", "viscosity"), 0)
    c1, c2 = material.constants
    dim = part.positions.shape[1]
    return {
        "stiffness": 0.0,
        "damping": 0.0,
        "bending": material.flexural_rigidity,
        "skin_law": STVK if material.law == "stvk" else RUBBER,
        "young": material.young,
        "poisson": material.ratio,
        "thickness": material.thickness,
        "mooney": c2 / (c1 + c2),
        "wrinkling": int(material.wrinkling),
        "viscosity": material.damping,
        "skin_stiffness": spring_like(dim, material.young, material.thickness, part.mean_edge),
    }


def _parameters(body: Body, part: Part) -> dict[str, float]:
    """The numbers of one body as the kernels want them."""
    values = {
        "stiffness": body.springs.stiffness,
        "damping": body.springs.damping,
        "bending": body.bending,
        "skin_stiffness": body.springs.stiffness,
        **_material(body.membrane, part),
        "drag": body.drag,
        "decay": float(decay_rate(body.velocity_damping, np.array(body.springs.stiffness))),
        "drag_coefficient": body.air_drag[0],
        "drag_tangential": body.air_drag[1],
        "wind_drag": body.wind_drag or 0.0,
        "friction": -1.0 if body.friction is None else body.friction,
        "restitution": -1.0 if body.restitution is None else body.restitution,
        "nRT": 0.0,
        "ambient": 0.0,
        "gamma": 1.0,
        "held": 0,
        "inflate": 0.0,
        "gravity_waits": 0,
        "rest_volume": part.rest_volume,
        "breathing": part.breathing,
        "size": part.size,
        "method": 0,
        "samples": 1,
    }
    if isinstance(body, Cloth):
        values |= {"held": 1, "nRT": body.pressure * part.rest_volume}
    if isinstance(body, SoftBody):
        values["method"] = VOLUMES.index(body.volume)
        values["samples"] = max(body.sample_count, 1)
        if body.gas is not None:
            values |= {
                "nRT": body.gas.nRT_at(part.rest_volume),
                "ambient": body.gas.ambient,
                "gamma": body.gas.gamma if body.gas.law == "adiabatic" else 1.0,
                "held": int(body.gas.held),
                "inflate": body.gas.inflate,
                "gravity_waits": int(body.gas.gravity_waits),
            }
    return values


class Model:
    """The static arrays. `SAVED`: parameters that can be set while a simulation runs."""

    SAVED: tuple[str, ...] = (*BODY_PARAMETERS, "mass", "inverse_mass", "gravity", "wind", "air_density")

    # Warp arrays of length worlds * bodies, one per entry of BODY_PARAMETERS
    stiffness: Any
    damping: Any
    bending: Any
    skin_law: Any
    young: Any
    poisson: Any
    thickness: Any
    mooney: Any
    wrinkling: Any
    viscosity: Any
    skin_stiffness: Any
    drag: Any
    decay: Any
    drag_coefficient: Any
    drag_tangential: Any
    wind_drag: Any
    friction: Any
    restitution: Any
    nRT: Any  # noqa: N815
    ambient: Any
    gamma: Any
    held: Any
    inflate: Any
    gravity_waits: Any
    rest_volume: Any
    breathing: Any
    size: Any
    method: Any
    samples: Any

    def __init__(
        self, scene: Scene, numbers: Numbers, worlds: int, device: Any, variants: Sequence[Scene] = ()
    ) -> None:
        self.scene, self.numbers, self.worlds, self.device = scene, numbers, worlds, device
        self.bodies = list(scene.bodies)
        self.parts = parts = [part_of(body) for body in self.bodies]
        self.starts = np.cumsum([0, *(len(part.order) for part in parts)])
        self.vertices = int(self.starts[-1])  # per world
        self.anchor = self._anchor()
        self.glue = Glue(scene, parts, self.starts)
        self.rigids = Rigids(scene, numbers, worlds, device, self.glue)
        self.glue.place(self.rigids, self.vertices)
        # the user's index of each internal vertex (one world), and back
        self.user = self._joined("order", None)
        self.internal = np.argsort(self.user).astype(np.int32)
        self.fans_known = all(part.fans_known for part in parts)

        self._vertices()
        self.variants = Variants(self, variants) if variants else None
        self._springs_and_faces()
        self._neighbours()
        self._chunks()
        self._body_parameters()
        self._volume_probes()
        self._pressure_options()
        worlds_of = variants or [scene] * worlds
        self.gravity = self.vec_array([one.gravity for one in worlds_of])
        self.wind = self.vec_array([one.wind for one in worlds_of])
        self.air_density = self.real_array([one.air_density for one in worlds_of])
        self.feels_air = any(any(body.air_drag) or body.wind_drag for body in self.bodies)
        self.walls = Walls(scene.walls, numbers, device)

    def cuts(self, rows: str) -> IntArray:
        """Where the rows of a body end and those of the next one begin, over all worlds: of springs, faces, order ...

        What adds up in points of one body is shared by threads only there, so that its order stays.
        """
        ends = np.cumsum([len(getattr(part, rows)) for part in self.parts])
        return np.concatenate([[0], (np.arange(self.worlds)[:, None] * ends[-1:] + ends).ravel()])

    # the pieces -----------------------------------------------------------------------------------------------------

    def _anchor(self) -> FloatArray:
        """(dim,) m: whole metres near the bodies, or zero if they are near the origin anyway."""
        placed = [part.positions for part in self.parts] or [body.positions for body in self.scene.rigid_bodies]
        if not placed:
            return np.zeros(self.numbers.dim)
        centre: FloatArray = np.mean(np.array([points.mean(axis=0) for points in placed]), axis=0)
        return (
            np.asarray(np.round(centre))
            if float(np.linalg.norm(centre)) > ANCHOR_DISTANCE
            else np.zeros(self.numbers.dim)
        )

    def _vertices(self) -> None:
        n = self.numbers
        masses = self._concatenated("masses")
        pinned = self._concatenated("pinned").astype(bool)
        glued = self.glue.vertex_host  # their mass is part of the rigid body's
        body = np.repeat(np.arange(len(self.parts)), np.diff(self.starts))
        self.mass_host = masses  # (vertices,) kg, internal order, one world
        fixed = pinned.copy()
        fixed[glued] = True
        self.body_host = body
        self.mass = self.repeated(masses, n.real)
        self.inverse_mass = self.repeated(np.where(fixed, 0.0, 1.0 / masses), n.real)
        hangs = np.isin(np.arange(len(masses) if len(glued) else 0), glued)
        self.glued = self.repeated(hangs, wp.int32)  # per vertex; empty where nothing is
        self.air_share = self.repeated(self._concatenated("air_share"), n.real)
        self.body = self.repeated(body, wp.int32, len(self.parts))
        self.world = self.repeated(np.zeros(len(self.parts)), wp.int32, 1)
        # the vertex about which a body's volume is summed
        self.reference = self.repeated(self.starts[:-1], wp.int32, self.vertices)
        x0 = np.concatenate([part.positions for part in self.parts] or [np.zeros((0, n.dim))]) - self.anchor
        v0 = np.concatenate([part.velocities for part in self.parts] or [np.zeros((0, n.dim))])
        v0[glued] = self.glue.velocities
        self.initial_positions, self.initial_velocities = x0, v0

    def _springs_and_faces(self) -> None:
        dim, real = self.numbers.dim, self.numbers.real
        springs = self._joined("springs", 2)
        faces = self._joined("faces", dim)
        hinges = self._joined("hinges", dim + 1)
        self.faces_host, self.hinges_host = faces, hinges
        self.rest_angles_host = self._concatenated("rest_angles")
        self.springs = self.repeated(springs, wp.vec2i, self.vertices)
        self.rest = self.repeated(self._concatenated("rest_lengths"), real)
        self.faces = self.repeated(faces, self.numbers.face, self.vertices)
        self.face_start = self.ends([len(part.faces) for part in self.parts])
        self.hinges = self.repeated(hinges, wp.vec3i if dim == 2 else wp.vec4i, self.vertices)
        self.rest_angles = self.repeated(self.rest_angles_host, real)
        turns = np.stack([np.cos(self.rest_angles_host), np.sin(self.rest_angles_host)], axis=1)
        self.rest_turns = self.repeated(turns, self.numbers.pair)
        self.hinge_weight_host = self._concatenated("hinge_weight")
        self.hinge_weight = self.repeated(self.hinge_weight_host, real)
        self._membranes()

    def _membranes(self) -> None:
        """Rest shapes of the faces of all bodies, if one has a material; and the corners of faces at each point."""
        self.has_membranes = any(len(part.face_rest) for part in self.parts)
        none = np.zeros(4)
        rows = [part.face_rest if len(part.face_rest) else np.tile(none, (len(part.faces), 1)) for part in self.parts]
        rest = np.concatenate([*rows, np.zeros((0, 4))]) if self.has_membranes else np.zeros((0, 4))
        self.face_rest = self.repeated(rest, self.numbers.quad)
        corners, self.face_corner_start = np.zeros(0, np.int32), self.int_array([])
        if self.has_membranes:
            indices = np.arange(self.faces_host.size, dtype=np.int32)
            starts, corners = topology.compressed_rows(self.faces_host.ravel(), indices, self.vertices)
            self.face_corner_start = self.ends(np.diff(starts))
        self.face_corners = self.repeated(corners, wp.int32, self.faces_host.size)

    def _neighbours(self) -> None:
        rows = [np.diff(part.neighbour_start) for part in self.parts]
        counts = np.concatenate([*rows, np.zeros(0, np.int32)]).astype(np.int32)
        per_world = int(counts.sum())
        row_starts = np.cumsum([0, *(len(part.neighbours) for part in self.parts)])
        ends = [
            np.sign(part.fan_end).astype(np.int64) * (np.abs(part.fan_end) + row)
            for part, row in zip(self.parts, row_starts, strict=False)
        ]
        fan = np.concatenate([*ends, np.zeros(0, np.int64)])
        self.neighbour_start = self.ends(counts)
        self.neighbours = self.repeated(self._joined("neighbours", None), wp.int32, self.vertices)
        self.neighbour_rest = self.repeated(self._concatenated("neighbour_rest"), self.numbers.real)
        self.fan_end = self.repeated(fan, wp.int32, np.sign(fan) * per_world)

    def _chunks(self) -> None:
        """Runs of vertices of one body for kernels that reduce: a whole body on the CPU, a block's worth on a GPU."""
        largest = int(np.diff(self.starts).max(initial=1))
        self.block_size = min(BLOCK, -(-largest // 32) * 32) if self.device.is_cuda else 1
        limit = self.block_size if self.device.is_cuda else max(largest, 1)
        # where there are many bodies, a few threads for each wait less for one another
        self.small_block = min(self.block_size, WARP) if len(self.parts) * self.worlds > MANY else self.block_size
        starts: list[int] = []
        owners: list[int] = []
        for b, (first, last) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            pieces = range(first, last, limit)
            starts.extend(pieces)
            owners.extend([b] * len(pieces))
        self.chunks = len(starts) * self.worlds
        self.chunk_start = self.ends(np.diff([*starts, self.vertices]))
        self.chunk_body = self.repeated(np.array(owners, np.int32), wp.int32, len(self.parts))
        counts = np.bincount(np.array(owners, int), minlength=len(self.parts))
        self.chunk_first = self.ends(counts)
        # of each body in the first world
        self.body_chunks = [range(last - count, last) for count, last in zip(counts, np.cumsum(counts), strict=True)]

    def _body_parameters(self) -> None:
        if self.variants is None:
            tables = [[_parameters(body, part) for body, part in zip(self.bodies, self.parts, strict=True)]]
        else:
            rows = zip(self.variants.scenes, self.variants.parts, strict=True)
            tables = [
                [_parameters(body, part) for body, part in zip(one.bodies, parts, strict=True)] for one, parts in rows
            ]
        for name, whole in BODY_PARAMETERS.items():
            values = np.array([row[name] for table in tables for row in table], float)
            put = self.repeated if self.variants is None else self._of_each_world
            setattr(self, name, put(values, wp.int32 if whole else self.numbers.real))

    def _volume_probes(self) -> None:
        """Which bodies measure their volume by an approximation, and the random points of those that use them."""
        soft = [body if isinstance(body, SoftBody) else None for body in self.bodies]
        counts = [body.sample_count if body and body.volume == "monte-carlo" else 0 for body in soft]
        self.volumes_estimated = any(body and body.volume != "exact" for body in soft)
        self.probes = sum(counts) * self.worlds
        self.faces_probed = any(body and body.volume in ("monte-carlo", "subdivision") for body in soft)
        self.probe_body = self.repeated(np.repeat(np.arange(len(counts)), counts), wp.int32, len(self.parts))
        starts = np.cumsum([0, *counts])
        self.probe_start = self.repeated(starts[:-1], wp.int32, int(starts[-1]))
        # as `method`, but only where the pressure depends on the volume: what a substep has to measure
        pressing = [VOLUMES.index(b.volume) if b and b.gas is not None and not b.gas.held else 0 for b in soft]
        self.volumes_press = any(pressing)
        self.pressing_method = self.repeated(pressing, wp.int32)
        self.shape_volume = self.repeated([b.shape.volume if b else 1.0 for b in soft], self.numbers.real)
        # whose pressure does work that no energy has (forces/nonconservative.py)
        reshaped = [b is not None and (b.pressure_scaling or b.pressure_force != "gradient") for b in soft]
        unbalanced = np.array(pressing, bool) | np.array(reshaped, bool)
        self.may_run_away = bool(unbalanced.any())
        self.unbalanced = self.repeated(unbalanced, wp.int32)
        scales = [0.0] * self.worlds
        if self.may_run_away:
            scales = [energy_scale(self.scene)] * self.worlds if self.variants is None else self.variants.energy_scales
        self.energy_scale = self.real_array(np.repeat(scales, len(soft)))  # J

    def _pressure_options(self) -> None:
        """Per vertex: C7's averaged normals; the factor of B4 (springs at the vertex / average springs per vertex), and
        of C7's other reading (a face's corners / faces at the vertex)."""
        soft = [body if isinstance(body, SoftBody) else None for body in self.bodies]
        self.pressure_reshaped = any(b and (b.pressure_scaling or b.pressure_force != "gradient") for b in soft)
        if not self.pressure_reshaped:
            return
        averaged = [int(b is not None and b.pressure_force != "gradient") for b in soft]
        factors = []
        for body, part in zip(soft, self.parts, strict=True):
            degree = np.diff(part.neighbour_start).astype(float)
            scaled = body is not None and body.pressure_scaling
            factors.append(degree / degree.mean() if scaled else np.ones(len(part.order)))
            if body is not None and body.pressure_force == "vertex-normals-divided":
                around = np.bincount(np.ravel(part.faces), minlength=len(part.order))
                factors[-1] = factors[-1] * self.numbers.dim / np.maximum(around, 1)
        rows = self.faces_host.ravel()
        owners = np.repeat(np.arange(len(self.faces_host), dtype=np.int32), self.numbers.dim)
        starts, members = topology.compressed_rows(rows, owners, self.vertices)
        self.vertex_faces_start = self.ends(np.diff(starts))
        self.vertex_faces = self.repeated(members, wp.int32, len(self.faces_host))
        self.averaged = self.repeated(np.array(averaged)[self.body_host], wp.int32)
        self.pressure_factor = self.repeated(np.concatenate(factors), self.numbers.real)

    # helpers --------------------------------------------------------------------------------------------------------

    def _concatenated(self, name: str) -> FloatArray:
        """A real array of all bodies in one."""
        return np.concatenate([*(getattr(part, name) for part in self.parts), np.zeros(0)])

    def _joined(self, name: str, width: int | None) -> IntArray:
        """An index array of all bodies in one, shifted to the world's numbering."""
        rows = [getattr(part, name) + np.int32(start) for part, start in zip(self.parts, self.starts, strict=False)]
        empty = np.zeros((0,) if width is None else (0, width), np.int32)
        return np.concatenate([*rows, empty]).astype(np.int32, copy=False)

    def repeated(self, rows: Any, dtype: Any, shift: Any = 0) -> Any:
        """Device array of the rows of one world in all worlds; shift: by how much indices grow from world to world."""
        n = self.numbers
        real_types = (n.real, n.vec, n.pair, n.quad)
        kind = self.numbers.dtype if dtype in real_types else np.int32
        return tiled(np.asarray(rows, kind), self.worlds, dtype, self.device, shift)

    def ends(self, counts: Any) -> Any:
        """(entries * worlds + 1,) where each entry's members begin, and the end, from their numbers in one world."""
        begins = np.cumsum(np.append(0, np.asarray(counts, np.int64)))
        rows = self.repeated(begins[:-1], wp.int32, int(begins[-1]))
        return joined([rows, self.int_array([begins[-1] * self.worlds])], self.device)

    def real_array(self, values: Any) -> Any:
        """Device array of real numbers."""
        return wp.array(np.asarray(values, self.numbers.dtype), dtype=self.numbers.real, device=self.device)

    def int_array(self, values: Any) -> Any:
        """Device array of integers."""
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.device)

    def index_array(self, values: IntArray, dtype: Any) -> Any:
        """Device array of index tuples."""
        return wp.array(np.ascontiguousarray(values, np.int32), dtype=dtype, device=self.device)

    def vec_array(self, values: Any) -> Any:
        """Device array of vectors."""
        values = np.ascontiguousarray(values, self.numbers.dtype).reshape(-1, self.numbers.dim)
        return wp.array(values, dtype=self.numbers.vec, device=self.device)

    def _of_each_world(self, values: Any, dtype: Any) -> Any:
        """Device array of numbers that are given for all worlds."""
        return self.int_array(values) if dtype is wp.int32 else self.real_array(values)

    def start_positions(self) -> Any:
        """Device array (worlds * vertices,) m, relative to the anchor: where the scene places all vertices."""
        if self.variants is not None:
            return self.vec_array(self.variants.positions)
        return self.repeated(self.initial_positions, self.numbers.vec)

    def start_velocities(self) -> Any:
        """Device array (worlds * vertices,) m/s."""
        if self.variants is not None:
            return self.vec_array(self.variants.velocities)
        return self.repeated(self.initial_velocities, self.numbers.vec)
