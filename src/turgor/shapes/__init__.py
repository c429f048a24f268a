"""Geometry: outlines (2D), surfaces (3D), sheets (cloth), letters, mesh files and the mesh doctor.

Parametric shapes are plain numpy; trimesh, shapely and fontTools are imported by the functions that need them.
"""

from turgor.shapes.animals import cat, hand
from turgor.shapes.doctor import check, repair
from turgor.shapes.files import as_shape, load, mesh
from turgor.shapes.letters import letter, text
from turgor.shapes.limits import Limits
from turgor.shapes.outlines import circle, outline, polygon, star
from turgor.shapes.recipes import MAKERS, from_recipe
from turgor.shapes.report import Finding, Report
from turgor.shapes.shape import Shape
from turgor.shapes.sheets import sheet
from turgor.shapes.surfaces import box, capsule, cone, icosphere, torus, uv_sphere
from turgor.shapes.writing import write

__all__ = [
    "MAKERS",
    "Finding",
    "Limits",
    "Report",
    "Shape",
    "as_shape",
    "box",
    "capsule",
    "cat",
    "check",
    "circle",
    "cone",
    "from_recipe",
    "hand",
    "icosphere",
    "letter",
    "load",
    "mesh",
    "outline",
    "polygon",
    "repair",
    "sheet",
    "star",
    "text",
    "torus",
    "uv_sphere",
    "write",
]
