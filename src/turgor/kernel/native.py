"""What Warp's language does not say: loads of 16 bytes, sums over a block, minima by one atomic operation.

On the CPU only `lower` works.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions. The threads of a block must call those with a barrier together."""
    real, quad = n.real, n.quad
    number = "wp::float32" if n.precision == "single" else "wp::float64"
    words = f"struct alignas(16) Words {{ {number} c[4]; }};"

    @wp.func_native(f"""
        {words}
        Words w = *reinterpret_cast<const Words*>(a.data + i);
        return wp::vec_t<4, {number}>(w.c[0], w.c[1], w.c[2], w.c[3]);
    """)
    def load_quad(a: wp.array(dtype=quad), i: int) -> quad:
        """An element by loads of 16 bytes: Warp's own are of 4, as its vectors are aligned to their numbers."""
        ...

    @wp.func_native(f"""
        {words}
        Words w = {{{{value[0], value[1], value[2], value[3]}}}};
        *reinterpret_cast<Words*>(a.data + i) = w;
    """)
    def store_quad(a: wp.array(dtype=quad), i: int, value: quad):
        """An element by stores of 16 bytes."""
        ...

    @wp.func_native("""
        __shared__ decltype(value) of_warp[32];
        for (unsigned offset = 16; offset > 0; offset /= 2)
            value += __shfl_down_sync(0xffffffffu, value, offset);
        if (threadIdx.x % 32 == 0)
            of_warp[threadIdx.x / 32] = value;
        __syncthreads();
        decltype(value) total = of_warp[0];
        for (unsigned w = 1; w < blockDim.x / 32; ++w)
            total += of_warp[w];
        return total;
    """)
    def block_sum(value: real) -> real:
        """Over the threads of a block, always in the same order; there must be a barrier before it is called again."""
        ...

    @wp.func_native("__syncthreads();")
    def barrier():
        """All threads of the block have come here, and see what the others have written."""
        ...

    @wp.func_native("""
        __shared__ unsigned last;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            last = atomicAdd(counter.data + b, 1) == all - 1;
            if (last)
                counter.data[b] = 0;
            __threadfence();
        }
        __syncthreads();
        return last != 0;
    """)
    def is_last(counter: wp.array(dtype=int), b: int, all: int) -> bool:  # noqa: A002
        """Whether all other blocks of b have come here before; it sees what they have written."""
        ...

    @wp.func_native("return __ldcg(a.data + i);")
    def load_fresh(a: wp.array(dtype=real), i: int) -> real:
        """An element that another block has written in this launch."""
        ...

    bits = "unsigned" if n.precision == "single" else "unsigned long long"

    @wp.func_native(f"""
    #if defined(__CUDA_ARCH__)
        {bits} b;
        memcpy(&b, &value, sizeof(b));
        atomicMin(reinterpret_cast<{bits}*>(a.data + i), b);
    #else
        if (value < a.data[i])
            a.data[i] = value;
    #endif
    """)
    def lower(a: wp.array(dtype=real), i: int, value: real):
        """As wp.atomic_min, of numbers that are not negative: their order is that of their bits."""
        ...

    return SimpleNamespace(
        load_quad=load_quad, store_quad=store_quad, block_sum=block_sum, barrier=barrier, is_last=is_last,
        load_fresh=load_fresh, lower=lower,
    )  # fmt: skip
