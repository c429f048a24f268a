"""Boxes along the axes that overlap, and what hangs together by them (NumPy)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["islands", "near", "overlapping"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def overlapping(low: FloatArray, high: FloatArray) -> IntArray:
    """(n, 2) pairs of boxes that overlap, each once: sorted along the first axis, then compared along the others."""
    order = np.argsort(low[:, 0], kind="stable")
    ends = np.searchsorted(low[order, 0], high[order, 0], side="right")
    counts = np.maximum(ends - np.arange(len(order)) - 1, 0)
    first = np.repeat(np.arange(len(order)), counts)
    begins = np.repeat(np.cumsum(counts) - counts, counts)
    second = first + 1 + np.arange(len(first)) - begins
    a, b = order[first], order[second]
    both = np.all((low[a, 1:] <= high[b, 1:]) & (low[b, 1:] <= high[a, 1:]), axis=1)
    return np.stack([a[both], b[both]], axis=1)


def islands(low: FloatArray, high: FloatArray, members: BoolArray, joined: IntArray) -> IntArray:
    """(n,) the island of each member, by the smallest number in it: boxes that overlap, and (m, 2) `joined` ones.

    Those that are no members are islands of their own.
    """
    own = np.flatnonzero(members)
    pairs = own[overlapping(low[own], high[own])]
    links = np.concatenate([pairs, joined[members[joined].all(axis=1)]])
    island = np.arange(len(low))
    while True:
        least = island.copy()
        np.minimum.at(least, links[:, 0], island[links[:, 1]])
        np.minimum.at(least, links[:, 1], island[links[:, 0]])
        least = least[least]
        if np.array_equal(least, island):
            return island
        island = least


def near(low: FloatArray, high: FloatArray, chosen: BoolArray, others: BoolArray) -> BoolArray:
    """(n,) which of the chosen boxes overlap one of the others."""
    found = np.zeros(len(low), bool)
    own = np.flatnonzero(chosen | others)
    pairs = own[overlapping(low[own], high[own])]
    for a, b in (pairs.T, pairs.T[::-1]):
        found[a[chosen[a] & others[b]]] = True
    return found
