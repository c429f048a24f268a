"""Blender extension: recordings of turgor become animated meshes, selected meshes become a scene for turgor.

operators.py   File > Import and File > Export
recording.py   reads a recording (.npz); plain NumPy, no Blender
animated.py    a recording as meshes that follow point caches (.pc2)
scene_file.py  meshes as a scene file (.toml) with its mesh files (.obj)
"""

from . import operators


def register():
    operators.register()


def unregister():
    operators.unregister()
