"""While one thread records a graph, what another one does is done at once and is no part of the graph."""

import threading

import warp as wp

from turgor.kernel.numbers import start_warp
from turgor.kernel.recording import record_per_thread


@wp.kernel(enable_backward=False)
def add_one(values: wp.array(dtype=int)):
    values[wp.tid()] += 1


def in_a_thread(action):
    thread = threading.Thread(target=action)
    thread.start()
    thread.join()


def test_other_threads_do_not_add_to_a_graph():
    start_warp()
    record_per_thread()  # a second time changes nothing
    mine, other = wp.zeros(4, dtype=int, device="cpu"), wp.ones(4, dtype=int, device="cpu")
    wp.launch(add_one, dim=4, inputs=[mine], device="cpu")  # compiled before
    with wp.ScopedCapture(device="cpu") as capture:
        seen = wp._src.context.runtime._apic_capture
        wp.launch(add_one, dim=4, inputs=[mine], device="cpu")
        found = []

        def meanwhile():
            found.append(wp._src.context.runtime._apic_capture)
            other.zero_()
            wp.launch(add_one, dim=4, inputs=[other], device="cpu")
            wp.copy(other, other)
            with wp.ScopedCapture(device="cpu") as own:  # and may record one of its own
                wp.launch(add_one, dim=4, inputs=[other], device="cpu")
            wp.capture_launch(own.graph)

        in_a_thread(meanwhile)
        assert seen is wp._src.context.runtime._apic_capture
    assert found == [None]
    assert other.numpy().tolist() == [2] * 4  # done at once
    assert len(seen._regions) == 1
    assert mine.numpy().tolist() == [1] * 4  # recorded, not done
    wp.capture_launch(capture.graph)
    assert mine.numpy().tolist() == [2] * 4
    assert other.numpy().tolist() == [2] * 4
