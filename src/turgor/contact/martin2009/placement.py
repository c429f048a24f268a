"""Where collision particles may rest, and how many each pair of soft bodies has (B10; Martin 2009, 5.2.1).

A feature is a vertex, an edge or a triangle (in 2D a vertex or an edge), given by its corners. Two features are
neighbours when one is part of the other: a vertex of the edges and triangles at it, an edge of its triangles.
All tables are those of one world; world w adds w times the soft points of a world to the corners.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from turgor.model.model import Model

__all__ = ["LEAST_PARTICLES", "MOST_TIMES", "ParticleFeatures", "particle_count"]

IntArray = npt.NDArray[np.int32]

SHARE = 8  # vertices per particle
LEAST_PARTICLES = 16  # of a body in a pair: an eighth of a small body's vertices covers nothing
MOST_TIMES = 4  # as many as an eighth of the vertices, where the number adapts: half of them then


def particle_count(vertices: int, features: int, least: int = LEAST_PARTICLES) -> int:
    """Particles of a body in each of its pairs; no two may share a feature."""
    return min(max(-(-vertices // SHARE), least), features)


class ParticleFeatures:
    """Features of all soft bodies with their neighbours, and the particles of each pair of bodies at the start.

    adaptive: there is room for more particles than are in use at the start.
    """

    def __init__(self, model: Model, least: int = LEAST_PARTICLES, adaptive: bool = False) -> None:
        self.bodies = len(model.parts)
        corners, neighbours, counts = [], [], []
        first = 0
        for part, start in zip(model.parts, model.starts, strict=False):
            table, links = features_of(np.asarray(part.faces, np.int32), len(part.order))
            corners.append(np.where(table < 0, -1, table + int(start)))
            neighbours.append(links + first)
            counts.append(len(table))
            first += len(table)
        self.corners = np.concatenate([*corners, np.zeros((0, 3))]).astype(np.int32)  # -1: fewer than three
        links = np.concatenate([*neighbours, np.zeros((0, 2))]).astype(np.int32)
        links = links[np.lexsort((links[:, 1], links[:, 0]))]
        self.neighbours = links[:, 1]
        self.neighbour_start = np.searchsorted(links[:, 0], np.arange(first + 1)).astype(np.int32)
        self.feature_start = np.cumsum([0, *counts]).astype(np.int32)
        start = [particle_count(len(part.order), n, least) for part, n in zip(model.parts, counts, strict=True)]
        self._pairs(start, [min(MOST_TIMES * k, n) for k, n in zip(start, counts, strict=True)] if adaptive else start)

    def _pairs(self, start: list[int], room: list[int]) -> None:
        pairs = list(combinations(range(self.bodies), 2))
        self.pair = np.array(pairs, np.int32).reshape(-1, 2)  # the two bodies of each list
        self.pair_active = np.array([(start[a], start[b]) for a, b in pairs], np.int32).reshape(-1, 2)  # at the start
        self.pair_counts = np.array([(room[a], room[b]) for a, b in pairs], np.int32).reshape(-1, 2)
        self.pair_start = np.concatenate([[0], np.cumsum(self.pair_counts.sum(axis=1))]).astype(np.int32)
        self.particles = int(self.pair_start[-1])
        places = [self._spread(number, pair) for number, pair in enumerate(pairs)]
        self.places = np.concatenate([*places, np.zeros(0)]).astype(np.int32)  # feature of each particle

    def _spread(self, number: int, pair: tuple[int, int]) -> IntArray:
        """Random features, none twice, the same in every world and every run."""
        random = np.random.default_rng((2009, number))
        rows = []
        for body, count in zip(pair, self.pair_counts[number], strict=True):
            low, high = self.feature_start[body], self.feature_start[body + 1]
            rows.append(low + random.choice(high - low, int(count), replace=False))
        return np.concatenate(rows).astype(np.int32)


def features_of(faces: IntArray, vertices: int) -> tuple[IntArray, IntArray]:
    """(corners of each feature, -1 where it has fewer than three; pairs of neighbours in both directions)."""
    width = faces.shape[1]
    table = np.full((vertices, 3), -1, np.int32)
    table[:, 0] = np.arange(vertices)
    if width == 2:
        edges, face_edges = faces, np.zeros((0, 2), np.int32)
    else:
        sides = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
        edges, inverse = np.unique(sides, axis=0, return_inverse=True)
        face_number = np.repeat(np.arange(len(faces)), 3)
        face_edges = np.stack([inverse.ravel() + vertices, face_number + vertices + len(edges)], axis=1)
    padded = np.full((len(edges), 3), -1, np.int32)
    padded[:, :2] = edges
    rows = [table, padded]
    ends = np.stack([edges.ravel(), np.repeat(np.arange(len(edges)), 2) + vertices], axis=1)
    links = [ends, face_edges]
    if width == 3:
        rows.append(faces)
        owner = np.repeat(np.arange(len(faces)), 3) + vertices + len(edges)
        links.append(np.stack([faces.ravel(), owner], axis=1))
    joined = np.concatenate(links)
    return np.concatenate(rows).astype(np.int32), np.concatenate([joined, joined[:, ::-1]]).astype(np.int32)
