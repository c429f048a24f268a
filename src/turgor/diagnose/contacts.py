"""What touches what: points on walls, and the contacts between bodies (NumPy, on the host)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
import numpy.typing as npt

from turgor.diagnose.contact_forces import ContactForces
from turgor.diagnose.patches import ContactPatch, with_frame_means
from turgor.errors import SceneError
from turgor.scene.described import described

__all__ = ["Contacts", "Touches", "joined", "wall_touches"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Touches:
    """Contacts of one kind as arrays; `first` and `second` count things of one world, `world` says which."""

    first: IntArray  # (n,) the body that the normal points to
    second: IntArray  # (n,) the other body, or the wall
    world: IntArray  # (n,)
    points: FloatArray  # (n, dim) m
    normals: FloatArray  # (n, dim)
    depths: FloatArray  # (n,) m: how far skins overlap; for walls how far behind it
    impulses: FloatArray  # (n,) N s of the last substep; nan where it is not known
    penetrations: FloatArray  # (n,) m: how far the surfaces themselves are inside each other
    areas: FloatArray  # (n,) m² (2D: m): part of the touching patch; nan where it is not known
    forces: FloatArray  # (n, dim) N on the first: mean over the last frame at walls, else of the last substep


@described
@dataclass(frozen=True)
class Contacts:
    """All that touches at one time, in all worlds."""

    count: Annotated[int, "", "contacts between bodies, and points on or behind a wall"]
    max_penetration: Annotated[float, "m", "deepest surface in a surface or behind a wall; 0 if none is"]
    pairs: Annotated[list[tuple[str, str]], "", "names; the normal points to the first"] = field(compare=False)
    worlds: Annotated[IntArray, "", "(count,) which world"] = field(compare=False)
    points: Annotated[FloatArray, "m", "(count, dim)"] = field(compare=False)
    normals: Annotated[FloatArray, "", "(count, dim), of length 1"] = field(compare=False)
    depths: Annotated[FloatArray, "m", "(count,) overlap of the skins; at walls how far behind"] = field(compare=False)
    impulses: Annotated[
        FloatArray, "N s", "(count,) along the normal in the last substep; of soft bodies at walls, in their last hit"
    ] = field(compare=False)
    areas: Annotated[FloatArray, "m²", "(count,) part of the touching patch (2D: m); nan: not known"] = field(
        compare=False
    )
    forces: Annotated[FloatArray, "N", "(count, dim) on the first of the pair, normal and friction; see `patch`"] = (
        field(compare=False)
    )
    force: Annotated[ContactForces, "N", "means over the last frame, per body and pair"] = field(
        compare=False, repr=False
    )

    def area(self, first: str, second: str, world: int = 0) -> float:
        """m² (2D: m) of the patch in which two bodies, or a body and a wall, touch; 0 if they do not.

        The sum of the areas of the soft vertices that touch (a third of the faces around each; 2D: half of the
        segments); of two soft bodies the mean of both sides. It is known to about half an edge along the rim. nan: two
        rigid bodies, or a historical contact method.
        """
        return float(self.areas[self._groups.get(_key(first, second, world), [])].sum())

    def patch(self, first: str, second: str, world: int = 0) -> ContactPatch:
        """Where two bodies, or a body and a wall, touch: points, forces on the first, areas; and the mean pressure.

        With `readings=True` forces are means over the last frame: that of the pair, shared out among the points that
        touch now. Without, they are those of the last substep, which flicker even at rest. They are zero before the
        first frame.
        """
        self.force.check_names([first, second])
        if not 0 <= world < self.force.worlds_in_all:
            raise SceneError(f"patch: there are worlds 0 to {self.force.worlds_in_all - 1}, got {world}")
        rows = self._groups.get(_key(first, second, world), [])
        signs = np.array([1.0 if self.pairs[row] == (first, second) else -1.0 for row in rows])[:, None]
        forces = self.forces[rows] * signs
        whole = forces.sum(axis=0)
        if self.force.known and first != second:
            means = self.force.between(first, second)
            whole = means[world] if self.force.worlds_in_all > 1 else means
        return ContactPatch(
            first, second, world, self.points[rows], self.normals[rows] * signs, forces, self.areas[rows], whole
        )

    def patches(self) -> list[ContactPatch]:
        """One for each pair that touches, in all worlds."""
        return [self.patch(*self.pairs[rows[0]], world) for (world, _, _), rows in self._groups.items()]

    @cached_property
    def _groups(self) -> dict[tuple[int, str, str], list[int]]:
        """The contacts of each pair in each world."""
        found: dict[tuple[int, str, str], list[int]] = {}
        for row, ((first, second), world) in enumerate(zip(self.pairs, self.worlds.tolist(), strict=True)):
            found.setdefault(_key(first, second, world), []).append(row)
        return found


def _key(first: str, second: str, world: int) -> tuple[int, str, str]:
    """Of a pair in any order."""
    return (world, first, second) if first <= second else (world, second, first)


def wall_touches(
    x: FloatArray, body: IntArray, world: IntArray, impulse: FloatArray, area: FloatArray,
    force: FloatArray, normal: FloatArray, point: FloatArray, wall: IntArray, resolution: float,
) -> Touches:  # fmt: skip
    """x: (points, dim) m of `body` and `world`, impulse: (points, dim) N s on them, area: (points,) m² around them.
    force: (points, dim) N on them.

    normal and point: (half spaces, dim), of `wall`; m.

    Closer than `resolution` counts as touching. A point touches at most one half space: the one it is deepest in.
    """
    if not len(normal) or not len(x):
        none = np.zeros(0, np.int64)
        empty = np.zeros((0, x.shape[1]))
        return Touches(none, none, none, empty, empty, np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), empty)
    distance = x @ normal.T - np.einsum("ij,ij->i", point, normal)
    nearest = distance.argmin(axis=1)
    least = distance[np.arange(len(x)), nearest]
    on = np.flatnonzero(least <= resolution)
    depth = -least[on]
    side = nearest[on]
    push = np.maximum(np.einsum("ij,ij->i", impulse[on], normal[side]), 0.0)
    return Touches(
        body[on], wall[side], world[on], x[on], normal[side], depth, push, np.maximum(depth, 0.0), area[on], force[on]
    )


def joined(parts: list[tuple[Touches, list[str], list[str]]], dim: int, force: ContactForces) -> Contacts:
    """Contacts of several kinds; with each come the names that its `first` and its `second` mean."""
    pairs = [
        (firsts[a], seconds[b])
        for touches, firsts, seconds in parts
        for a, b in zip(touches.first.tolist(), touches.second.tolist(), strict=True)
    ]

    def column(name: str, empty: FloatArray) -> FloatArray:
        return np.concatenate([*(getattr(touches, name) for touches, _, _ in parts), empty])

    worlds, forces = column("world", np.zeros(0)).astype(np.int64), column("forces", np.zeros((0, dim)))
    deepest = float(column("penetrations", np.zeros(1)).max())
    return Contacts(
        count=len(pairs),
        max_penetration=max(0.0, deepest),
        pairs=pairs,
        worlds=worlds,
        points=column("points", np.zeros((0, dim))),
        normals=column("normals", np.zeros((0, dim))),
        depths=column("depths", np.zeros(0)),
        impulses=column("impulses", np.zeros(0)),
        areas=column("areas", np.zeros(0)),
        forces=with_frame_means(forces, pairs, worlds, force) if force.known else forces,
        force=force,
    )
