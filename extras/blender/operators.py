"""File > Import > turgor recording, and File > Export > turgor scene."""

from pathlib import Path

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from .animated import import_recording
from .recording import RecordingError
from .scene_file import ExportError, export_scene


class ImportRecording(bpy.types.Operator, ImportHelper):
    """Import a recording of turgor (.npz) as animated meshes"""

    bl_idname = "import_anim.turgor"
    bl_label = "Import turgor recording"
    bl_options = {"REGISTER", "UNDO"}

    filename_ext = ".npz"
    filter_glob: StringProperty(default="*.npz;*.vtkhdf", options={"HIDDEN"})
    set_timeline: BoolProperty(
        name="Set the timeline", description="Take the frame rate and the frame range of the recording", default=True
    )

    def execute(self, context):
        if Path(self.filepath).suffix.lower() == ".vtkhdf":
            name = Path(self.filepath).stem
            self.report(
                {"ERROR"},
                f"Blender cannot read .vtkhdf; convert it: turgor export {name}.vtkhdf {name}.npz (or {name}.usdc)",
            )
            return {"CANCELLED"}
        try:
            objects = import_recording(context, self.filepath, self.set_timeline)
        except (RecordingError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{len(objects)} bodies")
        return {"FINISHED"}


class ExportScene(bpy.types.Operator, ExportHelper):
    """Export the selected meshes as a scene of turgor (.toml, with .obj files beside it)"""

    bl_idname = "export_scene.turgor"
    bl_label = "Export turgor scene"

    filename_ext = ".toml"
    filter_glob: StringProperty(default="*.toml", options={"HIDDEN"})
    ground: BoolProperty(
        name="Ground", description="Add a floor at z = 0, or below the lowest point if that is lower", default=True
    )

    def execute(self, context):
        try:
            files = export_scene(context, self.filepath, self.ground)
        except (ExportError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{len(files) - 1} bodies; run it with: turgor run {files[0].name}")
        return {"FINISHED"}


def _import_entry(menu, context):
    menu.layout.operator(ImportRecording.bl_idname, text="turgor recording (.npz)")


def _export_entry(menu, context):
    menu.layout.operator(ExportScene.bl_idname, text="turgor scene (.toml)")


def register():
    for operator in (ImportRecording, ExportScene):
        bpy.utils.register_class(operator)
    bpy.types.TOPBAR_MT_file_import.append(_import_entry)
    bpy.types.TOPBAR_MT_file_export.append(_export_entry)


def unregister():
    bpy.types.TOPBAR_MT_file_export.remove(_export_entry)
    bpy.types.TOPBAR_MT_file_import.remove(_import_entry)
    for operator in (ExportScene, ImportRecording):
        bpy.utils.unregister_class(operator)
