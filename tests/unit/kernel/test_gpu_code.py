"""Kernels that only a GPU runs compile for one, on machines without one too: the compiler for GPUs comes with Warp."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import warp as wp

from turgor.contact.features.search import slab_blocks
from turgor.contact.features.solve import constraints, impulses, overlaps, sweep
from turgor.contact.rigid import impulses as rigid_impulses
from turgor.forces import gather
from turgor.kernel.numbers import numbers
from turgor.solvers import block_substeps

pytestmark = [
    pytest.mark.req("X6"),
    pytest.mark.skipif(sys.platform == "darwin", reason="Warp for macOS has no compiler for NVIDIA's GPUs"),
]
HOPPER = 90  # of the H200: sm_90
SINGLE = numbers(3, "single")
MADE: dict[str, Callable[[], Any]] = {
    "block_substeps": lambda: block_substeps.kernels(SINGLE, True, 64),
    "constraints": lambda: constraints.kernels(SINGLE, True),
    "gather": lambda: gather.kernels(SINGLE),
    "impulses": lambda: impulses.kernels(SINGLE, True),
    "overlaps": lambda: overlaps.kernels(SINGLE, True),
    "rigid impulses": lambda: rigid_impulses.kernels(SINGLE, True),
    "slab_blocks": lambda: slab_blocks.kernels(SINGLE),
    "sweep": lambda: sweep.kernels(SINGLE, True),
}


def compiled(kernels: Any, folder: Path) -> list[Path]:
    """Machine code of all modules of these kernels."""
    modules = {kernel.module for kernel in vars(kernels).values() if isinstance(kernel, wp.Kernel)}
    return [
        file
        for number, module in enumerate(sorted(modules, key=lambda module: module.name))
        for file in wp.compile_aot_module(module, arch=HOPPER, module_dir=folder / str(number), use_ptx=False)
        if file.suffix == ".cubin"
    ]


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_kernels_of_a_gpu_compile(made: Callable[[], Any], tmp_path: Path) -> None:
    files = compiled(made(), tmp_path)
    assert files
    assert all(file.read_bytes()[:4] == b"\x7fELF" for file in files)


def test_what_does_not_compile_is_noticed(tmp_path: Path) -> None:
    @wp.func_native("return no_such_function(a);")
    def missing(a: float) -> float: ...

    @wp.kernel(module="unique", enable_backward=False)
    def calls(x: wp.array(dtype=float)):  # type: ignore[valid-type]
        x[0] = missing(x[0])

    with pytest.raises(Exception, match="CUDA"):
        wp.compile_aot_module(calls.module, arch=HOPPER, module_dir=tmp_path, use_ptx=False)
