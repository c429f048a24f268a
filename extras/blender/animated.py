"""A recording as meshes. Each follows a point cache through a Mesh Cache modifier, so any frame is shown at once."""

import re
from pathlib import Path

import bpy

from .recording import read, write_pc2

FIRST = 1  # Blender's frame that shows the first recorded one


def import_recording(context, path, set_timeline=True):
    """Adds the bodies of the recording to a new collection; point caches go into a folder beside the file.

    Frame k of the recording is Blender's frame k + FIRST. Returns the objects.
    """
    recording = read(path)
    path = Path(path)
    folder = path.with_name(f"{path.stem}_pc2")
    folder.mkdir(exist_ok=True)
    collection = bpy.data.collections.new(path.stem)
    context.scene.collection.children.link(collection)
    objects = []
    for number, body in enumerate(recording.bodies):
        cache = folder / f"{number:03d}_{re.sub(r'[^A-Za-z0-9_-]', '_', body.name)}.pc2"
        write_pc2(cache, body.frames)
        thing = _object(body)
        collection.objects.link(thing)
        _follow(thing, cache)
        objects.append(thing)
    if set_timeline and objects:
        frames = len(recording.bodies[0].frames)
        _set_timeline(context.scene, recording.fps, frames)
    return objects


def _object(body):
    mesh = bpy.data.meshes.new(body.name)
    mesh.from_pydata(body.frames[0].tolist(), [], body.faces)
    mesh.update()
    mesh.shade_smooth()
    thing = bpy.data.objects.new(body.name, mesh)
    if body.color is not None:
        material = bpy.data.materials.new(body.name)
        rgba = (*(_linear(value) for value in body.color), 1.0)
        material.diffuse_color = rgba
        if hasattr(material, "use_nodes") and bpy.app.version < (5, 0, 0):
            material.use_nodes = True  # from 5.0 on every material has nodes
        for node in material.node_tree.nodes:
            if node.type == "BSDF_PRINCIPLED":
                node.inputs["Base Color"].default_value = rgba
                node.inputs["Roughness"].default_value = 0.5
        mesh.materials.append(material)
    return thing


def _follow(thing, cache):
    modifier = thing.modifiers.new("turgor", "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = str(cache)
    modifier.interpolation = "LINEAR"  # between frames, for slow motion and motion blur
    modifier.time_mode = "FRAME"
    modifier.play_mode = "SCENE"
    modifier.deform_mode = "OVERWRITE"
    modifier.frame_start = FIRST


def _set_timeline(scene, fps, frames):
    scene.frame_start, scene.frame_end = FIRST, FIRST + frames - 1
    scene.render.fps = max(1, round(fps))
    scene.render.fps_base = scene.render.fps / fps
    scene.frame_set(FIRST)


def _linear(value):
    """sRGB, as colours are written, to Blender's linear values."""
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
