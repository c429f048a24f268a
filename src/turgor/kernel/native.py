"""What Warp's language does not say: barriers, extremes by one atomic operation, the root's inverse."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions."""
    real = n.real

    @wp.func_native("""
    #if defined(__CUDA_ARCH__)
        __syncthreads();
    #endif
    """)
    def barrier():
        """All threads of the block have come here, and see what the others have written."""

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

    @wp.func_native(f"""
    #if defined(__CUDA_ARCH__)
        if (value > a.data[i]) {{
            {bits} b;
            memcpy(&b, &value, sizeof(b));
            atomicMax(reinterpret_cast<{bits}*>(a.data + i), b);
        }}
    #else
        if (value > a.data[i])
            a.data[i] = value;
    #endif
    """)
    def lift(a: wp.array(dtype=real), i: int, value: real):
        """As wp.atomic_max, of numbers that are not negative; a look costs less than an atomic operation."""

    root = "rsqrtf" if n.precision == "single" else "rsqrt"

    @wp.func_native(f"""
    #if defined(__CUDA_ARCH__)
        return {root}(value);
    #else
        return decltype(value)(1) / wp::sqrt(value);
    #endif
    """)
    def inverse_root(value: real) -> real:
        """1 / sqrt(value), which a GPU finds in one instruction, and the square root and the quotient in many."""

    return SimpleNamespace(barrier=barrier, lower=lower, lift=lift, inverse_root=inverse_root)
