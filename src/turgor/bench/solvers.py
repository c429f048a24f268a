"""What each solver costs, soft to stiff: at equal error, and per frame of a ball that flies, hits the ground, rests."""

from __future__ import annotations

import math
from typing import Any

from turgor import shapes
from turgor.bench.measure import now
from turgor.bench.suite import Options, Row, Tables
from turgor.bench.work_precision import FRAMES, STIFFNESSES, equal_error, work_precision
from turgor.scene import Gas, Scene, Springs
from turgor.simulation.simulation import Simulation
from turgor.simulation.statics import equilibrium

__all__ = ["WORK_PRECISION", "case_title", "frame_times", "large", "pressed_ball", "solvers", "thrown_ball"]

FPS = 60.0  # 1/s
RADIUS, GAP = 0.5, 0.5  # m; the gap is what the ball falls through
VELOCITY = (1.0, 0.5, -2.0)  # m/s
FLIGHT, LANDED, REST = 8, 11, 51  # frames: in flight till the first, on the ground from the second to the last
BUDGET, LEAST = 1.5, 3  # s that a part of a run may take, but at least so many frames
WORK = 1e6  # vertex-substeps: symplectic frames with more are cut into shorter ones
STIFFNESS = (1e3, 1e5, 1e7)  # N/m
LARGE = 1e4  # N/m, of the largest ball
WORK_PRECISION, THROWN = "cpu: work and precision", "cpu: a thrown ball"  # tables


def thrown_ball(subdivisions: int, stiffness: float, *, gap: float = GAP) -> Scene:
    """1 kg, 500 Pa above the air around it, thrown at the ground; turned so that it does not land on a vertex."""
    scene = Scene(name="thrown")
    scene.add_ground(friction=0.5)
    _add_ball(scene, subdivisions, stiffness, at=(0.0, 0.0, RADIUS + gap), velocity=VELOCITY)
    return scene


def _add_ball(scene: Scene, subdivisions: int, stiffness: float, **options: Any) -> None:
    scene.add_soft_body(
        shapes.icosphere(radius=RADIUS, subdivisions=subdivisions), name="ball", mass=1.0, springs=Springs(stiffness),
        gas=Gas.at(gauge=500.0, ambient=101_325.0), rotation=(0.3, 0.2, 0.1), self_contact=False, **options,
    )  # fmt: skip


def solvers(options: Options) -> Tables:
    """Implicit against explicit solvers at equal error and per frame of a thrown ball; equilibrium of a large ball."""
    sizes, budget = ((1,), 0.02) if options.quick else ((2, 3, 4, 5), BUDGET)
    runs: list[Row] = []
    equal: list[Row] = []
    for subdivisions in sizes[:2]:
        for dropped in (False,) if options.quick else (False, True):
            for name, stiffness in {"medium": 1e4}.items() if options.quick else STIFFNESSES.items():
                rows = work_precision(subdivisions, stiffness, dropped=dropped, frames=4 if options.quick else FRAMES)
                title = case_title(10 * 4**subdivisions + 2, name, dropped=dropped)
                runs += [{"case": title, **row} for row in rows]
                equal += [{"case": title, **row} for row in equal_error(rows)]
    stiffnesses = STIFFNESS[1:2] if options.quick else STIFFNESS
    return {
        WORK_PRECISION: runs,
        "cpu: cost of an error, ms per frame": equal,
        THROWN: [frame_times(subdivisions, stiffness, budget) for subdivisions in sizes for stiffness in stiffnesses],
        "cpu: equilibrium": [pressed_ball(sizes[-1], ground=False)],
    }


def case_title(vertices: int, skin: str, *, dropped: bool) -> str:
    """Name of a case of work and precision."""
    return f"{vertices} vertices, {'dropped' if dropped else 'flying'}, {skin}"


def large(options: Options) -> Tables:
    """A ball of 163,842 vertices and 1e4 N/m per frame, and one of 10,242 to its rest on the ground."""
    thrown, pressed = (2, 2) if options.quick else (7, 5)
    return {
        THROWN: [frame_times(thrown, LARGE, 0.02 if options.quick else BUDGET)],
        "cpu: equilibrium": [pressed_ball(pressed, ground=True)],
    }


def frame_times(subdivisions: int, stiffness: float, budget: float = BUDGET) -> dict[str, Any]:
    """ms per frame in flight and on the ground; the ratios are symplectic over implicit."""
    sim = Simulation(thrown_ball(subdivisions, stiffness), solver="implicit", fps=FPS)
    sim.step()  # loads kernels, makes the coarse matrix
    implicit_flight, _ = _mean_frame(sim, FLIGHT, budget)
    while sim.frame_index < LANDED:
        sim.step()
    implicit_ground, frames = _mean_frame(sim, REST, budget)
    explicit_flight, flight_substeps = _symplectic(subdivisions, stiffness, GAP, FLIGHT, budget)
    explicit_ground, ground_substeps = _symplectic(subdivisions, stiffness, 1e-3, REST - LANDED, budget)
    return {
        "vertices": sim.vertices, "stiffness": stiffness,
        "implicit_flight_ms": implicit_flight, "implicit_ground_ms": implicit_ground, "ground_frames": frames,
        "symplectic_flight_ms": explicit_flight, "symplectic_ground_ms": explicit_ground,
        "flight_substeps": flight_substeps, "ground_substeps": ground_substeps,
        "flight_ratio": explicit_flight / implicit_flight, "ground_ratio": explicit_ground / implicit_ground,
    }  # fmt: skip


def _mean_frame(sim: Simulation, last: int, budget: float) -> tuple[float, int]:
    """ms per frame up to a frame, or until the time is spent; and how many frames that were."""
    begin, first = now(), sim.frame_index
    while sim.frame_index < last:
        sim.step()
        if sim.frame_index - first >= LEAST and now() - begin > budget:
            break
    frames = sim.frame_index - first
    return 1e3 * (now() - begin) / frames, frames


def _symplectic(subdivisions: int, stiffness: float, gap: float, frames: int, budget: float) -> tuple[float, int]:
    """ms and substeps per frame with automatic substeps; where a frame takes long, from a part of one."""
    scene = thrown_ball(subdivisions, stiffness, gap=gap)
    planner = Simulation(scene, solver="symplectic", fps=100.0 * FPS, max_substeps=10**7)
    planner.step()
    parts = math.ceil(planner.vertices / planner.dt / FPS / WORK)
    sim = Simulation(scene, solver="symplectic", fps=FPS * parts, max_substeps=10**7)
    sim.step()
    begin, substeps, done = now(), 0, 0
    while done < frames * parts and (done < LEAST or now() - begin < budget):
        sim.step()
        substeps += sim.substeps
        done += 1
    return 1e3 * (now() - begin) * parts / done, round(substeps * parts / done)


def pressed_ball(subdivisions: int, *, ground: bool) -> dict[str, Any]:
    """Seconds to the equilibrium of gas and skin (1e4 N/m, 500 Pa entered): afloat, or lying on the ground."""
    scene = Scene(name="pressed") if ground else Scene(name="pressed", gravity=(0.0, 0.0, 0.0))
    if ground:
        scene.add_ground(friction=0.5)
    _add_ball(scene, subdivisions, 1e4, at=(0.0, 0.0, RADIUS))
    begin = now()
    sim = equilibrium(scene)
    seconds = now() - begin
    ball = sim["ball"]
    return {
        "vertices": sim.vertices, "ground": ground, "seconds": seconds, "gauge_pressure": float(ball.gauge_pressure),
        "volume_over_rest": float(ball.volume) / float(ball.rest_volume),
    }  # fmt: skip
