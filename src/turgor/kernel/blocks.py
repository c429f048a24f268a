"""Sums and extremes over a block of threads, known to all of its threads.

On the CPU a block is a single thread, and the value is the result. Warp's tiles do the same, but keep their work memory
where the CPU threads of a program share it. Each thread of a block must come here, and blocks have whole warps.

On a GPU the lanes of a warp exchange their values (a butterfly: every lane ends with the same bits), and the results of
the warps are combined in their order, so a result does not depend on timing.
"""
# ruff: noqa: F811 (Warp tells overloads apart by the types of their arguments)

import warp as wp

__all__ = ["block_max", "block_min", "block_sum"]

REDUCE = """
#if defined(__CUDA_ARCH__)
    __shared__ {type} of_warp[32];
    const unsigned lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (unsigned other = 16u; other > 0u; other >>= 1) {{
        const {type} theirs = __shfl_xor_sync(0xffffffffu, value, other);
        value = {combine};
    }}
    if (warps <= 1u)
        return value;
    __syncthreads();  // nobody still reads what the call before has left
    if (lane == 0u)
        of_warp[warp] = value;
    __syncthreads();
    value = of_warp[0];
    for (unsigned other = 1u; other < warps; ++other) {{
        const {type} theirs = of_warp[other];
        value = {combine};
    }}
#endif
    return value;
"""
SUM = "value + theirs"
MIN = "theirs < value ? theirs : value"
MAX = "theirs > value ? theirs : value"


def _reduction(combine: str, kind: str) -> str:
    return REDUCE.format(type=kind, combine=combine)


@wp.func_native(_reduction(SUM, "float"))
def block_sum(value: wp.float32) -> wp.float32: ...


@wp.func_native(_reduction(SUM, "double"))  # type: ignore[no-redef]
def block_sum(value: wp.float64) -> wp.float64: ...


@wp.func_native(_reduction(MIN, "float"))
def block_min(value: wp.float32) -> wp.float32: ...


@wp.func_native(_reduction(MIN, "double"))  # type: ignore[no-redef]
def block_min(value: wp.float64) -> wp.float64: ...


@wp.func_native(_reduction(MIN, "int"))  # type: ignore[no-redef]
def block_min(value: wp.int32) -> wp.int32: ...


@wp.func_native(_reduction(MAX, "float"))
def block_max(value: wp.float32) -> wp.float32: ...


@wp.func_native(_reduction(MAX, "double"))  # type: ignore[no-redef]
def block_max(value: wp.float64) -> wp.float64: ...


@wp.func_native(_reduction(MAX, "int"))  # type: ignore[no-redef]
def block_max(value: wp.int32) -> wp.int32: ...
