"""How long the stages of a substep take, one by one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import warp as wp

from turgor.simulation.step.frame import Step

__all__ = ["stage_times"]


def stage_times(step: Step) -> dict[str, float]:
    """Seconds per launch of each stage of a substep, measured one by one at the present state (which is kept)."""
    step.fresh = False
    s, scratch, forces = step.state, step.scratch, step.forces
    kept = [(array, wp.clone(array)) for array in (s.x, s.v, s.clock, s.dt)]
    assembly: dict[str, Callable[[], None]] = {
        "springs": lambda: forces.add_springs(s.x, s.v),
        "faces": lambda: forces.add_faces(s.x),
    }
    if forces.gathers:
        assembly = {"gather": lambda: forces.gather(s.x, s.v)}
    stages = assembly | {
        "bending": lambda: forces.add_bending(s.x),
        "air": lambda: forces.add_air(s.v),
        "volume estimate": lambda: forces.estimate_volumes(s.x, forces.model.pressing_method),
        "gas": lambda: forces.update_bodies(s.x, s.v, 0.0, forces.model.pressing_method),
        "walls": lambda: step.move_walls(1.0),
        "integrate": lambda: step.fused.run(s.v),
        "plan (per frame)": step.plan,
        "inspect (per frame)": step.inspect,
    }
    ends_fused = wp.clone(scratch.ends_fused)
    scratch.ends_fused.fill_(1)
    scratch.dt.zero_()  # so that the state stays where it is
    repeat = max(1, min(50, 1_000_000 // max(step.count, 1)))
    times = {}
    for name, stage in stages.items():
        with wp.ScopedCapture(device=step.device) as capture:
            for _ in range(repeat):
                stage()
        best = math.inf
        for _ in range(5):
            wp.synchronize_device(step.device)
            start = time.perf_counter()
            wp.capture_launch(capture.graph)
            wp.synchronize_device(step.device)
            best = min(best, time.perf_counter() - start)
        times[name] = best / repeat
    for target, copy in kept:
        wp.copy(target, copy)
    wp.copy(scratch.ends_fused, ends_fused)
    for array in (scratch.f, scratch.area, scratch.volume_sum, scratch.status, scratch.until_plan, scratch.unfinished):
        array.zero_()
    return times
