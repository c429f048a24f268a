"""Materials of skins: numbers that mean the same on any mesh, unlike those of springs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args

from turgor.errors import SceneError
from turgor.scene.described import described
from turgor.scene.validate import choice, flag, number, put

__all__ = ["LAWS", "RUBBER", "STVK", "Membrane", "MembraneLaw"]

MembraneLaw = Literal["stvk", "neo-hookean", "mooney-rivlin"]
LAWS: tuple[str, ...] = get_args(MembraneLaw)
STVK, RUBBER = 1, 2  # kinds of laws, as kernels know them; 0: springs


@described
@dataclass(frozen=True)
class Membrane:
    """A thin elastic skin of constant-strain triangles (2D: a strip of unit depth, in plane strain)."""

    young: Annotated[float, "Pa", "Young's modulus"] = 1e6
    poisson: Annotated[float, "", "Poisson's ratio, 0 <= nu < 0.5; rubber is incompressible and does not use it"] = 0.45
    thickness: Annotated[float, "m", "at rest"] = 1e-3
    density: Annotated[float, "kg/m³", "mass is density x thickness x area, unless the body says"] = 1000.0
    law: Annotated[str, "", '"stvk" (linear in Green\'s strain), "neo-hookean" or "mooney-rivlin" (rubber)'] = "stvk"
    c1: Annotated[float | None, "Pa", "mooney-rivlin: first constant; neo-hookean has young / 6"] = None
    c2: Annotated[float | None, "Pa", "mooney-rivlin: second constant"] = None
    wrinkling: Annotated[bool, "", "tension field: what would be compressed wrinkles, and carries nothing"] = True
    damping: Annotated[float, "s", "viscous stress is this time x elastic moduli x rate of strain"] = 0.0
    rigidity: Annotated[float | None, "N m", "against bending; None: young thickness³ / (12 (1 - nu²))"] = None

    def __post_init__(self) -> None:
        put(
            self,
            young=number("material.young", self.young, above=0.0),
            poisson=number("material.poisson", self.poisson, low=0.0, below=0.5),
            thickness=number("material.thickness", self.thickness, above=0.0),
            density=number("material.density", self.density, above=0.0),
            law=choice("material.law", self.law, LAWS),
            wrinkling=flag("material.wrinkling", self.wrinkling),
            damping=number("material.damping", self.damping, low=0.0),
            rigidity=None if self.rigidity is None else number("material.rigidity", self.rigidity, low=0.0),
        )
        given = [name for name in ("c1", "c2") if getattr(self, name) is not None]
        if self.law == "mooney-rivlin":
            if len(given) < 2:
                raise SceneError("material: law = 'mooney-rivlin' needs both c1 and c2 (Pa); 6 (c1 + c2) is its young")
            put(
                self,
                c1=number("material.c1", self.c1, above=0.0),
                c2=number("material.c2", self.c2, low=0.0),
            )
            put(self, young=6.0 * (self.c1 + self.c2))  # type: ignore[operator]
        elif given:
            raise SceneError(
                f"material.{given[0]} is only used with law = 'mooney-rivlin': set the law, or leave it out"
            )

    def replaced(self, **changes: Any) -> Membrane:
        """A copy with fields changed. A new young scales c1 and c2; a law that has none of them drops them."""
        constants: dict[str, float | None] = {}
        if changes.get("law", "mooney-rivlin") != "mooney-rivlin":
            constants = {"c1": None, "c2": None}
        elif self.c1 is not None and self.c2 is not None and "young" in changes:
            factor = number("material.young", changes["young"], above=0.0) / self.young
            constants = {"c1": factor * self.c1, "c2": factor * self.c2}
        return replace(self, **constants | changes)

    @property
    def constants(self) -> tuple[float, float]:
        """Pa: c1 and c2 of the rubber laws."""
        return (self.young / 6.0, 0.0) if self.c1 is None or self.c2 is None else (self.c1, self.c2)

    @property
    def ratio(self) -> float:
        """Poisson's ratio: that of rubber is 1/2."""
        return self.poisson if self.law == "stvk" else 0.5

    @property
    def flexural_rigidity(self) -> float:
        """N m."""
        if self.rigidity is not None:
            return self.rigidity
        return self.young * self.thickness**3 / (12.0 * (1.0 - self.ratio**2))
