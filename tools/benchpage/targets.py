"""What was to be reached, and what was: met, missed, or not measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchpage.results import Results, median, row, rows

__all__ = ["TARGETS", "Target", "table"]


@dataclass(frozen=True)
class Target:
    """A number in words, its bound, and where it is in the results."""

    words: str
    bound: float
    find: Callable[[Results], float | None]
    at_most: bool = True
    unit: str = ""


def _value(key: str, suite: str, title: str, **match: object) -> Callable[[Results], float | None]:
    """A column of a row."""

    def find(results: Results) -> float | None:
        found = row(results, suite, title, **match)
        return None if found is None or found.get(key) is None else median(found[key])

    return find


def _growth(results: Results) -> float | None:
    found = rows(results, "growth", "cpu")
    return median(found[-1]["time_per_vertex_over_first"]) if found else None


def _speed_up(title: str) -> Callable[[Results], float | None]:
    def find(results: Results) -> float | None:
        return _value("speed_up", "threads", title, threads=2)(results)

    return find


BALLS, BALL = "121 balls", "cpu: one ball of 10,242"
TARGETS = (
    Target("121 balls × 162: Jolt's time over turgor's (WASM; S1 means native)", 1.0,
           _value("time_over_turgor", "peers", BALLS, engine="Jolt (WASM)"), at_most=False),
    Target("one ball of 10,242: Jolt's time over turgor's (likewise, S2)", 1.0,
           _value("time_over_turgor", "peers", BALL, engine="Jolt (WASM)"), at_most=False),
    Target("121 balls × 162: Bullet's time over turgor's (S3)", 10.0,
           _value("time_over_turgor", "peers", BALLS, engine="Bullet"), at_most=False),
    Target("one ball of 10,242: Bullet's time over turgor's (S3)", 10.0,
           _value("time_over_turgor", "peers", BALL, engine="Bullet"), at_most=False),
    Target("2 threads, 64 worlds × 162 vertices: speed-up", 1.7, _speed_up("64 worlds x 162"), at_most=False),
    Target("2 threads, 64 worlds × `five-balls`: speed-up", 1.7, _speed_up("64 worlds x five-balls"), at_most=False),
    Target("2 threads, `pile`: speed-up", 1.5, _speed_up("pile"), at_most=False),
    Target("CPU, heap of 50 balls: frame with contact over without (S5)", 2.0,
           _value("over_none", "contact", "cpu: heap", contact="features")),
    Target("CPU, `pile`: frame with contact over without (S5)", 2.0,
           _value("over_none", "contact", "cpu: pile", contact="features")),
    Target("CPU: time per vertex at a million vertices over ten thousand (S6)", 2.0, _growth),
    Target("command to first frame, warm (S7)", 3.0, _value("s", "startup", "cpu", kernel_cache="warm"), unit="s"),
    Target("command to first frame, first run ever (S7)", 30.0,
           _value("s", "startup", "cpu", kernel_cache="cold: the first run ever"), unit="s"),
    Target("CPU: pressure force at 8,000 vertices (S8)", 0.1,
           _value("ms", "pressure", "cpu", vertices=8000), unit="ms"),
    Target("GPU: 655,362 vertices", 15_000.0, _value("mvs_per_s", "throughput", "cuda:0: one ball", vertices=655_362),
           at_most=False, unit="Mvs/s"),
    Target("GPU: 16,384 worlds × 162 vertices", 12_000.0,
           _value("mvs_per_s", "worlds", "cuda:0: worlds x 162", worlds=16_384), at_most=False, unit="Mvs/s"),
    Target("GPU: `five-balls`, one world", 1.0,
           _value("frame_ms", "worlds", "cuda:0: worlds x five", worlds=1), unit="ms"),
    Target("GPU: `five-balls`, 1,024 worlds", 4.0, _value("frame_ms", "worlds", "cuda:0: worlds x five", worlds=1024),
           unit="ms"),
    Target("GPU: `five-balls`, 4,096 worlds", 12.0, _value("frame_ms", "worlds", "cuda:0: worlds x five", worlds=4096),
           unit="ms"),
    Target("GPU: `pile`, one world", 3.0, _value("frame_ms", "worlds", "cuda:0: worlds x pile", worlds=1), unit="ms"),
    Target("GPU: `pile`, 64 worlds", 20.0, _value("frame_ms", "worlds", "cuda:0: worlds x pile", worlds=64), unit="ms"),
)  # fmt: skip


def table(every: Sequence[Results]) -> list[tuple[str, str, str, str]]:
    """(target, bound, measured, met or missed): the number of the first machine that has one."""
    found = []
    for target in TARGETS:
        values = [value for results in every if (value := target.find(results)) is not None]
        unit = f" {target.unit}" if target.unit else ""
        bound = f"{'≤' if target.at_most else '≥'} {target.bound:,g}{unit}"
        if not values:
            found.append((target.words, bound, "-", "not measured"))
            continue
        met = values[0] <= target.bound if target.at_most else values[0] >= target.bound
        found.append((target.words, bound, f"{values[0]:,.3g}{unit}", "met" if met else "**missed**"))
    return found
