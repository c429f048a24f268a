"""Materials of mesh files: base colour and image of each, by its name. GLB, OBJ with MTL, PLY.

trimesh reads the triangles and says which material they have; it gets the names alone, so that no image is decoded and
Pillow is not needed. Images that lie beside the mesh file stay where they are, those inside a GLB go into the cache
folder (`textures`).
"""

from __future__ import annotations

import base64
import json
import re
import struct
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from turgor.shapes.paint import Material
from turgor.shapes.shape import FloatArray
from turgor.shapes.textures import Color, cached, ending_of, srgb

__all__ = ["Materials", "glb_materials", "obj_materials", "ply_materials"]

JSON, BINARY = 0x4E4F534A, 0x004E4942  # kinds of chunks of a GLB (glTF 2.0, section 4.4.3)
NAMELESS = "-"  # the material of faces that have none: without one trimesh drops their texture coordinates
SPECULAR = "KHR_materials_pbrSpecularGlossiness"
TRANSFORM = "KHR_texture_transform"


class Names(dict[str, bytes]):
    """Files as trimesh asks for them: each is the same library of materials, which have names only."""

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self._text = "".join(f"newmtl {name}\n" for name in names).encode()

    def __missing__(self, name: str) -> bytes:
        return self._text


@dataclass(frozen=True)
class Materials:
    """Those of a file, and its bytes for trimesh."""

    data: bytes
    materials: Mapping[str | None, Material] = field(default_factory=dict)
    other: Material = field(default_factory=Material)  # of faces of a material that is not listed
    shifts: Mapping[str | None, tuple[FloatArray, FloatArray]] = field(default_factory=dict)  # offset and scale of uv
    names: Names = field(default_factory=lambda: Names([]))
    notes: tuple[str, ...] = ()

    def placed(self, name: str | None, uv: FloatArray) -> FloatArray:
        """Texture coordinates (n, 2) of a material as its image has them."""
        if name not in self.shifts:
            return uv
        offset, scale = self.shifts[name]
        flipped = np.stack([uv[:, 0], 1.0 - uv[:, 1]], axis=1) * scale + offset  # glTF's v points down
        return np.stack([flipped[:, 0], 1.0 - flipped[:, 1]], axis=1)


def glb_materials(data: bytes, path: Path) -> Materials:
    """Of a binary glTF 2.0 file."""
    chunks: dict[int, bytes] = {}
    at = 12
    while at + 8 <= len(data):
        length, kind = struct.unpack("<II", data[at : at + 8])
        chunks.setdefault(kind, data[at + 8 : at + 8 + length])
        at += 8 + length
    tree = json.loads(chunks[JSON])
    notes: list[str] = []
    materials: dict[str | None, Material] = {}
    shifts: dict[str | None, tuple[FloatArray, FloatArray]] = {}
    for index, entry in enumerate(tree.get("materials", [])):
        base = entry.get("pbrMetallicRoughness", {})
        color, texture = base.get("baseColorFactor"), base.get("baseColorTexture")
        old = entry.get("extensions", {}).get(SPECULAR, {})
        color, texture = color or old.get("diffuseFactor"), texture or old.get("diffuseTexture")
        image = None if texture is None else _glb_image(tree, chunks.get(BINARY, b""), texture["index"], path, notes)
        materials[str(index)] = Material(image, None if color is None or image else srgb(color))
        shift = {} if texture is None else texture.get("extensions", {}).get(TRANSFORM, {})
        if shift:
            shifts[str(index)] = np.array(shift.get("offset", (0, 0))), np.array(shift.get("scale", (1, 1)))
    named = _with_names(tree, len(materials))
    return Materials(_glb(named, chunks.get(BINARY)), materials, shifts=shifts, notes=tuple(dict.fromkeys(notes)))


def _glb_image(tree: Any, binary: bytes, index: int, path: Path, notes: list[str]) -> str | None:
    """The path of the image of a texture."""
    texture = tree["textures"][index]
    source = texture.get("source", texture.get("extensions", {}).get("EXT_texture_webp", {}).get("source"))
    if source is None:
        notes.append("a texture of the file is of a kind that cannot be drawn, and is left out")
        return None
    image = tree["images"][source]
    if "bufferView" in image:
        view = tree["bufferViews"][image["bufferView"]]
        start = view.get("byteOffset", 0)
        content = binary[start : start + view["byteLength"]]
    else:
        uri = image["uri"]
        if not uri.startswith("data:"):
            return _beside(path.parent / urllib.parse.unquote(uri), notes)
        content = base64.b64decode(uri.partition(",")[2])
    return _kept(content, notes)


def _kept(content: bytes, notes: list[str]) -> str | None:
    """An image of a file in the cache folder."""
    ending = ending_of(content)
    if ending is None:
        notes.append("a texture of the file is not an image that can be read, and is left out")
        return None
    return cached(content, ending)


def _beside(image: Path, notes: list[str]) -> str | None:
    """An image next to the mesh file, if it is there."""
    if not image.is_file():
        notes.append(f"its texture {image} is not there, and is left out; put it beside the mesh file")
        return None
    return str(image)


def _with_names(tree: Any, count: int) -> Any:
    """The same scene with materials that have nothing but their number as name; one more for faces without one."""
    named = {key: value for key, value in tree.items() if key not in ("images", "textures", "samplers")}
    named["materials"] = [{"name": str(index)} for index in range(count)] + [{"name": NAMELESS}]
    named["meshes"] = [
        {**mesh, "primitives": [{"material": count, **part} for part in mesh.get("primitives", [])]}
        for mesh in tree.get("meshes", [])
    ]
    return named


def _glb(tree: Any, binary: bytes | None) -> bytes:
    """A GLB of these parts; chunks are padded to four bytes, text with spaces."""
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), JSON) + text
    if binary is not None:
        binary += b"\0" * (-len(binary) % 4)
        body += struct.pack("<II", len(binary), BINARY) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def obj_materials(data: bytes, path: Path) -> Materials:
    """Of the libraries (.mtl) that an OBJ file names; they and their images are looked for beside it."""
    text = data.decode("utf-8", "replace")
    notes: list[str] = []
    materials: dict[str | None, Material] = {}
    for name in dict.fromkeys(re.findall(r"^mtllib[ \t]+(.+?)[ \t\r]*$", text, re.MULTILINE)):
        library = path.parent / name.replace("\\", "/")
        if library.is_file():
            materials |= _mtl(library, notes)
        elif "usemtl" in text:
            notes.append(f"its materials {library} are not there, and are left out; put them beside the mesh file")
    used = list(dict.fromkeys(re.findall(r"^usemtl[ \t]+(.+?)[ \t\r]*$", text, re.MULTILINE)))
    return Materials(data, materials, names=Names(used), notes=tuple(dict.fromkeys(notes)))


def _mtl(library: Path, notes: list[str]) -> dict[str | None, Material]:
    """The materials of a library: `Kd` is the colour, `map_Kd` the image, which may have options before its name."""
    colors: dict[str, Color] = {}
    images: dict[str, str | None] = {}
    name = ""
    for line in library.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        if key.lower() == "newmtl":
            name = " ".join(rest.split())
            images.setdefault(name, None)
        elif key.lower() == "kd" and len(rest.split()) >= 3:
            red, green, blue = (min(max(float(part), 0.0), 1.0) for part in rest.split()[:3])
            colors[name] = (red, green, blue)
        elif key.lower() == "map_kd" and rest:
            whole = library.parent / rest.replace("\\", "/")
            last = library.parent / rest.replace("\\", "/").split()[-1]
            images[name] = _beside(whole if whole.is_file() or not rest.startswith("-") else last, notes)
    return {name: Material(image, None if image else colors.get(name)) for name, image in images.items()}


def ply_materials(data: bytes, path: Path) -> Materials:
    """Of a PLY file: a comment may name an image, as MeshLab writes it."""
    head = data[: max(0, data.find(b"end_header"))].decode("utf-8", "replace")
    found = re.search(r"^comment[ \t]+TextureFile[ \t]+(.+?)[ \t\r]*$", head, re.MULTILINE | re.IGNORECASE)
    notes: list[str] = []
    image = None if found is None else _beside(path.parent / found[1], notes)
    return Materials(data, other=Material(image), notes=tuple(notes))
