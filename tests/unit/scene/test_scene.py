"""Scenes built in Python: what is stored, what is refused, and changing values by path."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from turgor import shapes
from turgor.errors import MeshError, SceneError
from turgor.scene import (
    Cloth,
    Container,
    Gas,
    Ground,
    Plane,
    Scene,
    Settings,
    SoftBody,
    Springs,
    VelocityDamping,
    rotation_matrix,
)

BALL = shapes.icosphere(radius=0.5, subdivisions=1)
DISC = shapes.circle(radius=0.5, points=12)
SHEET = shapes.sheet(size=(1.0, 1.0), resolution=(4, 3))


def small_scene() -> Scene:
    scene = Scene(name="small")
    scene.add_ground(friction=0.7)
    scene.add_soft_body(BALL, name="ball", at=(0, 0, 2), gas=Gas.at(gauge=200.0))
    scene.add_cloth(SHEET, name="flag", pins="left-corners")
    return scene


# --- what is stored


@pytest.mark.req("D1")
def test_gravity_points_down_in_both_dimensions() -> None:
    assert Scene().gravity == (0.0, 0.0, -9.81)
    assert Scene(dim=2).gravity == (0.0, -9.81)
    assert Scene(gravity=0).gravity == (0.0, 0.0, 0.0)
    assert Scene(dim=2, wind=[1, 2]).wind == (1.0, 2.0)


def test_numbers_are_normalised_to_floats() -> None:
    ball = SoftBody(BALL, at=np.array([0, 1, 2]), velocity=[1, np.float32(0.5), 0], mass=np.int64(2))
    assert (ball.at, ball.velocity, ball.mass) == ((0.0, 1.0, 2.0), (1.0, 0.5, 0.0), 2.0)
    assert all(type(entry) is float for entry in (*ball.at, *ball.velocity, ball.mass))
    assert ball.rotation == ball.spin == (0.0, 0.0, 0.0)
    assert SoftBody(DISC, rotation=1).rotation == 1.0
    assert SoftBody(DISC).spin == 0.0
    assert SoftBody(BALL, color="#ff0080").color == (1.0, 0.0, 128 / 255)


def test_names_are_unique_and_automatic() -> None:
    scene = Scene()
    assert [scene.add_soft_body(BALL).name for _ in range(3)] == ["soft_body-1", "soft_body-2", "soft_body-3"]
    assert [scene.add_ground(height=h).name for h in (0, 1)] == ["ground", "ground-2"]
    assert scene.add_plane((0, 0, 0), (0, 0, 1)).name == "plane-1"
    assert scene.add_soft_body(BALL, name="soft_body-5").name == "soft_body-5"
    assert scene.add_soft_body(BALL).name == "soft_body-6"
    scene.add(Container(size=(1, 1, 1)))
    assert scene["container-1"] is scene.containers[0]
    with pytest.raises(SceneError, match="plane 'ground': the name 'ground' is already used"):
        scene.add_plane((0, 0, 0), (0, 0, 1), name="ground")
    with pytest.raises(SceneError, match="reserved"):
        scene.add_soft_body(BALL, name="gravity")


def test_bodies_come_before_cloths_in_the_order_added() -> None:
    scene = Scene()
    scene.add_cloth(SHEET, name="c1")
    scene.add_soft_body(BALL, name="b1")
    scene.add_container((1, 1, 1), name="k1")
    scene.add_ground()
    scene.add_soft_body(BALL, name="b2")
    assert [body.name for body in scene.bodies] == ["b1", "b2", "c1"]
    assert [wall.name for wall in scene.walls] == ["ground", "k1"]
    assert "b1" in repr(scene)


def test_normals_are_stored_with_length_one() -> None:
    for normal in ((0, 3, 4), (1e-300, 0, 1e-300), (1e300, 1e300, 1e300), (5e-324, 0, 0)):
        plane = Plane((0, 0, 0), normal)
        assert math.hypot(*plane.normal) == pytest.approx(1.0, rel=1e-15)
        assert Plane((0, 0, 0), plane.normal) == plane  # a unit normal is kept bit for bit


@pytest.mark.parametrize("angle", [0.0, 0.3, -2.0, math.pi])
def test_rotations(angle: float) -> None:
    c, s = math.cos(angle), math.sin(angle)
    np.testing.assert_allclose(rotation_matrix(angle), [[c, -s], [s, c]], atol=1e-15)
    about_z = rotation_matrix((0.0, 0.0, angle))
    np.testing.assert_allclose(about_z, [[c, -s, 0], [s, c, 0], [0, 0, 1]], atol=1e-15)
    tilted = rotation_matrix((angle, 2 * angle, -angle))
    np.testing.assert_allclose(tilted @ tilted.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(tilted) == pytest.approx(1.0)


def test_positions_are_turned_then_moved() -> None:
    box = shapes.box(size=(2, 1, 1))
    body = SoftBody(box, at=(10, 0, 0), rotation=(0, 0, math.pi / 2))
    np.testing.assert_allclose(body.positions.max(axis=0), [10.5, 1.0, 0.5], atol=1e-14)


def test_equality_is_by_data() -> None:
    assert small_scene() == small_scene()
    again = shapes.icosphere(radius=0.5, subdivisions=1)
    assert again is not BALL
    assert SoftBody(BALL, name="a") == SoftBody(again, name="a")
    assert hash(SoftBody(BALL, name="a")) == hash(SoftBody(again, name="a"))
    assert SoftBody(BALL, name="a") != SoftBody(BALL, name="b")
    assert SoftBody(BALL) != SoftBody(shapes.icosphere(radius=0.6, subdivisions=1))
    assert SoftBody(BALL) != Ground()
    assert Scene() != Scene(dim=2)
    assert Scene() != 3
    for copied in (copy.deepcopy(small_scene()), pickle.loads(pickle.dumps(small_scene()))):
        assert copied == small_scene()


@pytest.mark.req("B5")
def test_velocity_damping_fraction() -> None:
    damping = VelocityDamping(base=0.1, stiffness_max=200.0)
    assert [damping.fraction(k) for k in (0.0, 100.0, 200.0)] == pytest.approx([0.1, 0.55, 1.0])


@pytest.mark.req("D4", "C5")
def test_pins() -> None:
    assert SoftBody(BALL, pins=[5, 2, 5]).pinned.tolist() == [2, 5]
    assert SoftBody(BALL).pinned.tolist() == []
    top = SoftBody(BALL, pins="top")
    assert top.positions[top.pinned, 2] == pytest.approx([0.5])
    hanging = SoftBody(BALL, pins="top", rotation=(math.pi, 0, 0))  # upside down: the top is what was the bottom
    assert hanging.pinned.tolist() == SoftBody(BALL, pins="bottom").pinned.tolist()
    floor = SoftBody(shapes.box(subdivisions=2), pins="bottom")
    assert len(floor.pinned) == 9
    assert np.all(floor.positions[floor.pinned, 2] == -0.5)
    disc = SoftBody(DISC, pins="bottom")
    assert disc.positions[disc.pinned, 1] == pytest.approx([-0.5])
    flag = Cloth(SHEET, pins="left-corners")
    assert flag.pinned.tolist() == sorted(SHEET.groups["left-corners"].tolist())
    assert len(flag.pinned) == 2


@pytest.mark.req("C9")
def test_sample_counts() -> None:
    assert SoftBody(BALL).sample_count == 0
    assert SoftBody(BALL, volume="monte-carlo").sample_count == 512
    assert SoftBody(BALL, volume="subdivision").sample_count == 16
    assert SoftBody(BALL, volume="monte-carlo", samples=99).sample_count == 99


# --- what is refused: the call, and words of the message

GAS = Gas(nRT=1.0)
REFUSED: dict[str, tuple[Any, str]] = {
    "negative stiffness": (lambda: Springs(stiffness=-3.0), r"^springs\.stiffness must be >= 0, got -3\.0$"),
    "negative damping": (lambda: Springs(damping=-1), r"springs\.damping must be >= 0"),
    "string mass": (lambda: SoftBody(BALL, mass="heavy"), "mass must be > 0, got 'heavy'"),
    "zero mass": (lambda: SoftBody(BALL, mass=0), "mass must be > 0, got 0"),
    "bool mass": (lambda: SoftBody(BALL, mass=True), "mass .* got True"),
    "numpy bool": (lambda: SoftBody(BALL, mass=np.True_), "mass .* got True"),
    "huge mass": (lambda: SoftBody(BALL, mass=10**400), "mass must be finite"),
    "None mass": (lambda: SoftBody(BALL, mass=None), "mass .* got None"),
    "NaN at": (lambda: SoftBody(BALL, at=(0, 0, math.nan)), r"at\[2\] must be finite, got nan"),
    "inf velocity": (lambda: SoftBody(BALL, velocity=(math.inf, 0, 0)), r"velocity\[0\] must be finite"),
    "short at": (lambda: SoftBody(BALL, at=(1, 2)), r"at must be 3 numbers, got 2: \(1, 2\)"),
    "long at in 2D": (lambda: SoftBody(DISC, at=(1, 2, 3)), "at must be 2 numbers, got 3"),
    "matrix at": (lambda: SoftBody(BALL, at=np.eye(3)), "at must be 3 numbers"),
    "string at": (lambda: SoftBody(BALL, at="abc"), "at must be 3 numbers, got 'abc'"),
    "empty list at": (lambda: SoftBody(BALL, at=[]), "at must be 3 numbers"),
    "angle in 3D": (lambda: SoftBody(BALL, rotation=0.5), "rotation must be 3 numbers"),
    "vector spin in 2D": (lambda: SoftBody(DISC, spin=(0, 0, 1)), "spin must be one number"),
    "array spin in 2D": (lambda: SoftBody(DISC, spin=np.zeros(3)), "spin must be one number"),
    "shape is a string": (lambda: SoftBody("ball"), "shape must be a turgor Shape"),
    "open soft body": (lambda: SoftBody(SHEET), "shape is open"),
    "closed cloth": (lambda: Cloth(BALL), "shape is closed"),
    "flat cloth": (lambda: Cloth(DISC), "3D sheet"),
    "name not a string": (lambda: SoftBody(BALL, name=3), "name must be a string"),
    "dotted name": (lambda: SoftBody(BALL, name="a.b"), r"name must be .* without '\.'"),
    "name with newline": (lambda: SoftBody(BALL, name="a\nb"), "name must be printable"),
    "lone surrogate": (lambda: SoftBody(BALL, name="\ud800"), "valid Unicode"),
    "friction": (lambda: SoftBody(BALL, friction=-1), "friction must be >= 0"),
    "restitution": (lambda: SoftBody(BALL, restitution=1.5), "restitution must be >= 0 and <= 1, got 1.5"),
    "drag": (lambda: SoftBody(BALL, drag=-0.1), "drag must be >= 0"),
    "bending": (lambda: Cloth(SHEET, bending="stiff"), "bending must be >= 0"),
    "wind_drag": (lambda: Cloth(SHEET, wind_drag=-1), "wind_drag must be >= 0"),
    "springs a dict": (lambda: SoftBody(BALL, springs={"stiffness": 1}), "springs must be a turgor Springs"),
    "gas a number": (lambda: SoftBody(BALL, gas=3), "gas must be a turgor Gas"),
    "volume": (lambda: SoftBody(BALL, volume="exat"), "volume must be one of .* did you mean 'exact'"),
    "samples unused": (lambda: SoftBody(BALL, samples=9), "samples is only used with volume = 'monte-carlo'"),
    "samples zero": (lambda: SoftBody(BALL, volume="monte-carlo", samples=0), "samples must be a whole number >= 1"),
    "samples float": (lambda: SoftBody(BALL, volume="monte-carlo", samples=9.0), "samples must be a whole number"),
    "force without gas": (lambda: SoftBody(BALL, pressure_force="vertex-normals"), "no effect without gas"),
    "scaling without gas": (lambda: SoftBody(BALL, pressure_scaling=True), "no effect without gas"),
    "settled without gas": (lambda: SoftBody(BALL, settled=True), "no effect without gas"),
    "settled and inflating": (lambda: SoftBody(BALL, settled=True, gas=Gas(nRT=1, inflate=1)), "gas.inflate"),
    "settled a string": (lambda: SoftBody(BALL, settled="yes", gas=GAS), "settled must be true or false"),
    "mass distribution": (lambda: SoftBody(BALL, mass_distribution="even"), "mass_distribution must be one of"),
    "pin beyond the end": (lambda: SoftBody(BALL, pins=[42]), "vertices 0 to 41, got 42"),
    "negative pin": (lambda: SoftBody(BALL, pins=[-1]), "pins must be a whole number >= 0"),
    "unknown group": (lambda: Cloth(SHEET, pins="left-corner"), "no group 'left-corner'; did you mean 'left-corners'"),
    "pins a number": (lambda: SoftBody(BALL, pins=3), "pins must be vertex indices or the name of a group"),
    "color out of range": (lambda: SoftBody(BALL, color=(0, 0, 2)), "color must be >= 0 and <= 1"),
    "color word": (lambda: SoftBody(BALL, color="red"), "'#rrggbb', got 'red'"),
    "color not hex": (lambda: SoftBody(BALL, color="#gg0000"), "'#rrggbb'"),
    "texture": (lambda: Cloth(SHEET, texture=3), "texture must be a string"),
    "empty texture": (lambda: Cloth(SHEET, texture=""), "texture must be the path"),
    "damping base": (lambda: VelocityDamping(base=1.0), r"velocity_damping\.base must be >= 0 and < 1"),
    "damping too stiff": (
        lambda: SoftBody(BALL, springs=Springs(500), velocity_damping=VelocityDamping()),
        r"stiffness_max \(400\.0\) must be >= springs\.stiffness \(500\.0\)",
    ),
    "damping of a material": (
        lambda: SoftBody(BALL, material="rubber", velocity_damping=VelocityDamping()),
        r"velocity_damping follows the stiffness of springs: use material\.damping, or drag, instead",
    ),
    "damping a bool": (lambda: SoftBody(BALL, velocity_damping=True), "must be a turgor VelocityDamping"),
    "ground height": (lambda: Ground(height="low"), "height must be a number"),
    "zero normal": (lambda: Plane((0, 0, 0), (0, 0, 0)), "normal must not be zero"),
    "mixed plane": (lambda: Plane((0, 0, 0), (0, 1)), "normal must be 3 numbers"),
    "1D plane": (lambda: Plane((0,), (1,)), "point must be 2 or 3 numbers"),
    "flat container": (lambda: Container((1, 0, 1)), r"size\[1\] must be > 0"),
    "container size a number": (lambda: Container(3), "size must be 2 or 3 numbers"),
    "solver": (lambda: Settings(solver="rk5"), r"simulation\.solver must be one of .*'rk4-martin'"),
    "fps": (lambda: Settings(fps=0), r"simulation\.fps must be > 0"),
    "substeps zero": (lambda: Settings(substeps=0), r"simulation\.substeps must be a whole number >= 1"),
    "substeps word": (lambda: Settings(substeps="many"), r"simulation\.substeps must be 'auto'"),
    "substeps beyond the limit": (lambda: Settings(substeps=9, max_substeps=8), "max_substeps"),
    "precision": (lambda: Settings(precision="float"), r"simulation\.precision must be one of 'single', 'double'"),
    "dim": (lambda: Scene(dim=4), "dim must be 2 or 3, got 4"),
    "dim bool": (lambda: Scene(dim=True), "dim must be 2 or 3"),
    "dim array": (lambda: Scene(dim=np.array([2, 3])), "dim must be 2 or 3"),
    "gravity": (lambda: Scene(gravity=3), "gravity must be 3 numbers, got 3"),
    "gravity of another dim": (lambda: Scene(dim=2, gravity=(0, 0, -1)), "gravity must be 2 numbers"),
    "simulation": (lambda: Scene(simulation={}), "simulation must be a turgor Settings"),
    "unknown option": (lambda: Scene().add_soft_body(BALL, masss=3), "unknown key 'masss'; did you mean 'mass'"),
    "named unknown option": (lambda: Scene().add_ground(name="g", hight=3), "ground 'g': .* did you mean 'height'"),
    "2D body in 3D": (lambda: Scene().add_soft_body(DISC, name="d"), "soft_body 'd': shape is 2D .* dim = 3"),
    "3D body in 2D": (lambda: Scene(dim=2).add_soft_body(BALL), "soft_body: shape is 3D .* dim = 2"),
    "cloth in 2D": (lambda: Scene(dim=2).add_cloth(SHEET), "cloth needs a 3D scene"),
    "2D plane in 3D": (lambda: Scene().add_plane((0, 0), (0, 1)), "point is 2D"),
    "3D container in 2D": (lambda: Scene(dim=2).add_container((1, 1, 1)), "size is 3D"),
    "2D rigid body in 3D": (lambda: Scene().add_rigid_body(DISC), "rigid_body: shape is 2D .* dim = 3"),
    "add a shape": (lambda: Scene().add(BALL), "a scene holds soft bodies"),
    "no such name": (lambda: small_scene()["bal"], "no 'bal'; did you mean 'ball'"),
}


@pytest.mark.parametrize(("action", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(action: Any, message: str) -> None:
    with pytest.raises(SceneError, match=message):
        action()


def test_assignments_are_checked() -> None:
    scene = Scene()
    scene.gravity = [0, 0, -1]
    assert scene.gravity == (0.0, 0.0, -1.0)
    for key, value, message in (
        ("gravity", (1, 2), "gravity must be 3 numbers"),
        ("dim", 2, "cannot change"),
        ("gravty", 3, "did you mean 'gravity'"),
        ("name", 3, "name must be a string"),
    ):
        with pytest.raises(SceneError, match=message):
            setattr(scene, key, value)


def test_lists_changed_by_hand_are_checked() -> None:
    scene = small_scene()
    scene.soft_bodies.append(scene.soft_bodies[0])
    with pytest.raises(SceneError, match="soft_body number 2: the name 'ball' is already used"):
        scene.check()
    scene.soft_bodies[1] = "ball"  # type: ignore[call-overload]
    with pytest.raises(SceneError, match="must be a turgor SoftBody"):
        scene.to_toml()


# --- values by path


def test_set_changes_one_value() -> None:
    scene = small_scene()
    before = scene["ball"]
    scene.set("ball.springs.stiffness", "250")
    scene.set("ball.at", "[0, 0, 5]")
    scene.set("ball.gas.gauge", "300.5")
    scene.set("ground.friction", 0.25)
    scene.set("flag.pins", "top")
    scene.set("simulation.solver", "rk4")
    scene.set("simulation.substeps", "12")
    scene.set("gravity", "[0, 0, -1.62]")
    scene.set("wind", (1, 0, 0))
    ball = scene.soft_bodies[0]
    assert (ball.springs, ball.at, ball.gas) == (Springs(250.0), (0.0, 0.0, 5.0), Gas.at(gauge=300.5))
    assert isinstance(before, SoftBody)
    assert before.springs == Springs()  # the old value is untouched
    assert scene.grounds[0].friction == 0.25
    assert scene.cloths[0].pins == "top"
    assert scene.simulation == Settings(solver="rk4", substeps=12)
    assert (scene.gravity, scene.wind) == ((0.0, 0.0, -1.62), (1.0, 0.0, 0.0))


def test_set_whole_tables_and_nothing() -> None:
    scene = small_scene()
    scene.set("ball.gas", "{ nRT = 30, held = true }")
    assert scene.soft_bodies[0].gas == Gas(nRT=30.0, held=True)
    scene.set("ball.gas", "none")
    assert scene.soft_bodies[0].gas is None
    scene.set("ball.gas.moles", "2")  # a table that is not there yet is made
    assert scene.soft_bodies[0].gas == Gas(moles=2.0)
    scene.set("ball.springs", Springs(7.0))
    assert scene.soft_bodies[0].springs == Springs(7.0)
    scene.set("ball.name", "football")
    assert scene.names == ["football", "flag", "ground"]


def test_set_reaches_into_shapes() -> None:
    scene = small_scene()
    scene.set("ball.shape.icosphere.subdivisions", "0")
    assert scene.soft_bodies[0].shape.vertices.shape == (12, 3)
    scene.set("ball.shape", "{ box = { size = [1, 2, 3] } }")
    assert scene.soft_bodies[0].shape.volume == pytest.approx(6.0)


def test_set_one_component() -> None:
    scene = small_scene()
    before = scene["ball"].at
    scene.set("ball.at.z", "7")
    scene.set("ball.velocity.0", 2)
    scene.set("gravity.x", "1.5")
    assert scene["ball"].at == (*before[:2], 7.0)
    assert scene["ball"].velocity == (2.0, 0.0, 0.0)
    assert scene.gravity == (1.5, 0.0, -9.81)


BAD_PATHS = {
    "unknown body": ("bal.mass", "1", "no 'bal'; did you mean 'ball'"),
    "unknown key": ("ball.mas", "1", "ball: unknown key 'mas'; did you mean 'mass'"),
    "unknown nested key": ("ball.springs.stifness", "1", "ball: springs: unknown key .* did you mean 'stiffness'"),
    "unknown setting": ("simulation.sover", "rk4", "simulation: unknown key 'sover'; did you mean 'solver'"),
    "bad value": ("ball.springs.stiffness", "-3", r"ball: springs\.stiffness must be >= 0, got -3"),
    "not a number": ("ball.mass", "heavy", "ball: mass must be > 0, got 'heavy'"),
    "bad solver": ("simulation.solver", "rk5", r"^simulation\.solver must be one of"),
    "a date": ("ball.mass", "2020-01-01", r"ball: mass .* \(not a number\)"),
    "body alone": ("ball", "1", "ball: say which value to set; known: shape, name"),
    "no parts": ("ball.mass.z", "1", "ball: mass has no parts"),
    "no such part": ("ball.at.w", "1", "ball: at has no part 'w'; known: x, y, z, 0, 1, 2"),
    "two amounts": ("ball.gas.nRT", "5", "exactly one of .* nRT and gauge"),
    "number for a table": ("ball.springs", "5", "springs must be a table such as"),
    "not set, too deep": ("ball.velocity_damping.base.x", "5", "velocity_damping is not set"),
    "name taken": ("ball.name", "flag", "'flag' is already used"),
    "dimension": ("ball.shape", "{ circle = {} }", "ball: "),
    "gravity": ("gravity", "3", "gravity must be 3 numbers, got 3"),
    "gravity part": ("gravity.w", "3", "gravity has no part 'w'"),
    "part of a name": ("name.x", "3", "name has no parts"),
    "dim": ("dim", "2", "cannot change"),
    "two values": ("ball.mass", "1\nmass = 2", r"mass .* \(not a number\)"),
    "shape argument": ("ball.shape.icosphere.radius", "-1", "ball: shape: "),
    "shape part": ("ball.shape.icosphere.radius.x", "1", "shape has no part"),
}


@pytest.mark.parametrize(("path", "value", "message"), BAD_PATHS.values(), ids=BAD_PATHS)
def test_bad_set_changes_nothing(path: str, value: str, message: str) -> None:
    scene = small_scene()
    with pytest.raises((SceneError, MeshError), match=message):
        scene.set(path, value)
    assert scene == small_scene()
