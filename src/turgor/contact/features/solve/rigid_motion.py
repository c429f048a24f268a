"""A body that is jammed in itself still flies on: its contacts stop movements relative to the body's rigid motion.

Where impulses cannot keep features apart, `sweep.py` cuts movements. Cut against the world, a crumpled cloth would stop
in mid-air. So the part of a movement that is the body's rigid motion is always made: translation brings no features
closer, and a rotation along straight lines, x + t × r, only stretches distances, by up to the root of 1 + |t|². What
stopped points lose in momentum and in angular momentum goes to the whole body, as one more rigid motion.

Bodies near others, near walls or with pinned points have no rigid motion of their own: there the cut is against the
world, as the momentum may go into what stops them.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.solve import sides
from turgor.kernel.numbers import Numbers, at
from turgor.kernel.status import FINE, NOT_FINITE
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces
from turgor.rigid.integrate import JAMMED

__all__ = ["RigidMotion", "kernels"]

LEAP = 1.0e3  # body sizes in one substep: no stable body asks for such a movement


class RigidMotion:
    """The rigid motion of soft bodies in this substep, found where movements must be cut."""

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        self.kernels, self.bodies = kernels(model.numbers, launch.parallel), surfaces.bodies * model.worlds
        self.rigid_move = launch.zeros(surfaces.first_rigid, model.numbers.vec)  # m, of each soft point
        self.has_neighbours, self.moves_rigidly = (launch.zeros(self.bodies, wp.int32) for _ in range(2))
        self.launch = launch.extended(self)

    def find(self) -> None:
        """Of bodies that are alone."""
        self.has_neighbours.zero_()
        self.launch.walk(self.kernels.mark_neighbours)
        self.launch.tiles(self.kernels.find_rigid_motion, self.bodies)

    def apply_cuts(self) -> None:
        """The cuts take effect on movements and velocities."""
        self.launch.tiles(self.kernels.apply_cuts, self.bodies)


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """mark_neighbours and find_rigid_motion before movements are cut, apply_cuts after it."""
    real, vec, spin_type, dim = n.real, n.vec, n.spin, n.dim
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    side = sides.kernels(n, parallel)
    cross, swing, turn_by, inverse_of, inertia = side.cross, side.swing, side.turn_by, side.inverse_of, side.inertia

    if dim == 2:

        @wp.func
        def inertia_of(squares: vec, products: vec) -> inertia:
            return squares[0] + squares[1]

        @wp.func
        def products_of(r: vec) -> vec:
            return vec()

    else:

        @wp.func
        def inertia_of(squares: vec, products: vec) -> inertia:
            """From the sums of m (x², y², z²) and m (yz, zx, xy)."""
            whole = squares[0] + squares[1] + squares[2]
            return whole * wp.identity(3, dtype=real) - inertia(
                squares[0], products[2], products[1],
                products[2], squares[1], products[0],
                products[1], products[0], squares[2],
            )  # fmt: skip

        @wp.func
        def products_of(r: vec) -> vec:
            return vec(r[1] * r[2], r[2] * r[0], r[0] * r[1])

    if dim == 2:

        @wp.func
        def spin_of(moment: spin_type, squares: vec, products: vec) -> spin_type:
            """Angular velocity of a body from each thread's part of its angular momentum and moments of mass."""
            point_faces = wp.tile_sum(wp.tile(squares, preserve_type=True))[0]
            return turn_by(inverse_of(inertia_of(point_faces, products)), wp.tile_sum(wp.tile(moment))[0])

    else:

        @wp.func
        def spin_of(moment: spin_type, squares: vec, products: vec) -> spin_type:
            """Angular velocity of a body from each thread's part of its angular momentum and moments of mass."""
            point_faces = wp.tile_sum(wp.tile(squares, preserve_type=True))[0]
            between = wp.tile_sum(wp.tile(products, preserve_type=True))[0]
            whole = wp.tile_sum(wp.tile(moment, preserve_type=True))[0]
            return turn_by(inverse_of(inertia_of(point_faces, between)), whole)

    @n.kernel(variant)
    def mark_neighbours(
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        has_neighbours: wp.array(dtype=int),
        stride: int,
    ):
        """Which bodies are near others."""
        for p in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            ids = pairs[at(p)]
            if ids[0] != ids[1]:
                has_neighbours[at(ids[0])] = 1
                has_neighbours[at(ids[1])] = 1

    @n.kernel(variant)
    def find_rigid_motion(
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        rigid_index: wp.array(dtype=int),
        has_neighbours: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        point_v: wp.array(dtype=vec),
        soft_inverse_mass: wp.array(dtype=real),
        wall_contact_normal: wp.array(dtype=vec),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        dt: wp.array(dtype=real),
        rigid_move: wp.array(dtype=vec),
        moves_rigidly: wp.array(dtype=int),
    ):
        """The rigid motion of each body in this substep, as the movement (m) of each of its points."""
        c, lane = wp.tid()
        if rigid_index[c] < 0:
            h = dt[0]
            first = point_start[c]
            last = point_end[c]
            origin = points[first]
            mass = real(0.0)
            weighted = vec()
            momentum = vec()
            tied = has_neighbours[c]
            for i in range(first + lane, last, wp.block_dim()):
                m1 = soft_inverse_mass[at(i)]
                if m1 > real(0.0):
                    mass += real(1.0) / m1
                    weighted += (points[at(i)] - origin) / m1
                    momentum += point_v[at(i)] / m1
                    if wp.length_sq(wall_contact_normal[at(i)]) > real(0.0):
                        tied = 1
                else:
                    tied = 1
            whole = wp.tile_sum(wp.tile(mass))[0]
            centre = origin + wp.tile_sum(wp.tile(weighted, preserve_type=True))[0] / whole
            velocity = wp.tile_sum(wp.tile(momentum, preserve_type=True))[0] / whole
            moment = spin_type(real(0.0))
            squares = vec()
            products = vec()
            for i in range(first + lane, last, wp.block_dim()):
                m1 = soft_inverse_mass[at(i)]
                if m1 > real(0.0):
                    r = points[at(i)] - centre
                    moment += cross(r, point_v[at(i)] - velocity) / m1
                    squares += wp.cw_mul(r, r) / m1
                    products += products_of(r) / m1
            spin = spin_of(moment, squares, products)
            for i in range(first + lane, last, wp.block_dim()):
                moved = h * (velocity + swing(spin, points[at(i)] - centre))
                rigid_move[at(i)] = moved
                for w in range(wall_normal.shape[0]):
                    if wp.dot(points[at(i)] + moved - wall_point[w], wall_normal[w]) < real(0.0):
                        tied = 1
            bound = wp.tile_max(wp.tile(tied))[0]
            if bound > 0:
                for i in range(first + lane, last, wp.block_dim()):
                    rigid_move[at(i)] = vec()
            if lane == 0:
                moves_rigidly[c] = 1 - wp.min(bound, 1)

    @n.kernel(variant)
    def apply_cuts(
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        rigid_index: wp.array(dtype=int),
        moves_rigidly: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        soft_inverse_mass: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        rigid_move: wp.array(dtype=vec),
        scale: wp.array(dtype=real),
        soft_body: wp.array(dtype=int),
        soft_size: wp.array(dtype=real),
        v: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
        status: wp.array(dtype=int),
    ):
        """Only the safe share of each movement is left, beside the rigid motion; stopped points do not gather speed.

        Then the body gets back what it lost: with d the movements and v the velocities before, v' those after, the
        momentum is to stay, and the angular momentum, Σ m (r + d) × v' = Σ m r × v (free points have d along v).
        """
        c, lane = wp.tid()
        if rigid_index[c] < 0:
            first = point_start[c]
            last = point_end[c]
            origin = points[first]
            mass = real(0.0)
            weighted = vec()
            lost = vec()
            lost_turn = spin_type(real(0.0))
            for k in range(first + lane, last, wp.block_dim()):
                i = at(k)
                share = scale[i]
                m1 = soft_inverse_mass[i]
                if m1 > real(0.0):
                    arm = points[i] - origin
                    before = v[i]
                    if share < real(1.0):
                        asked = move[i]
                        move[i] = rigid_move[i] + share * (asked - rigid_move[i])
                        if share < real(JAMMED):
                            along = rigid_move[i] / dt[0]
                            v[i] = along + share * (before - along)
                            # contact may stop what explodes, but must not hide it
                            leap = real(LEAP) * soft_size[soft_body[i]]
                            if not (wp.length_sq(asked) <= leap * leap) and status[0] == FINE:
                                status[0] = NOT_FINITE
                                status[1] = soft_body[i]
                    mass += real(1.0) / m1
                    weighted += (arm + move[i]) / m1
                    lost += (before - v[i]) / m1
                    lost_turn += (cross(arm, before - v[i]) - cross(move[i], v[i])) / m1
            if moves_rigidly[c] > 0:
                whole = wp.tile_sum(wp.tile(mass))[0]
                centre = wp.tile_sum(wp.tile(weighted, preserve_type=True))[0] / whole
                back = wp.tile_sum(wp.tile(lost, preserve_type=True))[0] / whole
                squares = vec()
                products = vec()
                for k in range(first + lane, last, wp.block_dim()):
                    i = at(k)
                    m1 = soft_inverse_mass[i]
                    if m1 > real(0.0):
                        r = points[i] - origin + move[i] - centre
                        lost_turn -= cross(r + centre, back) / m1
                        squares += wp.cw_mul(r, r) / m1
                        products += products_of(r) / m1
                spin = spin_of(lost_turn, squares, products)
                for k in range(first + lane, last, wp.block_dim()):
                    i = at(k)
                    if soft_inverse_mass[i] > real(0.0):
                        v[i] = v[i] + back + swing(spin, points[i] - origin + move[i] - centre)

    return SimpleNamespace(mark_neighbours=mark_neighbours, find_rigid_motion=find_rigid_motion, apply_cuts=apply_cuts)
