"""Scene files that tests share: a tiny one, the sample of the contract, and ways to spoil it."""

from __future__ import annotations

TINY = """
name = "tiny"
[simulation]
seconds = 0.1
[[ground]]
[[soft_body]]
name = "ball"
shape = { icosphere = { radius = 0.5, subdivisions = 1 } }
at = [0, 0, 0.6]
springs = { stiffness = 100.0, damping = 0.5 }
gas = { gauge = 20.0, ambient = 1000.0 }
"""

SAMPLE = """
name = "contract"
description = "one ball above a floor"
dim = 3
gravity = [0.0, 0.0, -9.81]

[simulation]
solver = "symplectic"
fps = 60
substeps = "auto"

[[ground]]
friction = 0.5
restitution = 0.1

[[soft_body]]
name = "ball"
shape = { icosphere = { radius = 0.5, subdivisions = 2 } }
at = [0.0, 0.0, 1.5]
mass = 1.0
springs = { stiffness = 150.0, damping = 0.5 }
gas = { gauge = 200.0, ambient = 101325.0, temperature = 293.15 }
"""

# Bad files: what is replaced in the sample, by what, and words that the message must have.
BODY = "soft_body 'ball' (number 1): "
CATALOGUE: dict[str, tuple[str, str, list[str]]] = {
    "not TOML": ("dim = 3", "dim = = 3", ["not valid TOML", "line 4"]),
    "key twice": ("dim = 3", "dim = 3\ndim = 3", ["not valid TOML", "line 5"]),
    "unclosed string": ('name = "contract"', 'name = "contract', ["not valid TOML", "line 2"]),
    "unknown top key": ("gravity", "gravty", ["unknown key 'gravty'", "did you mean 'gravity'?"]),
    "unknown table": ("[[soft_body]]", "[[softbody]]", ["'softbody'", "did you mean 'soft_body'?"]),
    "single brackets": ("[[ground]]", "[ground]", ["ground must be a list of tables", "[[ground]]"]),
    "double brackets": ("[simulation]", "[[simulation]]", ["simulation must be a table", "[simulation]"]),
    "rigid body": ("[[soft_body]]", "[[rigid_body]]", ["rigid_body 'ball' (number 1): unknown key 'springs'"]),
    "dim": ("dim = 3", "dim = 5", ["dim must be 2 or 3, got 5"]),
    "dim a string": ("dim = 3", 'dim = "3"', ["dim must be 2 or 3, got '3'"]),
    "gravity a number": ("[0.0, 0.0, -9.81]", "3", ["gravity must be 3 numbers, got 3"]),
    "gravity of 2 numbers": ("[0.0, 0.0, -9.81]", "[0, -9]", ["gravity must be 3 numbers, got 2"]),
    "gravity of strings": ("[0.0, 0.0, -9.81]", '["a", "b", "c"]', ["gravity[0] must be a number, got 'a'"]),
    "name": ('name = "contract"', "name = 3", ["name must be a string, got 3"]),
    "unknown solver": ('"symplectic"', '"simplectic"', ["simulation.solver", "did you mean 'symplectic'?"]),
    "unknown setting": ("fps", "fsp", ["simulation: unknown key 'fsp'", "did you mean 'fps'?"]),
    "fps": ("fps = 60", "fps = -60", ["simulation.fps must be > 0, got -60"]),
    "substeps": ('"auto"', "1.5", ["simulation.substeps must be a whole number >= 1, got 1.5"]),
    "wall friction": ("friction = 0.5", "friction = -0.5", ["ground number 1: friction must be >= 0, got -0.5"]),
    "wall restitution": ("restitution = 0.1", "restitution = 2", ["ground number 1: restitution", "<= 1, got 2"]),
    "unknown wall key": ("restitution", "restitusion", ["ground number 1:", "did you mean 'restitution'?"]),
    "unknown body key": ("mass = 1.0", "mas = 1.0", [BODY + "unknown key 'mas'", "did you mean 'mass'?"]),
    "misspelt in a table": (
        "stiffness",
        "stifness",
        [BODY + "springs: unknown key 'stifness'; did you mean 'stiffness'?"],
    ),
    "far from any key": ("mass = 1.0", "xyzzy = 1", [BODY + "unknown key 'xyzzy'; known: shape, name, at"]),
    "negative stiffness": ("150.0", "-3.0", [BODY + "springs.stiffness must be >= 0, got -3.0"]),
    "springs a number": ("{ stiffness = 150.0, damping = 0.5 }", "5", [BODY + "springs must be a table", "got 5"]),
    "mass a string": ("mass = 1.0", 'mass = "heavy"', [BODY + "mass must be > 0, got 'heavy'"]),
    "mass a bool": ("mass = 1.0", "mass = true", [BODY + "mass must be > 0, got True"]),
    "mass not a number": ("mass = 1.0", "mass = nan", [BODY + "mass must be finite, got nan"]),
    "mass infinite": ("mass = 1.0", "mass = inf", [BODY + "mass must be finite, got inf"]),
    "mass a date": ("mass = 1.0", "mass = 2020-01-01", [BODY + "mass", "not a number"]),
    "at of 2 numbers": ("[0.0, 0.0, 1.5]", "[0.0, 1.5]", [BODY + "at must be 3 numbers, got 2"]),
    "at a table": ("[0.0, 0.0, 1.5]", "{ z = 1.5 }", [BODY + "at must be 3 numbers"]),
    "body name": ('name = "ball"', "name = 7", ["soft_body number 1: name must be a string, got 7"]),
    "dotted name": ('name = "ball"', 'name = "b.all"', ["soft_body 'b.all' (number 1): name must be"]),
    "reserved name": ('name = "ball"', 'name = "wind"', ["the name 'wind' is reserved"]),
    "no shape": ("shape = {", "color = {", [BODY + "'shape' is missing", "icosphere"]),
    "shape a string": (
        "{ icosphere = { radius = 0.5, subdivisions = 2 } }",
        '"ball"',
        [BODY + "shape must be a table"],
    ),
    "unknown shape": ("icosphere", "icospere", [BODY + "shape: ", "did you mean 'icosphere'?"]),
    "unknown shape argument": ("radius", "radios", [BODY + "shape: ", "'radios'", "did you mean 'radius'?"]),
    "bad shape argument": ("radius = 0.5", "radius = -0.5", [BODY + "shape: ", "radius", "-0.5"]),
    "no such mesh": ("{ icosphere = { radius = 0.5, subdivisions = 2 } }", '{ file = "no.obj" }', [BODY, "no.obj"]),
    "2D shape": ("icosphere = { radius = 0.5, subdivisions = 2 }", "circle = {}", [BODY + "at must be 2 numbers"]),
    "open shape": ("icosphere = { radius = 0.5, subdivisions = 2 }", "sheet = {}", [BODY + "shape is open"]),
    "gas of two amounts": (
        "gauge = 200.0",
        "gauge = 200.0, nRT = 3",
        [BODY + "gas needs exactly one of", "nRT and gauge"],
    ),
    "gas of no amount": ("gauge = 200.0, ", "", [BODY + "gas needs exactly one of", "none of them"]),
    "gas below vacuum": ("gauge = 200.0", "gauge = -2e5", [BODY + "gas.gauge must be >= -ambient"]),
    "cold gas": ("293.15", "-1", [BODY + "gas.temperature must be > 0, got -1"]),
    "gas key": ("temperature", "temprature", [BODY + "gas: unknown key 'temprature'; did you mean 'temperature'?"]),
    "unused gamma": ("gauge = 200.0", "gauge = 200.0, gamma = 1.6", [BODY + "gas.gamma is only used with"]),
    "pins": ("mass = 1.0", 'pins = "tip"', [BODY + "pins: the shape has no group 'tip'; did you mean 'top'?"]),
    "unused samples": ("mass = 1.0", "samples = 9", [BODY + "samples is only used with volume"]),
}
