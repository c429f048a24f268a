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


# of all components of a vector, with as many barriers as for one number
REDUCE_ALL = """
#if defined(__CUDA_ARCH__)
    __shared__ {type} of_warp[32][{size}];
    const unsigned lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (unsigned other = 16u; other > 0u; other >>= 1)
        for (unsigned k = 0u; k < {size}u; ++k) {{
            const {type} theirs = __shfl_xor_sync(0xffffffffu, all.c[k], other), value = all.c[k];
            all.c[k] = {combine};
        }}
    if (warps <= 1u)
        return all;
    __syncthreads();  // nobody still reads what the call before has left
    if (lane == 0u)
        for (unsigned k = 0u; k < {size}u; ++k)
            of_warp[warp][k] = all.c[k];
    __syncthreads();
    for (unsigned k = 0u; k < {size}u; ++k) {{
        {type} value = of_warp[0][k];
        for (unsigned other = 1u; other < warps; ++other) {{
            const {type} theirs = of_warp[other][k];
            value = {combine};
        }}
        all.c[k] = value;
    }}
#endif
    return all;
"""


def _reduction(combine: str, kind: str, size: int = 1) -> str:
    return (REDUCE if size == 1 else REDUCE_ALL).format(type=kind, combine=combine, size=size)


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


@wp.func_native(_reduction(SUM, "float", 2))  # type: ignore[no-redef]
def block_sum(all: wp.vec2f) -> wp.vec2f: ...


@wp.func_native(_reduction(SUM, "double", 2))  # type: ignore[no-redef]
def block_sum(all: wp.vec2d) -> wp.vec2d: ...


@wp.func_native(_reduction(SUM, "float", 3))  # type: ignore[no-redef]
def block_sum(all: wp.vec3f) -> wp.vec3f: ...


@wp.func_native(_reduction(SUM, "double", 3))  # type: ignore[no-redef]
def block_sum(all: wp.vec3d) -> wp.vec3d: ...  # type: ignore[empty-body]


@wp.func_native(_reduction(MAX, "float", 3))  # type: ignore[no-redef]
def block_max(all: wp.vec3f) -> wp.vec3f: ...


@wp.func_native(_reduction(MAX, "double", 3))  # type: ignore[no-redef]
def block_max(all: wp.vec3d) -> wp.vec3d: ...  # type: ignore[empty-body]
