"""A frame is recorded by one thread; what other threads do meanwhile is not part of it.

Warp's native code keeps the graph that is being recorded per thread, but its Python side keeps it in one variable for
all: while one thread records, `zero_`, `copy` or `launch` in another one adds its arrays to the regions of that graph,
in native code and at the same time as the first. That corrupts them: a page hung, and a program was aborted. Here that
variable becomes one per thread, too.
"""

from __future__ import annotations

import threading
from typing import Any

from warp._src import context

__all__ = ["ONE_AT_A_TIME", "record_per_thread"]

# One thread at a time records a frame or launches kernels outside of one, as Warp loads modules meanwhile. Frames of
# several simulations are replayed at the same time.
ONE_AT_A_TIME = threading.RLock()
NAMES = ("_apic_capture", "_apic_graph")  # Warp 1.19


def record_per_thread() -> None:
    """Once Warp has been initialised."""
    runtime = context.runtime
    for name in NAMES:
        if not hasattr(runtime, name):
            raise RuntimeError(f"this version of Warp has no {name!r}: see {__name__}")
        if not isinstance(getattr(type(runtime), name, None), property):
            setattr(type(runtime), name, _per_thread())


def _per_thread() -> property:
    """An attribute that each thread has its own value of, at first None."""
    values = threading.local()

    def read(_: Any) -> Any:
        return getattr(values, "value", None)

    def write(_: Any, value: Any) -> None:
        values.value = value

    return property(read, write)
