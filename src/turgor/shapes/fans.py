"""Fans: the faces around a vertex that hang together by edges. A bow-tie is a vertex of several fans.

It is split into one vertex per fan, which moves nothing. Where holes meet in a bow-tie, faces that close the holes may
join its fans to one, and then the vertex stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turgor.shapes.topology import Edges, Integers, components

__all__ = ["broken_fans", "fans", "rims", "simple_loops", "split_fans"]


def fans(edges: Edges) -> Integers:
    """(3m,) the fan of each corner of the faces, named by its first corner; corner s is where side s starts.

    Nodes are corners; at a regular edge the corners of both faces at each end are linked.
    """
    one, two = edges.pairs()
    same = edges.sides[one, 0] == edges.sides[two, 0]
    next_one, next_two = one - one % 3 + (one + 1) % 3, two - two % 3 + (two + 1) % 3
    start, end = np.where(same, two, next_two), np.where(same, next_two, two)
    return components(len(edges.sides), np.concatenate([one, next_one]), np.concatenate([start, end]))


def broken_fans(edges: Edges) -> Integers:
    """Bow-ties: vertices of several fans, but for those on edges of three or more faces, which part fans themselves."""
    fan = fans(edges)
    vertex, count = np.unique(edges.sides[fan == np.arange(len(fan)), 0], return_counts=True)
    return np.setdiff1d(vertex[count > 1], edges.ends[edges.count > 2])


def split_fans(count: int, edges: Edges) -> tuple[Integers, Integers]:
    """Faces (m, 3) in which each bow-tie is one vertex per fan, and where each vertex comes from (count + added,).

    The first fan of the file keeps the vertex, the others get new ones after the `count` there are.
    """
    fan = fans(edges)
    roots = np.flatnonzero(fan == np.arange(len(fan)))
    vertex = edges.sides[roots, 0]
    order = np.argsort(vertex, kind="stable")
    later = order[1:][vertex[order[1:]] == vertex[order[:-1]]]
    added = roots[later[np.isin(vertex[later], broken_fans(edges))]]
    name = edges.sides[:, 0].copy()
    name[added] = count + np.arange(len(added))
    origin = np.concatenate([np.arange(count), edges.sides[added, 0]])
    return name[fan].reshape(-1, 3), origin


def rims(edges: Edges) -> list[Integers]:
    """Closed loops of open sides, each as vertices in the order of the faces beside it.

    With one fan per vertex each loop is determined; where a vertex has two open sides that leave it the walk takes
    either.
    """
    after: dict[int, list[int]] = {}
    for a, b in edges.sides[edges.open].tolist():
        after.setdefault(a, []).append(b)
    loops = []
    for start in sorted(after):
        while after[start]:
            loop, here = [], start
            while after.get(here):
                loop.append(here)
                here = after[here].pop()
            loops.append(np.array(loop, np.int64))
    return loops


def simple_loops(loops: Sequence[Integers], origin: Integers) -> tuple[list[Integers], Integers]:
    """Loops that pass no point twice, and the vertex that stands for each one (n,).

    A rim that comes back to a bow-tie v it has passed is cut there, and the copies of v become one vertex again. Faces
    that close the loops then lie between the fans F of v, as in F1, loop 1, F2, loop 2, ..., F1: v has one closed fan.
    A rim that meets another rim in v stays apart from it: joined they would make a handle.
    """
    stands_for = np.arange(len(origin))
    simple = []
    for loop in loops:
        path: list[int] = []
        at: dict[int, int] = {}  # place in the path of each point
        for vertex in loop.tolist():
            point = int(origin[vertex])
            if point not in at:
                at[point] = len(path)
                path.append(vertex)
                continue
            start = at[point]
            stands_for[vertex] = path[start]
            simple.append(np.array(path[start:], np.int64))
            for passed in path[start + 1 :]:
                del at[int(origin[passed])]
            del path[start + 1 :]
        simple.append(np.array(path, np.int64))
    return simple, stands_for
