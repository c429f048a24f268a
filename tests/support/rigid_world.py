"""A small loop of rigid bodies alone: gravity, contact, movement, recorded as one graph per substep."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import warp as wp

import turgor
from support.laws import DEVICE
from turgor import shapes
from turgor.contact import walls
from turgor.contact.rigid.contacts import RigidContacts
from turgor.contact.rigid.records import POINTS
from turgor.kernel.launch import Launcher
from turgor.kernel.numbers import numbers, start_warp
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.rigid import integrate

G = 9.81
BOX = shapes.box(size=(0.3, 0.3, 0.3))
SQUARE = shapes.outline(points=[(-0.15, -0.15), (0.15, -0.15), (0.15, 0.15), (-0.15, 0.15)])
BALL = shapes.icosphere(radius=0.15, subdivisions=2)
PILL = shapes.capsule(radius=0.1, height=0.3)


def box_of(dim):
    return SQUARE if dim == 2 else BOX


def scene_of(dim=3, gravity=-G):
    scene = turgor.Scene(dim=dim)
    scene.gravity = (*[0.0] * (dim - 1), gravity)
    return scene


def level(sheet):
    """From the x-z plane into the x-y plane."""
    return replace(sheet, vertices=sheet.vertices[:, [0, 2, 1]], faces=sheet.faces[:, ::-1])


def up(dim, height, *across):
    return (*across, *[0.0] * (dim - 1 - len(across)), height)


class RigidWorld:
    """Rigid bodies and walls of a scene; the state as NumPy arrays in double precision."""

    def __init__(
        self, scene, dt, *, precision="double", worlds=1, passes=4, pairs=True, parallel=None, device=DEVICE, **options
    ):
        start_warp()
        n = numbers(scene.dim, precision)
        self.model = model = Model(scene, n, worlds, wp.get_device(device))
        self.state = state = State(model)
        self.scratch = scratch = Scratch(model, state, stages=1)
        self.rigids, self.device = model.rigids, model.device
        self.h = dt
        scratch.dt.fill_(dt)
        self.launch = Launcher(
            self.device, state, scratch, model,
            rigid=[state.rigid, scratch.rigid, model.rigids],
            wall=[state.walls, model.walls],
        )  # fmt: skip
        if parallel is None:
            parallel = not self.device.is_cpu
        self.contacts = RigidContacts(model, state, scratch, pairs, parallel, **options)
        self.k_rigid, self.k_walls = integrate.kernels(n), walls.kernels(n)
        self.passes, self.graph = passes, None

    def kick(self):
        self.launch(self.k_rigid.kick_rigid, self.rigids.total)

    def move(self):
        self.launch(self.k_rigid.move_rigid, self.rigids.total)

    def substep(self):
        c = self.contacts
        self.kick()
        c.find()
        c.warm_start()
        for _ in range(self.passes):
            c.solve()
        c.finish()
        c.push()
        c.store()
        self.move()

    def move_walls(self):
        self.launch(self.k_walls.move_walls, self.model.walls.count, lead=1.0)
        self.state.clock.fill_(float(self.state.clock.numpy()[0]) + self.h)

    def step(self, steps=1):
        if self.state.walls.moving:
            for _ in range(steps):
                self.move_walls()
                self.substep()
            return
        if self.graph is None:
            with wp.ScopedCapture(device=self.device) as capture:
                self.substep()
            self.graph = capture.graph
        for _ in range(steps):
            wp.capture_launch(self.graph)
        assert int(self.contacts.overflow.numpy()[0]) == 0

    def recorded(self, *calls):
        """The launches of some calls as one graph, which the result replays: the same numbers, with less Python."""
        with wp.ScopedCapture(device=self.device) as capture:
            for call in calls:
                call()
        return lambda: wp.capture_launch(capture.graph)

    def find(self):
        """Contact points of the present state, without a step."""
        self.contacts.find()
        return self.points()

    def points(self):
        """One entry per pair that touches: a, b, normal, places relative to a, gaps."""
        p, q = self.contacts.pairs, self.contacts.points
        count = int(p.count.numpy()[0])
        pair = {name: getattr(p, name).numpy() for name in ("a", "b", "part", "normal")}
        point = {"arm_a": q.arm_a.numpy(), "gap": q.gap.numpy(), "impulse": q.normal_impulse.numpy()}
        rows = []
        for i, k in enumerate(p.point_count.numpy()[:count].tolist()):
            if k:
                entry = {name: table[i] for name, table in pair.items()}
                entry |= {name: table[POINTS * i : POINTS * i + k] for name, table in point.items()}
                rows.append(SimpleNamespace(**entry))
        return rows

    def __getattr__(self, name):
        """x, v, q, spin, angular of the bodies."""
        if name in ("x", "v", "q", "spin", "angular"):
            return np.array(getattr(self.state.rigid, name).numpy(), float)
        raise AttributeError(name)

    @property
    def masses(self):
        with np.errstate(divide="ignore"):
            return 1.0 / np.array(self.rigids.inverse_mass.numpy(), float)

    def momentum(self):
        """Momentum and angular momentum about the origin."""
        p = self.masses[:, None] * self.v
        arm = np.cross(self.x, p)
        return p.sum(axis=0), (arm + self.angular).sum(axis=0)

    def kinetic(self):
        return 0.5 * float(np.sum(self.masses * np.sum(self.v**2, axis=1)) + np.sum(self.spin * self.angular))
