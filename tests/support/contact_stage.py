"""A contact method on its own: a scene's arrays without forces, for tests of one response at a time."""

from __future__ import annotations

import functools

import numpy as np
import warp as wp

import turgor
from support.laws import DEVICE
from turgor.contact.martin2009.method import ParticleContacts
from turgor.kernel.launch import Launcher
from turgor.kernel.numbers import numbers, start_warp
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.model.surfaces import Surfaces
from turgor.rigid import integrate

BALL = functools.partial(turgor.shapes.icosphere, radius=0.5, subdivisions=2)  # edges of 0.15 m
RING = functools.partial(turgor.shapes.circle, radius=0.5, points=32)


class Stage:
    """A scene at its start and one contact method: velocities as given, planned movements dt v."""

    def __init__(self, scene, method=ParticleContacts, *, precision="double", worlds=1, dt=1e-3):
        start_warp()
        self.model = model = Model(scene, numbers(scene.dim, precision), worlds, wp.get_device(DEVICE))
        self.surfaces = Surfaces(model)
        self.state = state = State(model)
        self.scratch = scratch = Scratch(model, state, stages=1)
        self.dt, self.soft = dt, model.vertices * worlds
        scratch.dt.fill_(dt)
        rigid = [state.rigid, scratch.rigid, model.rigids]
        self.launch = Launcher(model.device, state, scratch, rigid=rigid)
        self.place_rigid_points()
        self.plan(self.v)
        self.contacts = method(model, state, scratch, self.surfaces)

    def place_rigid_points(self):
        s, k = self.surfaces, integrate.kernels(self.model.numbers)
        places = {"first_rigid": s.first_rigid, "local": s.local, "local_body": s.local_body}
        self.launch(k.place_points, len(s.local), **places)

    def plan(self, v):
        """Velocities, and movements that follow them."""
        self.state.v.assign(np.asarray(v, self.model.numbers.dtype))
        self.scratch.move.assign(np.asarray(self.dt * v, self.model.numbers.dtype))

    def put(self, x):
        """Soft vertices at x."""
        self.state.x.assign(np.asarray(x, self.model.numbers.dtype))

    @property
    def x(self):
        return self.state.x.numpy().astype(float)

    @property
    def v(self):
        return self.state.v.numpy().astype(float)

    @property
    def move(self):
        return self.scratch.move.numpy().astype(float)

    @property
    def mass(self):
        return self.model.mass.numpy().astype(float)

    def respond(self, times=1):
        """The method, and the movement it leaves, in as many frames of one substep as asked; nothing else acts."""
        for _ in range(times):
            self.contacts.begin_frame()
            self.plan(self.v)
            self.contacts.find()
            self.put(self.x + self.move)

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
