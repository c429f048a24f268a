"""A small writer of glTF 2.0 in its binary form, `.glb` (ISO/IEC 12113): one chunk of JSON, one of plain arrays."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.files import replacing

__all__ = ["LINES", "TRIANGLES", "GltfFile"]

LINES, TRIANGLES = 1, 4  # modes of a primitive
VERTICES, INDICES = 34962, 34963  # targets of a buffer view
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
COMPONENTS = {"float32": 5126, "uint32": 5125, "uint16": 5123}
REPEAT, NEAREST, LINEAR, MIPMAPPED = 10497, 9728, 9729, 9987


class GltfFile:
    """What is put in gets a number, by which other things refer to it. Arrays that are the same are kept once."""

    def __init__(self, generator: str) -> None:
        self.json: dict[str, Any] = {"asset": {"version": "2.0", "generator": generator}, "scene": 0}
        self._blobs: list[bytes] = []
        self._length = 0
        self._known: dict[bytes, int] = {}

    def _put(self, kind: str, entry: dict[str, Any]) -> int:
        entries: list[Any] = self.json.setdefault(kind, [])
        entries.append(entry)
        return len(entries) - 1

    def _view(self, content: bytes, target: int | None = None) -> int:
        entry = {"buffer": 0, "byteOffset": self._length, "byteLength": len(content)}
        if target is not None:
            entry["target"] = target
        padded = content + b"\0" * (-len(content) % 4)
        self._blobs.append(padded)
        self._length += len(padded)
        return self._put("bufferViews", entry)

    def _accessor(self, array: npt.NDArray[Any], target: int | None, limits: bool) -> int:
        array = np.ascontiguousarray(array)
        content = array.tobytes()
        key = hashlib.blake2b(content, key=f"{array.dtype}{array.shape}{target}{limits}".encode()).digest()
        if key in self._known:
            return self._known[key]
        rows = array.reshape(len(array), -1)
        entry: dict[str, Any] = {
            "bufferView": self._view(content, target),
            "componentType": COMPONENTS[array.dtype.name],
            "count": len(array),
            "type": TYPES[rows.shape[1]],
        }
        if limits:
            entry["min"], entry["max"] = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        self._known[key] = self._put("accessors", entry)
        return self._known[key]

    def attribute(self, values: npt.ArrayLike, limits: bool = False) -> int:
        """Numbers of the vertices, as single precision. limits: with their range, which positions must have."""
        return self._accessor(np.asarray(values, np.float32), VERTICES, limits)

    def indices(self, values: npt.ArrayLike) -> int:
        """Corners of triangles, or ends of lines."""
        numbers = np.asarray(values).ravel()
        small = int(numbers.max(initial=0)) < 65535  # that one is reserved
        return self._accessor(numbers.astype(np.uint16 if small else np.uint32), INDICES, False)

    def track(self, values: npt.ArrayLike, limits: bool = False) -> int:
        """Times (with limits) or values of an animation."""
        return self._accessor(np.asarray(values, np.float32), None, limits)

    def texture(self, content: bytes, mime: str, smooth: bool = True) -> int:
        """A picture that repeats beyond its edges. smooth=False: its pixels stay sharp."""
        image = self._put("images", {"bufferView": self._view(content), "mimeType": mime})
        filters = (LINEAR, MIPMAPPED) if smooth else (NEAREST, MIPMAPPED)
        sampler = {"magFilter": filters[0], "minFilter": filters[1], "wrapS": REPEAT, "wrapT": REPEAT}
        return self._put("textures", {"source": image, "sampler": self._put("samplers", sampler)})

    def material(
        self, name: str, color: tuple[float, float, float], roughness: float, texture: int | None, both_sides: bool
    ) -> int:
        """color: linear; a texture is multiplied by it."""
        surface: dict[str, Any] = {
            "baseColorFactor": [*color, 1.0], "metallicFactor": 0.0, "roughnessFactor": roughness,
        }  # fmt: skip
        if texture is not None:
            surface["baseColorTexture"] = {"index": texture}
        return self._put("materials", {"name": name, "pbrMetallicRoughness": surface, "doubleSided": both_sides})

    def mesh(self, entry: dict[str, Any]) -> int:
        return self._put("meshes", entry)

    def camera(self, entry: dict[str, Any]) -> int:
        return self._put("cameras", entry)

    def node(self, entry: dict[str, Any]) -> int:
        return self._put("nodes", entry)

    def animation(self, entry: dict[str, Any]) -> int:
        return self._put("animations", entry)

    def write(self, path: Path) -> None:
        """The file, which appears when it is complete."""
        self.json.setdefault("nodes", [])
        if self._length:
            self.json["buffers"] = [{"byteLength": self._length}]
        text = json.dumps(self.json, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        total = 12 + 8 + len(text) + (8 + self._length if self._length else 0)
        if total >= 1 << 32:
            raise SceneError(f"{path}: a .glb file holds at most 4 GiB; allow a larger tolerance, or use .usdc.")
        with replacing(path) as temporary, temporary.open("wb") as file:
            file.write(struct.pack("<4sII", b"glTF", 2, total))
            file.write(struct.pack("<I4s", len(text), b"JSON") + text)
            self._write_arrays(file)

    def _write_arrays(self, file: BinaryIO) -> None:
        if self._length:
            file.write(struct.pack("<I4s", self._length, b"BIN\0"))
            for blob in self._blobs:
                file.write(blob)
