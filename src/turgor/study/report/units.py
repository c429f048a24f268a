"""The unit of a quantity by its name, where the name leaves no doubt; the study's own description comes first."""

from __future__ import annotations

import re

__all__ = ["unit_of"]

UNITS = {
    "air_density": "kg/m³", "at": "m", "angular_momentum": "kg m²/s", "bending": "N m/rad", "center": "m",
    "damping": "N s/m", "dissipated": "J", "drag": "1/s", "elastic": "J", "gravity": "m/s²", "highest": "m",
    "inflate": "s", "kinetic": "J", "lowest": "m", "mass": "kg", "moles": "mol", "momentum": "kg m/s", "nRT": "J",
    "penetration": "m", "positions": "m", "radius": "m", "rest_volume": "m³", "seconds": "s", "speed": "m/s",
    "spin": "rad/s", "stiffness": "N/m", "temperature": "K",
    "tension": "N/m", "thickness": "m", "time": "s", "total": "J", "velocities": "m/s", "velocity": "m/s",
    "volume": "m³", "wind": "m/s", "work": "J",
}  # fmt: skip
PRESSURES = {"absolute", "ambient", "gauge", "gauge_pressure", "pressure", "stress", "young"}  # Pa
OWN = {"energy.gas": "J", "energy.gravity": "J"}  # where the last word means something else elsewhere
KEEPS = "max|min|mean|rms|final|last"  # functions over time whose values have the unit of their argument
PATH = re.compile(rf"(?:(?:{KEEPS})\()?\s*('[^']+'[\w.]+|\"[^\"]+\"[\w.]+|[A-Za-z_][\w.-]*)\s*\)?")


def unit_of(expression: str, flat: bool = False) -> str:
    """`max(ball.center.z)` -> "m", `first(...)` -> "s"; "" where it is not plain. flat: 2D, where volume is area."""
    if re.fullmatch(r"(first|last)\([^()<>]*[<>][^()]*\)", expression):
        return "s"
    found = PATH.fullmatch(expression.strip())
    if found is None:
        return ""
    path = re.sub(r"\.([xyz]|\d)$", "", found[1])
    if path in OWN:
        return OWN[path]
    name = path.rpartition(".")[2]
    if name in PRESSURES:
        return "N/m" if flat else "Pa"
    unit = UNITS.get(name, "")
    return unit.replace("m³", "m²") if flat else unit
