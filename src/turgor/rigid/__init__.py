"""Rigid bodies: free motion, impulses and contacts. Mass properties and convex hulls are geometry (turgor.shapes)."""

from turgor.shapes.hull import convex_hull
from turgor.shapes.mass import MassProperties, box_inertia, capsule_inertia, mass_properties, sphere_inertia

__all__ = ["MassProperties", "box_inertia", "capsule_inertia", "convex_hull", "mass_properties", "sphere_inertia"]
