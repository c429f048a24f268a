"""Footnote 4 of Matyka & Ollila 2003: a point against a box first and then the ellipsoid, or against that alone?

A point outside the box costs three comparisons instead of the ellipsoid's function; one inside costs both.
"""

from __future__ import annotations

import functools

import numpy as np
import warp as wp

from turgor.bench.contact import heap
from turgor.bench.measure import best_time
from turgor.bench.suite import Options, Tables
from turgor.contact.matyka2003.method import BoundingContacts
from turgor.simulation.simulation import Simulation

__all__ = ["bounding", "point_tests"]

REPEATS = 20  # launches that are timed together


def point_tests(device: str = "cpu", seconds: float = 1.0, side: int = 5) -> dict[str, float]:
    """ns per test of a point in a heap of balls, alone and boxed; tests, and the shares inside box and ellipsoid."""
    sim = Simulation(heap(side), device, contact="bounding", substeps=16)
    for _ in range(60):
        sim.step()
    method = sim.engine.split.method if sim.engine.split is not None else None
    assert isinstance(method, BoundingContacts)
    launch, k = method.launch, method.k_response
    tests, in_box, in_ellipsoid = _counted(method)

    found: dict[str, float] = {"tests": tests, "inside_box": in_box / tests, "inside_ellipsoid": in_ellipsoid / tests}
    graphs = {}
    for name, boxed in (("alone_ns", 0), ("boxed_ns", 1)):
        for upwards in (1, 0):  # compiled before they are recorded
            launch(k.find_contacts, (method.pair_capacity, method.lanes), upwards=upwards, boxed=boxed)
        with wp.ScopedCapture(device=sim.device) as capture:
            for _ in range(REPEATS):
                method.contacts.count.zero_()
                for upwards in (1, 0):
                    launch(k.find_contacts, (method.pair_capacity, method.lanes), upwards=upwards, boxed=boxed)
        graphs[name] = capture.graph
    for name, graph in graphs.items():
        best = best_time(functools.partial(wp.capture_launch, graph), str(sim.device), seconds)
        found[name] = 1e9 * best / REPEATS / tests
    method.contacts.hits.zero_()  # the tests have counted contacts that are not resolved
    return found


def _counted(method: BoundingContacts) -> tuple[int, int, int]:
    """Tests of points against objects in the last substep; how many were inside the box, and the ellipsoid."""
    pairs = method.pair.numpy()[: int(method.pair_count.numpy()[0])]
    points = method.state.points.numpy().astype(float)
    starts, ends = (getattr(method.bodies, name).numpy() for name in ("point_start", "point_end"))
    centre, half = (getattr(method.objects, name).numpy().astype(float) for name in ("centre", "half"))
    tests = in_box = in_ellipsoid = 0
    for a, b in pairs:
        arms = np.abs(points[starts[a] : ends[a]] - centre[b]) / half[b]
        tests += len(arms)
        in_box += int((arms < 1.0).all(axis=1).sum())
        in_ellipsoid += int((np.linalg.norm(arms, axis=1) < 1.0).sum())
    return tests, in_box, in_ellipsoid


def bounding(options: Options) -> Tables:
    """Points of a heap of 50 balls against bounding ellipsoids: ns per test, with and without a box first."""
    seconds, side = (0.02, 2) if options.quick else (1.0, 5)
    return {device: [point_tests(device, seconds, side)] for device in options.devices}
