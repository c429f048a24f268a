"""A contact method on its own: a scene's arrays without forces, for tests of one response at a time."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numpy as np
import warp as wp

import turgor
from support.laws import DEVICE
from turgor.contact.martin2009.method import ParticleContacts
from turgor.kernel.numbers import numbers, start_warp
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

BALL = functools.partial(turgor.shapes.icosphere, radius=0.5, subdivisions=2)  # edges of 0.15 m
RING = functools.partial(turgor.shapes.circle, radius=0.5, points=32)


def rotated(q, points):
    """Points turned by an angle (2D) or by a quaternion x, y, z, w (3D)."""
    if np.ndim(q) == 0:
        c, s = np.cos(q), np.sin(q)
        return points @ np.array([[c, s], [-s, c]])
    u, w = q[:3], q[3]
    t = 2.0 * np.cross(u, points)
    return points + w * t + np.cross(u, t)


class Stage:
    """A model and a state made by hand: positions and velocities as given, planned movements dt v."""

    def __init__(self, scene, *, precision="double", worlds=1, dt=1e-3):
        start_warp()
        n = numbers(scene.dim, precision)
        self.model = model = Model(scene, n, worlds, wp.get_device(DEVICE))
        self.surfaces = surfaces = Surfaces(model)
        self.dt, self.soft = dt, model.vertices * worlds
        points = np.concatenate([np.tile(model.initial_positions, (worlds, 1)), self.rigid_points()])
        v = np.zeros((surfaces.points, n.dim))
        v[: self.soft] = np.tile(model.initial_velocities, (worlds, 1))
        s = self.state = SimpleNamespace(points=model.vec_array(points), point_v=model.vec_array(v))
        s.x, s.v = s.points[: self.soft], s.point_v[: self.soft]
        s.move = model.vec_array(dt * v[: self.soft])
        s.dt = model.real_array([dt])
        self.contacts = ParticleContacts(model, s, surfaces)

    def rigid_points(self):
        rigids, surfaces = self.model.rigids, self.surfaces
        owner, local = surfaces.local_body.numpy(), surfaces.local.numpy().astype(float)
        q, x = rigids.q.numpy().astype(float), rigids.x.numpy().astype(float)
        rows = [x[b] + rotated(q[b], row[None])[0] for b, row in zip(owner, local, strict=True)]
        return np.array(rows).reshape(-1, self.model.numbers.dim)

    @property
    def x(self):
        return self.state.x.numpy().astype(float)

    @property
    def v(self):
        return self.state.v.numpy().astype(float)

    @property
    def move(self):
        return self.state.move.numpy().astype(float)

    @property
    def mass(self):
        return self.model.mass.numpy().astype(float)

    def respond(self, times=1):
        """The method, and the movement it leaves, as often as asked; nothing else acts."""
        for _ in range(times):
            self.state.move.assign((self.dt * self.v).astype(self.model.numbers.dtype))
            self.contacts.respond()
            self.state.points.assign(
                np.concatenate([self.x + self.move, self.rigid_points()]).astype(self.model.numbers.dtype)
            )

    def body(self, index):
        """Slice of a body's vertices in the first world."""
        return slice(int(self.model.starts[index]), int(self.model.starts[index + 1]))


def scene_of(dim, *bodies, rigid=()):
    """Bodies: (shape, options); no gas, no gravity."""
    scene = turgor.Scene(dim=dim, gravity=(0.0,) * dim)
    for number, (shape, options) in enumerate(bodies):
        scene.add_soft_body(shape, name=f"soft{number}", **options)
    for number, (shape, options) in enumerate(rigid):
        scene.add_rigid_body(shape, name=f"rigid{number}", **options)
    return scene


def two_balls(gap, *, dim=3, offset=0.0, speed=1.0, turn=(0.0, 0.0, 0.0), **options):
    """A pair that approaches along x, `gap` apart (the balls they are made from), the second raised by `offset`."""
    shape = BALL() if dim == 3 else RING()
    along = float(np.sqrt((1.0 + gap) ** 2 - offset**2))
    still = (0.0,) * (dim - 1)
    rotation = {"rotation": turn} if dim == 3 else {}
    first = (shape, {"at": (0.0,) * dim, "velocity": (speed, *still), **options})
    second = (shape, {"at": (along, offset, 0.0)[:dim], "velocity": (-speed, *still), **rotation, **options})
    return scene_of(dim, first, second)
