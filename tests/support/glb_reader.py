"""An animated .glb file as a reader sees it: pygltflib parses it, the rules of glTF place the vertices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

COMPONENTS = {5126: np.float32, 5125: np.uint32, 5123: np.uint16}
NUMBERS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


class GlbReader:
    """One file. Positions are given with z up (3D), as turgor has them."""

    def __init__(self, path: Path, flat: bool = False) -> None:
        import pygltflib

        self.gltf = pygltflib.GLTF2().load_binary(str(path))
        self._blob = self.gltf.binary_blob()
        self._flat = flat
        self._arrays: dict[int, np.ndarray] = {}
        self.nodes = {node.name: number for number, node in enumerate(self.gltf.nodes)}

    def array(self, accessor: int) -> np.ndarray:
        """The numbers of an accessor, one row per element."""
        if accessor not in self._arrays:
            self._arrays[accessor] = self._array(accessor)
        return self._arrays[accessor]

    def _array(self, accessor: int) -> np.ndarray:
        about = self.gltf.accessors[accessor]
        view = self.gltf.bufferViews[about.bufferView]
        numbers = NUMBERS[about.type]
        flat = np.frombuffer(
            self._blob,
            COMPONENTS[about.componentType],
            about.count * numbers,
            view.byteOffset + (about.byteOffset or 0),
        )
        return flat.reshape(-1, numbers).astype(float)

    def view(self, number: int) -> bytes:
        """The bytes of a buffer view."""
        view = self.gltf.bufferViews[number]
        return bytes(self._blob[view.byteOffset : view.byteOffset + view.byteLength])

    def mesh(self, name: str) -> Any:
        return self.gltf.meshes[self.gltf.nodes[self.nodes[name]].mesh]

    def attribute(self, name: str, key: str, primitive: int = 0) -> np.ndarray:
        return self.array(getattr(self.mesh(name).primitives[primitive].attributes, key))

    def faces(self, name: str, primitive: int = 0) -> np.ndarray:
        indices = self.array(self.mesh(name).primitives[primitive].indices).astype(int)
        return indices.reshape(-1, 3)

    def targets(self, name: str, key: str, primitive: int = 0) -> np.ndarray:
        """(targets, points, 3)"""
        found = self.mesh(name).primitives[primitive].targets or []
        return np.array([self.array(target[key]) for target in found])

    def keys(self, name: str, path: str) -> np.ndarray:
        """Times of the keyframes, s; none where it is not animated."""
        sampler = self._sampler(name, path)
        return np.zeros(0) if sampler is None else self.array(sampler.input)[:, 0]

    def _sampler(self, name: str, path: str) -> Any:
        for animation in self.gltf.animations:
            for channel in animation.channels:
                if channel.target.node == self.nodes[name] and channel.target.path == path:
                    return animation.samplers[channel.sampler]
        return None

    def value(self, name: str, path: str, time: float) -> np.ndarray:
        """Translation, rotation (slerp) or weights at a time."""
        node, sampler = self.gltf.nodes[self.nodes[name]], self._sampler(name, path)
        if sampler is None:
            fixed = {"translation": node.translation, "rotation": node.rotation, "weights": self.mesh(name).weights}
            return np.array(fixed[path] or [], float)
        times = self.array(sampler.input)[:, 0]
        rows = self.array(sampler.output).reshape(len(times), -1)
        after = int(np.clip(np.searchsorted(times, time), 1, len(times) - 1))
        part = float(np.clip((time - times[after - 1]) / (times[after] - times[after - 1]), 0, 1))
        first, last = rows[after - 1], rows[after]
        if path != "rotation":
            return first + part * (last - first)
        cosine = first @ last
        first, last, cosine = (first, last, cosine) if cosine >= 0 else (first, -last, -cosine)
        angle = np.arccos(min(cosine, 1.0))
        if angle < 1e-5:
            return first + part * (last - first)
        return (np.sin((1 - part) * angle) * first + np.sin(part * angle) * last) / np.sin(angle)

    def positions(self, name: str, time: float, primitive: int = 0) -> np.ndarray:
        """(points, 3) m: the morphed, turned and moved points of a node."""
        points = self.attribute(name, "POSITION", primitive)
        targets = self.targets(name, "POSITION", primitive)
        if len(targets):
            points = points + np.tensordot(self.value(name, "weights", time), targets, 1)
        moved = points @ self.matrix(name, time).T + self.value(name, "translation", time)
        return self._z_up(moved)

    def normals(self, name: str, time: float) -> np.ndarray:
        """(points, 3) unit normals, morphed and turned."""
        normals = self.attribute(name, "NORMAL")
        if len(targets := self.targets(name, "NORMAL")):
            normals = normals + np.tensordot(self.value(name, "weights", time), targets, 1)
        normals = self._z_up(normals @ self.matrix(name, time).T)
        return normals / np.linalg.norm(normals, axis=1, keepdims=True)

    def matrix(self, name: str, time: float) -> np.ndarray:
        x, y, z, w = self.value(name, "rotation", time)
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )

    def _z_up(self, rows: np.ndarray) -> np.ndarray:
        return rows if self._flat else np.stack([rows[:, 0], -rows[:, 2], rows[:, 1]], axis=1)
