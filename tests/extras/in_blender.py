"""Runs inside Blender's Python: `python in_blender.py EXTENSION RECORDING OUT FRAME...`; see test_blender.py.

Registers the extension, imports the recording through its operator, and keeps what Blender evaluates at the frames;
then exports a mesh with a modifier, an open one and a rigid one as a scene.
"""

import importlib.util
import json
import sys
from pathlib import Path

import bpy
import numpy as np


def extension(folder):
    """The extension as a package, as Blender loads it."""
    places = [str(folder)]
    spec = importlib.util.spec_from_file_location(
        "turgor_blender", folder / "__init__.py", submodule_search_locations=places
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["turgor_blender"] = module
    spec.loader.exec_module(module)
    return module


def evaluated(thing):
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    points = np.zeros(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh_clear()
    matrix = np.array(thing.matrix_world)
    return points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def main():
    folder, recording, out = map(Path, sys.argv[1:4])
    frames = [int(frame) for frame in sys.argv[4:]]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    module = extension(folder)
    module.register()
    said = {}
    for name in ("run.vtkhdf", "nothing.npz"):
        try:
            bpy.ops.import_anim.turgor(filepath=str(recording.with_name(name)))
        except RuntimeError as error:
            said[name] = str(error)
    assert bpy.ops.import_anim.turgor(filepath=str(recording)) == {"FINISHED"}
    scene = bpy.context.scene
    bodies = [thing for thing in bpy.data.objects if thing.type == "MESH"]
    points = {}
    for frame in frames:
        scene.frame_set(scene.frame_start + frame)
        for body in bodies:
            points[f"{body.name}/{frame}"] = evaluated(body)
    np.savez(out / "points.npz", **points)
    faces = {body.name: [list(polygon.vertices) for polygon in body.data.polygons] for body in bodies}
    timeline = [scene.frame_start, scene.frame_end, scene.render.fps / scene.render.fps_base]
    (out / "told.json").write_text(json.dumps({"timeline": timeline, "faces": faces, "said": said}), encoding="utf-8")
    for body in bodies:
        bpy.data.objects.remove(body)
    export(out)
    module.unregister()


def export(out):
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0.0, 0.0, 1.0))
    cube = bpy.context.object
    cube.name = "Toy cube"
    cube.scale = (-1.0, 1.0, 2.0)  # mirrored
    cube.modifiers.new("round", "SUBSURF").levels = 2
    cube.data.materials.append(bpy.data.materials.new("Rubber.001"))
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=0.8, location=(1.5, 0.0, 0.8))
    bpy.context.object.name = "sheet"
    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(3.0, 0.0, 0.3))
    bpy.ops.rigidbody.object_add()
    bpy.context.object.name = "block"
    bpy.ops.object.select_all(action="SELECT")
    bpy.context.view_layer.update()
    assert bpy.ops.export_scene.turgor(filepath=str(out / "made.toml")) == {"FINISHED"}


main()
