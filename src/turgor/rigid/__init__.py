"""Rigid bodies: mass properties, convex hulls and free motion."""

from turgor.rigid.hull import convex_hull
from turgor.rigid.mass import MassProperties, box_inertia, capsule_inertia, mass_properties, sphere_inertia

__all__ = ["MassProperties", "box_inertia", "capsule_inertia", "convex_hull", "mass_properties", "sphere_inertia"]
