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
from turgor.kernel.numbers import numbers, start_warp
from turgor.model.rigids import Rigids
from turgor.model.walls import Walls
from turgor.rigid import drive

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
        n = self.numbers = numbers(scene.dim, precision)
        anchor = np.zeros(scene.dim)
        self.device = wp.get_device(device)
        self.rigids = Rigids(scene, n, worlds, self.device, anchor, [], np.zeros(1, np.int64))
        self.walls = Walls(scene.walls, n, anchor, self.device)
        model = SimpleNamespace(rigids=self.rigids, walls=self.walls, numbers=n, device=self.device)
        self.h = dt
        self.dt = wp.array([dt], dtype=n.real, device=self.device)
        gravity = np.tile(np.array(scene.gravity, n.dtype), (worlds, 1))
        self.gravity = wp.array(gravity, dtype=n.vec, device=self.device)
        if parallel is None:
            parallel = not self.device.is_cpu
        self.contacts = RigidContacts(model, self.dt, pairs, parallel, **options)
        self.clock = wp.zeros(1, dtype=wp.float64, device=self.device)
        self.drive, self.passes, self.graph = drive.kernels(n), passes, None

    def kick(self):
        r = self.rigids
        wp.launch(
            self.drive.kick_rigid, dim=r.total, device=self.device,
            inputs=[self.dt, self.gravity, r.world, r.inverse_mass, r.inverse_inertia, r.grab_on, r.grab_local,
                    r.grab_target, r.grab_stiffness, r.grab_damping, r.x, r.q, r.v, r.angular, r.spin, r.world_inertia,
                    r.force, r.torque],
        )  # fmt: skip

    def move(self):
        r = self.rigids
        wp.launch(
            self.drive.move_bodies, dim=r.total, device=self.device,
            inputs=[self.dt, r.inverse_mass, r.inverse_inertia, r.v, r.angular, r.push_move, r.push_turn, r.scale, r.x,
                    r.q, r.spin],
        )  # fmt: skip

    def substep(self):
        c = self.contacts
        self.kick()
        c.find()
        c.warm_start()
        for _ in range(self.passes):
            c.solve()
        c.push()
        c.store()
        self.move()

    def move_walls(self):
        w, k = self.walls, walls.kernels(self.numbers)
        inputs = [1.0, self.clock, self.dt, w.normal0, w.arm0, w.centre0, w.velocity, w.spin, w.since]
        outputs = [w.normal, w.point, w.centre]
        wp.launch(k.move_walls, dim=w.count, inputs=inputs, outputs=outputs, device=self.device)
        self.clock.fill_(float(self.clock.numpy()[0]) + self.h)

    def step(self, steps=1):
        if self.walls.moving:
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
        p = self.contacts.pairs
        count = int(p.count.numpy()[0])
        table = {
            name: getattr(p, name).numpy() for name in ("a", "b", "part", "points", "normal", "arm_a", "gap", "impulse")
        }
        rows = []
        for i in range(count):
            k = int(table["points"][i])
            if k:
                entry = {name: table[name][i] for name in ("a", "b", "part", "normal")}
                entry |= {name: table[name][4 * i : 4 * i + k] for name in ("arm_a", "gap", "impulse")}
                rows.append(SimpleNamespace(**entry))
        return rows

    def __getattr__(self, name):
        """x, v, q, spin, angular of the bodies."""
        if name in ("x", "v", "q", "spin", "angular"):
            return np.array(getattr(self.rigids, name).numpy(), float)
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
