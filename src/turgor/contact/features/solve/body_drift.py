"""A body that is jammed in itself still flies on: what its contacts hold, they hold relative to the body's own motion.

Where impulses cannot keep features apart, `limit.py` cuts movements. Cut against the world, a crumpled cloth would stop
in mid-air. So the part of a movement that is the body's rigid motion (drift) is always made: translation brings no
features closer, and a turn along straight lines, x + t × r, only stretches distances, by up to the root of 1 + |t|².
What held points lose in momentum and in angular momentum goes to the whole body, as one more rigid motion.

Bodies near others, near walls or with points that are held have no drift: there the cut is against the world, as the
momentum may go into what holds them.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.features.solve import sides
from turgor.kernel.numbers import Numbers, at
from turgor.rigid.integrate import JAMMED

__all__ = ["kernels"]

LEAP = 1.0e3  # body sizes in one substep: nothing that is well asks for such a movement


@functools.cache
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """mark_company and find_drift before movements are cut, hold after it."""
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
            around = wp.tile_sum(wp.tile(squares, preserve_type=True))[0]
            return turn_by(inverse_of(inertia_of(around, products)), wp.tile_sum(wp.tile(moment))[0])

    else:

        @wp.func
        def spin_of(moment: spin_type, squares: vec, products: vec) -> spin_type:
            """Angular velocity of a body from each thread's part of its angular momentum and moments of mass."""
            around = wp.tile_sum(wp.tile(squares, preserve_type=True))[0]
            between = wp.tile_sum(wp.tile(products, preserve_type=True))[0]
            whole = wp.tile_sum(wp.tile(moment, preserve_type=True))[0]
            return turn_by(inverse_of(inertia_of(around, between)), whole)

    @n.kernel(variant)
    def mark_company(
        pair_count: wp.array(dtype=int), pairs: wp.array(dtype=wp.vec2i), company: wp.array(dtype=int), stride: int
    ):
        """Which bodies are near others."""
        for p in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            ids = pairs[at(p)]
            if ids[0] != ids[1]:
                company[at(ids[0])] = 1
                company[at(ids[1])] = 1

    @n.kernel(variant)
    def find_drift(
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        rigid_index: wp.array(dtype=int),
        company: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        pressed: wp.array(dtype=vec),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        dt: wp.array(dtype=real),
        drift: wp.array(dtype=vec),
        drifting: wp.array(dtype=int),
    ):
        """The rigid motion of each body in this substep, as the movement (m) of each of its points."""
        c, lane = wp.tid()
        if rigid_index[c] < 0:
            h = dt[0]
            first = point_start[c]
            last = point_end[c]
            origin = x[first]
            mass = real(0.0)
            weighted = vec()
            momentum = vec()
            tied = company[c]
            for i in range(first + lane, last, wp.block_dim()):
                m1 = inverse_mass[at(i)]
                if m1 > real(0.0):
                    mass += real(1.0) / m1
                    weighted += (x[at(i)] - origin) / m1
                    momentum += v[at(i)] / m1
                    if wp.length_sq(pressed[at(i)]) > real(0.0):
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
                m1 = inverse_mass[at(i)]
                if m1 > real(0.0):
                    r = x[at(i)] - centre
                    moment += cross(r, v[at(i)] - velocity) / m1
                    squares += wp.cw_mul(r, r) / m1
                    products += products_of(r) / m1
            spin = spin_of(moment, squares, products)
            for i in range(first + lane, last, wp.block_dim()):
                way = h * (velocity + swing(spin, x[at(i)] - centre))
                drift[at(i)] = way
                for w in range(wall_normal.shape[0]):
                    if wp.dot(x[at(i)] + way - wall_point[w], wall_normal[w]) < real(0.0):
                        tied = 1
            bound = wp.tile_max(wp.tile(tied))[0]
            if bound > 0:
                for i in range(first + lane, last, wp.block_dim()):
                    drift[at(i)] = vec()
            if lane == 0:
                drifting[c] = 1 - wp.min(bound, 1)

    @n.kernel(variant)
    def hold(
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        rigid_index: wp.array(dtype=int),
        drifting: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        drift: wp.array(dtype=vec),
        scale: wp.array(dtype=real),
        body: wp.array(dtype=int),
        size: wp.array(dtype=real),
        v: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
        fine: int,
        not_finite: int,
        status: wp.array(dtype=int),
    ):
        """Only the safe share of each movement is left, beside the drift; what is held fast does not gather speed.

        Then the body gets back what it lost: with d the movements and v the velocities before, v' those after, the
        momentum is to stay, and the angular momentum, Σ m (r + d) × v' = Σ m r × v (free points have d along v).
        """
        c, lane = wp.tid()
        if rigid_index[c] < 0:
            first = point_start[c]
            last = point_end[c]
            origin = x[first]
            mass = real(0.0)
            weighted = vec()
            lost = vec()
            lost_turn = spin_type(real(0.0))
            for k in range(first + lane, last, wp.block_dim()):
                i = at(k)
                share = scale[i]
                m1 = inverse_mass[i]
                if m1 > real(0.0):
                    arm = x[i] - origin
                    before = v[i]
                    if share < real(1.0):
                        asked = move[i]
                        move[i] = drift[i] + share * (asked - drift[i])
                        if share < real(JAMMED):
                            along = drift[i] / dt[0]
                            v[i] = along + share * (before - along)
                            # contact may hold what explodes, but must not hide it
                            leap = real(LEAP) * size[body[i]]
                            if not (wp.length_sq(asked) <= leap * leap) and status[0] == fine:
                                status[0] = not_finite
                                status[1] = body[i]
                    mass += real(1.0) / m1
                    weighted += (arm + move[i]) / m1
                    lost += (before - v[i]) / m1
                    lost_turn += (cross(arm, before - v[i]) - cross(move[i], v[i])) / m1
            if drifting[c] > 0:
                whole = wp.tile_sum(wp.tile(mass))[0]
                centre = wp.tile_sum(wp.tile(weighted, preserve_type=True))[0] / whole
                back = wp.tile_sum(wp.tile(lost, preserve_type=True))[0] / whole
                squares = vec()
                products = vec()
                for k in range(first + lane, last, wp.block_dim()):
                    i = at(k)
                    m1 = inverse_mass[i]
                    if m1 > real(0.0):
                        r = x[i] - origin + move[i] - centre
                        lost_turn -= cross(r + centre, back) / m1
                        squares += wp.cw_mul(r, r) / m1
                        products += products_of(r) / m1
                spin = spin_of(lost_turn, squares, products)
                for k in range(first + lane, last, wp.block_dim()):
                    i = at(k)
                    if inverse_mass[i] > real(0.0):
                        v[i] = v[i] + back + swing(spin, x[i] - origin + move[i] - centre)

    return SimpleNamespace(mark_company=mark_company, find_drift=find_drift, hold=hold)
