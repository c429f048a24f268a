"""Materials of real things: numbers with their sources; where a source has a range, a value well inside it.

`damping` is a time: the loss factor at the angular frequency w is damping x w. The values keep a toy from ringing for
seconds and are no measurements. `friction` is that on a smooth hard floor. docs/materials.md says how to choose.
"""

from __future__ import annotations

from typing import Any

from turgor.errors import SceneError, did_you_mean
from turgor.scene.material import Membrane
from turgor.scene.preset import Preset

__all__ = ["PRESETS", "Preset", "checked_material", "preset_of"]

# L. R. G. Treloar, The Physics of Rubber Elasticity: gum vulcanizates of natural rubber have shear moduli of 0.3 to
# 0.6 MPa (E is three times that) and 930 kg/m³.
RUBBER = Preset(
    name="rubber",
    about="soft natural rubber, a sheet of 1 mm",
    membrane=Membrane(law="neo-hookean", young=1.5e6, thickness=1e-3, density=930.0, damping=5e-4, wrinkling=False),
    gauge=10e3, strain=0.02, friction=0.8,
)  # fmt: skip

# I. Müller and P. Strehlow, Rubber and Rubber Balloons: c1 = 1.5 bar, c2 = c1 / 10. D. R. Merritt and F. Weinhaus, The
# pressure curve for a rubber balloon (Am. J. Phys. 46, 1978): a few kPa. The wall of a party balloon is 0.2 to 0.3 mm.
LATEX_BALLOON = Preset(
    name="latex_balloon",
    about="party balloon of latex, 0.25 mm before it is blown up",
    membrane=Membrane(law="mooney-rivlin", c1=1.5e5, c2=1.5e4, thickness=0.25e-3, density=940.0, damping=5e-4),
    gauge=2.5e3, strain=0.03, friction=0.8,
)  # fmt: skip

# Plasticized PVC: ISO calls plastics below 70 MPa flexible; soft film has a few to some tens of MPa at small strain (an
# estimate), 1.2 to 1.35 g/cm³ and 0.2 to 0.3 mm. Beach balls are blown up by mouth: 1 to 3 kPa. No tension field: the
# shell does carry compression. A leg, a tube of any radius, buckles at 2 π E h²/√(3 (1 - ν²)) (Timoshenko and Gere,
# Theory of Elastic Stability), here 3 N, more than such a toy weighs.
BEACH_BALL = Preset(
    name="beach_ball",
    about="film of soft PVC, 0.3 mm: beach balls, swim rings, inflatable animals",
    membrane=Membrane(young=8e6, poisson=0.45, thickness=0.3e-3, density=1300.0, damping=3e-3, wrinkling=False),
    gauge=2e3, strain=0.001, friction=0.4,
)  # fmt: skip

# DuPont Teijin Films, Mylar Physical-Thermal Properties, bulletin H-37232: 92 gauge (23 um), modulus 490 to 510 kg/mm²,
# 1.390 g/cm³, Poisson's ratio 0.38. Foil balloons are filled to about 2 kPa.
MYLAR = Preset(
    name="mylar",
    about="polyester film of foil balloons, 23 um",
    membrane=Membrane(young=4.9e9, poisson=0.38, thickness=23e-6, density=1390.0, damping=5e-5),
    gauge=2e3, strain=0.001, friction=0.3,
)  # fmt: skip

# T. W. Knacke, Parachute Recovery Systems Design Manual, cloth MIL-C-7020 type I: 1.1 oz/yd² (37 g/m²), 0.003 in
# (76 um), 42 lb/in at 25 to 35 % elongation, a secant of 25 kN/m = 0.3 GPa x 76 um. Yarns slide: it bends far more
# easily than a plate of the same E (Kawabata tests of light cloth: 0.01 gf cm²/cm). Bouncy castles: 1 to 2 kPa.
NYLON = Preset(
    name="nylon",
    about="ripstop cloth of nylon, 37 g/m²: parachutes, kites, light inflatables",
    membrane=Membrane(
        young=0.3e9, poisson=0.2, thickness=76e-6, density=490.0, damping=2e-4, rigidity=1e-6,
    ),
    gauge=2e3, strain=0.002, friction=0.3,
)  # fmt: skip

# FIBA, Official Basketball Rules (equipment), size 7: circumference 750 to 770 mm, 580 to 620 g, so 3.3 kg/m²; 8.5 psi.
# Rubber wound with nylon thread; the modulus is the one at which that pressure stretches it by 1.1 %, an estimate.
BASKETBALL = Preset(
    name="basketball",
    about="rubber wound with nylon thread, 3 mm; blown up to 8.5 psi",
    membrane=Membrane(young=60e6, poisson=0.45, thickness=3e-3, density=1090.0, damping=1e-3, wrinkling=False),
    gauge=58.6e3, strain=0.012, friction=0.6,
)  # fmt: skip

# IFAB, Laws of the Game, law 2: circumference 680 to 700 mm, 410 to 450 g, so 2.8 kg/m²; 0.6 to 1.1 atm. D. S. Price,
# R. Jones and A. R. Harland (J. Materials Science 43, 2008) measured the layers: latex, woven cloth, polymer; the
# modulus of all of them together is an estimate, 1 % of stretch.
SOCCER_BALL = Preset(
    name="soccer_ball",
    about="panels of cloth and polymer over a latex bladder, 3 mm; blown up to 0.8 bar",
    membrane=Membrane(young=100e6, poisson=0.3, thickness=3e-3, density=950.0, damping=1e-3, wrinkling=False),
    gauge=80e3, strain=0.0125, friction=0.5,
)  # fmt: skip

# T. J. Hall et al., Phantom materials for elastography (IEEE Trans. UFFC 44, 1997): gels of gelatine, 10 to 130 kPa;
# this is a firm one. A body is a skin of it around air: a small one is firm, a large one sags, as real ones do.
JELLY = Preset(
    name="jelly",
    about="firm gelatine, a skin of 5 mm",
    membrane=Membrane(law="neo-hookean", young=0.1e6, thickness=5e-3, density=1050.0, damping=3e-3, wrinkling=False),
    gauge=1e3, strain=0.05, friction=0.5,
)  # fmt: skip

# Smooth-On, Dragon Skin series bulletin, Dragon Skin 10: 22 psi (152 kPa) at 100 % elongation, 1.07 g/cm³. Neo-Hookean,
# 2 c1 (l - 1/l²) at l = 2, gives c1 = 43 kPa, so E = 6 c1 = 0.26 MPa. Soft robots have walls of 1 to 3 mm.
SILICONE = Preset(
    name="silicone",
    about="soft silicone rubber of soft robots (Dragon Skin 10), 2 mm",
    membrane=Membrane(law="neo-hookean", young=0.26e6, thickness=2e-3, density=1070.0, damping=1e-3, wrinkling=False),
    gauge=20e3, strain=0.03, friction=0.8,
)  # fmt: skip

# M. F. Ashby, Materials and the Environment: paper has 3 to 8.9 GPa and 480 to 860 kg/m³. Copy paper: 80 g/m², 0.1 mm.
PAPER = Preset(
    name="paper",
    about="copy paper, 80 g/m²",
    membrane=Membrane(young=4e9, poisson=0.3, thickness=0.1e-3, density=800.0, damping=5e-5, wrinkling=False),
    friction=0.4,
)  # fmt: skip

# Kawabata tests of woven cotton: 5 % of stretch at 500 gf/cm (490 N/m), so E h = 10 kN/m; bending 0.05 gf cm²/cm
# (5e-6 N m). Shirting: 120 g/m², 0.3 mm.
COTTON = Preset(
    name="cotton",
    about="woven cotton, 120 g/m²: shirts, sheets, flags",
    membrane=Membrane(young=33e6, poisson=0.2, thickness=0.3e-3, density=400.0, damping=5e-4, rigidity=5e-6),
    friction=0.5,
)  # fmt: skip

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        RUBBER, LATEX_BALLOON, BEACH_BALL, MYLAR, NYLON, BASKETBALL, SOCCER_BALL, JELLY, SILICONE, PAPER, COTTON,
    )
}  # fmt: skip


def checked_material(material: Any) -> Membrane | str | None:
    """A material as a body stores it: a preset by its name."""
    if isinstance(material, Preset):
        if PRESETS.get(material.name) != material:
            raise SceneError(
                f"material: {material.name!r} is no preset of turgor.materials, and a scene file could not name it: "
                "give its membrane, and its other numbers as arguments"
            )
        return material.name
    if isinstance(material, str):
        if material not in PRESETS:
            raise SceneError(f"material: there is no preset {material!r}; {did_you_mean(material, PRESETS)}")
        return material
    if material is not None and not isinstance(material, Membrane):
        raise SceneError(f"material must be a turgor Membrane or the name of a preset, got {material!r:.80}")
    return material


def preset_of(material: Membrane | str | None) -> Preset | None:
    """The preset of a checked material; None for one of one's own, and for springs."""
    return PRESETS[material] if isinstance(material, str) else None
