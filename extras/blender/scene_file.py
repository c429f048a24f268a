"""Meshes as a scene of turgor: `scene.toml`, and an .obj for each body beside it. Modifiers are applied.

What a mesh becomes: with Blender's rigid body physics a rigid body; closed, a soft body; open, a cloth. The name of its
material chooses the skin (`GUESSES`). Lengths are metres, with the unit scale of the Blender scene.
"""

import json
import os
import re
from collections import Counter
from pathlib import Path

import bpy
from mathutils import Matrix

#: words in the name of a Blender material or object -> material of turgor, of soft bodies and of cloths
GUESSES = {
    "soft": [
        (("latex", "balloon"), "latex_balloon"),
        (("foil", "mylar"), "mylar"),
        (("nylon", "parachute", "kite"), "nylon"),
        (("basketball",), "basketball"),
        (("soccer", "football"), "soccer_ball"),
        (("silicone",), "silicone"),
        (("jelly", "gel"), "jelly"),
        (("rubber", "tyre", "tire"), "rubber"),
        ((), "beach_ball"),
    ],
    "cloth": [(("paper",), "paper"), (("nylon", "sail", "parachute", "kite"), "nylon"), ((), "cotton")],
}


class ExportError(Exception):
    """Nothing was written; the message is for the user."""


def export_scene(context, path, ground=True):
    """Writes the selected meshes as a scene; returns the paths of all files, the scene's first."""
    path = Path(path).with_suffix(".toml")
    meshes = [thing for thing in context.selected_objects if thing.type == "MESH"]
    if not meshes:
        raise ExportError("no mesh is selected; select the objects to simulate")
    scale = context.scene.unit_settings.scale_length
    evaluated = context.evaluated_depsgraph_get()
    bodies, files, lowest = [], [], 0.0
    names = Counter()
    for thing in meshes:
        name = _name(thing.name, names)
        vertices, triangles = _world_mesh(thing, evaluated, scale)
        if not triangles:
            raise ExportError(f"{thing.name}: has no faces; leave it out")
        file = path.with_name(f"{path.stem}-{name}.obj")
        lowest = min(lowest, min(z for _, _, z in vertices))
        at = thing.matrix_world.translation * scale
        files.append((file, _obj(thing.name, vertices, triangles, at)))
        bodies.append(_body(thing, name, file.name, at, _closed(triangles)))
    text = _head(context.scene, path.stem)
    if ground:
        text += f"\n[[ground]]\nheight = {_number(lowest)}\n"
    files.append((path, text + "".join(bodies)))  # last: a scene file appears when its meshes are there
    for file, content in files:
        part = file.with_name(f".{file.name}.part")
        part.write_text(content, encoding="utf-8")
        os.replace(part, file)
    return [path, *(file for file, _ in files[:-1])]


def _world_mesh(thing, evaluated, scale):
    """Vertices (m) and triangles as seen in the viewport at the current frame, in the world's axes."""
    seen = thing.evaluated_get(evaluated)
    mesh = seen.to_mesh()
    try:
        matrix = Matrix.Scale(scale, 4) @ thing.matrix_world
        vertices = [tuple(matrix @ vertex.co) for vertex in mesh.vertices]
        mesh.calc_loop_triangles()
        triangles = [tuple(triangle.vertices) for triangle in mesh.loop_triangles]
    finally:
        seen.to_mesh_clear()
    if thing.matrix_world.determinant() < 0.0:  # mirrored: what was outside would be inside
        triangles = [(a, c, b) for a, b, c in triangles]
    return vertices, triangles


def _closed(triangles):
    """Whether every edge has two faces, one in each direction."""
    edges = Counter(pair for a, b, c in triangles for pair in ((a, b), (b, c), (c, a)))
    return all(count == 1 and edges[b, a] == 1 for (a, b), count in edges.items())


def _obj(name, vertices, triangles, at):
    lines = [f"# {name}: exported from Blender {bpy.app.version_string} for turgor"]
    lines += [f"v {x - at[0]:.9g} {y - at[1]:.9g} {z - at[2]:.9g}" for x, y, z in vertices]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in triangles]
    return "\n".join(lines) + "\n"


def _body(thing, name, file, at, closed):
    """The table of one body."""
    kind = "rigid_body" if thing.rigid_body is not None else "soft_body" if closed else "cloth"
    shape = f"file = {_text(file)}" + (", cloth = true" if kind == "cloth" else "")
    lines = ["", f"[[{kind}]]", f"name = {_text(name)}", f"shape = {{ {shape} }}"]
    lines.append(f"at = [{', '.join(_number(value) for value in at)}]")
    if kind == "rigid_body":
        physics = thing.rigid_body
        still = physics.type == "PASSIVE"
        lines.append('kind = "static"' if still else f"mass = {_number(physics.mass)}")
        lines += [f"friction = {_number(physics.friction)}", f"restitution = {_number(physics.restitution)}"]
    else:
        lines.append(f"material = {_text(_guess(thing, 'cloth' if kind == 'cloth' else 'soft'))}")
    if thing.active_material is not None:
        lines.append(f"color = {_text(_hex(thing.active_material))}")
    return "\n".join(lines) + "\n"


def _guess(thing, kind):
    """The material whose words are in the name of the object's material, or of the object."""
    spoken = f"{thing.active_material.name if thing.active_material else ''} {thing.name}".lower()
    return next(material for words, material in GUESSES[kind] if not words or any(word in spoken for word in words))


def _head(scene, name):
    gravity = tuple(scene.gravity) if scene.use_gravity else (0.0, 0.0, 0.0)
    fps = scene.render.fps / scene.render.fps_base
    seconds = max(scene.frame_end - scene.frame_start, 1) / fps
    return (
        f"# Exported from Blender; run it with: turgor run {name}.toml\n"
        f"name = {_text(name)}\n"
        f"gravity = [{', '.join(_number(value) for value in gravity)}]\n"
        f"\n[simulation]\nfps = {_number(fps)}\nseconds = {_number(seconds)}\n"
    )


def _name(name, names):
    """A name that turgor takes, and no other body has."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "body"
    names[plain] += 1
    return plain if names[plain] == 1 else _name(f"{plain}-{names[plain]}", names)


def _number(value):
    return repr(float(f"{value:.9g}"))


def _text(value):
    return json.dumps(value)  # JSON's strings are TOML's basic strings


def _hex(material):
    """The colour of a material, as sRGB."""
    color = tuple(material.diffuse_color)[:3]
    for node in material.node_tree.nodes if material.node_tree else ():
        if node.type == "BSDF_PRINCIPLED":
            color = tuple(node.inputs["Base Color"].default_value)[:3]
    srgb = [12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in color]
    return "#" + "".join(f"{round(255 * min(max(c, 0.0), 1.0)):02x}" for c in srgb)
