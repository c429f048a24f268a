"""Rigid bodies and attachments as scene data: round trips, defaults, and one clear sentence for each mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from turgor import Scene, SceneError, Simulation, shapes
from turgor.scene import Attachment, RigidBody
from turgor.shapes import Shape

BOX = shapes.box(size=(1.0, 0.6, 0.4))
BALL = shapes.icosphere(radius=0.5, subdivisions=1)
SHEET = shapes.sheet()
DISC = shapes.circle(radius=0.5, points=12)


def full_scene() -> Scene:
    """Every field of a rigid body set, all kinds, and two attachments."""
    scene = Scene()
    scene.add_soft_body(BALL, name="ball", at=(0.0, 0.0, 2.0), skin=0.01, self_contact=False)
    scene.add_cloth(SHEET, name="flag")
    scene.add_rigid_body(
        BOX, name="crate", at=(1.0, 2.0, 3.0), rotation=(0.1, 0.2, 0.3), velocity=(1.0, 0.0, -1.0),
        spin=(0.0, 0.0, 2.0), mass=7.0, collider="hull", friction=None, restitution=0.7, skin=0.002, color="#804020",
    )  # fmt: skip
    scene.add_rigid_body(shapes.capsule(), name="pill", kind="kinematic", velocity=(0.0, 0.0, 1.0), restitution=None)
    scene.add_rigid_body(SHEET, name="ramp", kind="static")
    scene.attach("ball", (5, 3, 3), "crate")
    scene.attach("flag", "left", "pill")
    scene.add_ground()
    return scene


@pytest.mark.req("B8")
def test_a_scene_file_gives_the_same_scene() -> None:
    scene = full_scene()
    text = scene.to_toml()
    again = Scene.from_toml(text)
    assert again == scene
    assert again.to_toml() == text
    assert "[[rigid_body]]" in text
    assert "[[attach]]" in text
    crate = again["crate"]
    assert isinstance(crate, RigidBody)
    assert crate.friction is None  # not the default, so it has to be in the file
    assert again.rigid_bodies[1].restitution is None
    assert again.attachments == [
        Attachment(body="ball", vertices=(3, 5), rigid="crate"),
        Attachment(body="flag", vertices="left", rigid="pill"),
    ]


def test_what_is_left_out_is_not_written() -> None:
    scene = Scene()
    scene.add_rigid_body(BOX, name="crate")
    table = scene.to_toml().partition("[[rigid_body]]")[2]
    assert {line.split(" = ")[0] for line in table.split("\n") if line} == {"name", "shape", "at", "mass"}


def test_names_are_shared_with_bodies_and_walls() -> None:
    scene = full_scene()
    assert scene.names == ["ball", "flag", "crate", "pill", "ramp", "ground"]
    assert scene["pill"] is scene.rigid_bodies[1]
    assert scene.add_rigid_body(BOX).name == "rigid_body-4"
    for action in (
        lambda: scene.add_rigid_body(BOX, name="ground"),
        lambda: scene.add_soft_body(BALL, name="crate"),
    ):
        with pytest.raises(SceneError, match="is already used"):
            action()


def test_scenes_differ_when_their_rigid_bodies_or_their_glue_do() -> None:
    assert full_scene() == full_scene()
    other = full_scene()
    other.set("crate.mass", 8)
    assert other != full_scene()
    unglued = full_scene()
    unglued.attachments.pop()
    assert unglued != full_scene()


def test_values_are_set_by_path() -> None:
    scene = full_scene()
    scene.set("crate.friction", "0.25")
    scene.set("crate.skin", "none")
    scene.set("crate.shape.box.size", "[2, 2, 2]")
    scene.set("ball.self_contact", "true")
    assert scene.rigid_bodies[0].friction == 0.25
    assert scene.rigid_bodies[0].skin is None
    assert np.ptp(scene.rigid_bodies[0].shape.vertices) == 2.0
    assert scene.soft_bodies[0].self_contact is True
    with pytest.raises(SceneError, match=r"crate: unknown key 'masss'; did you mean 'mass'"):
        scene.set("crate.masss", 3)


def test_attachments_follow_a_new_name() -> None:
    scene = full_scene()
    scene.set("crate.name", "chest")
    scene.set("flag.name", "banner")
    assert [(entry.body, entry.rigid) for entry in scene.attachments] == [("ball", "chest"), ("banner", "pill")]
    scene.check()


COLLIDERS: dict[str, tuple[Shape, dict[str, Any], str]] = {
    "box": (BOX, {}, "hull"),
    "icosphere": (BALL, {}, "sphere"),
    "uv_sphere": (shapes.uv_sphere(), {}, "sphere"),
    "capsule": (shapes.capsule(), {}, "capsule"),
    "capsule without height": (shapes.capsule(height=0.0), {}, "sphere"),
    "torus": (shapes.torus(), {}, "hull"),
    "circle": (DISC, {}, "sphere"),
    "star": (shapes.star(), {}, "hull"),
    "sheet": (SHEET, {"kind": "static"}, "mesh"),
    "ball as hull": (BALL, {"collider": "hull"}, "hull"),
    "torus as mesh": (shapes.torus(), {"collider": "mesh", "kind": "kinematic"}, "mesh"),
    "squeezed ball": (replace(BALL, vertices=BALL.vertices * (1.0, 1.0, 0.5)), {}, "hull"),
}


@pytest.mark.parametrize(("shape", "options", "found"), COLLIDERS.values(), ids=COLLIDERS)
def test_what_auto_means(shape: Shape, options: dict[str, Any], found: str) -> None:
    assert RigidBody(shape, **options).resolved_collider == found


def rigid(shape: Shape = BOX, **options: Any) -> Callable[[], object]:
    return lambda: Scene(dim=shape.dim).add_rigid_body(shape, name="r", **options)


def attach(body: Any, vertices: Any, other: Any) -> Callable[[], object]:
    return lambda: full_scene().attach(body, vertices, other)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "unknown option": (rigid(frction=1), "rigid_body 'r': unknown key 'frction'; did you mean 'friction'"),
    "mass": (rigid(mass=0), "rigid_body 'r': mass must be > 0, got 0"),
    "mass text": (rigid(mass="1"), "mass must be > 0, got '1' .not a number"),
    "at": (rigid(at=(1, 2)), "at must be 3 numbers, got 2"),
    "spin": (rigid(spin=3), "spin must be 3 numbers, got 3"),
    "spin 2D": (rigid(DISC, spin=(0, 0, 1)), "spin must be one number"),
    "kind": (rigid(kind="dynamc"), "kind must be one of .* got 'dynamc'; did you mean 'dynamic'"),
    "collider": (rigid(collider="convex"), "collider must be one of 'auto', 'hull'.* got 'convex'"),
    "friction": (rigid(friction=-1), "friction must be >= 0, got -1"),
    "restitution": (rigid(restitution=1.5), "restitution must be >= 0 and <= 1, got 1.5"),
    "skin": (rigid(skin=0), "skin must be > 0, got 0"),
    "color": (rigid(color="brown"), "color must be three numbers 0..1 or '#rrggbb'"),
    "moving static": (rigid(kind="static", velocity=(1, 0, 0)), "a static body does not move: .* 'kinematic'"),
    "turning static": (rigid(kind="static", spin=(1, 0, 0)), "a static body does not move: .* 'kinematic'"),
    "box as sphere": (rigid(collider="sphere"), "collider = 'sphere' needs .* use collider = 'hull'"),
    "ball as capsule": (rigid(BALL, collider="capsule"), "collider = 'capsule' needs a shape made by"),
    "dynamic mesh": (rigid(collider="mesh"), "'mesh' has no inside, so the body cannot be dynamic"),
    "dynamic sheet": (rigid(SHEET), "shape is open, so the body cannot be dynamic: use kind = 'static'"),
    "sheet as hull": (rigid(SHEET, collider="hull", kind="static"), "shape is open and has no inside .* 'mesh'"),
    "inside out": (rigid(replace(BOX, faces=BOX.faces[:, ::-1], recipe={})), "shape: .* is inside out"),
    "not a shape": (lambda: Scene().add_rigid_body("box"), "shape must be a turgor Shape, got 'box'"),
    "soft skin": (lambda: Scene().add_soft_body(BALL, skin=-1), "skin must be > 0, got -1"),
    "self_contact": (lambda: Scene().add_soft_body(BALL, self_contact=1), "self_contact must be true or false"),
    "glue without body": (attach("bal", "top", "crate"), "attach: body: .* no soft body or cloth 'bal'; did you mean"),
    "glue without rigid": (attach("ball", "top", "crat"), "attach: rigid: .* 'crat'; did you mean 'crate'"),
    "glue rigid to rigid": (attach("pill", "top", "crate"), "no soft body or cloth 'pill'"),
    "glue to soft": (attach("ball", "top", "flag"), "no rigid body 'flag'"),
    "glue group": (attach("flag", "rihgt", "crate"), "vertices: the shape has no group 'rihgt'; did you mean 'right'"),
    "glue index": (attach("ball", [99], "crate"), "vertices: the shape has vertices 0 to 41, got 99"),
    "glue number": (attach("ball", 3, "crate"), "vertices must be vertex indices or the name of a group, got 3"),
    "glue half": (attach("ball", [1.5], "crate"), "vertices must be a whole number >= 0, got 1.5"),
    "glue nothing": (attach("ball", [], "crate"), "vertices is empty"),
    "glue twice": (attach("ball", [5], "pill"), "vertex 5 of 'ball' is already glued to 'crate'"),
    "glue name": (attach(3, "top", "crate"), "attach: body must be a string, got 3"),
}  # fmt: skip


@pytest.mark.parametrize(("action", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(action: Callable[[], object], message: str) -> None:
    with pytest.raises(SceneError, match=message) as caught:
        action()
    assert "\n" not in str(caught.value)


def test_a_pinned_vertex_is_not_glued() -> None:
    scene = Scene()
    scene.add_cloth(SHEET, name="flag", pins="left")
    scene.add_rigid_body(BOX, name="crate")
    with pytest.raises(SceneError, match="vertex 0 of 'flag' is pinned"):
        scene.attach("flag", [0], "crate")


def test_lists_changed_by_hand_are_checked() -> None:
    scene = full_scene()
    del scene.rigid_bodies[0]
    with pytest.raises(SceneError, match=r"attach number 1: rigid: the scene has no rigid body 'crate'"):
        Simulation(scene)


def test_attach_takes_the_things_themselves() -> None:
    scene = Scene()
    ball = scene.add_soft_body(BALL, name="ball")
    crate = scene.add_rigid_body(BOX, name="crate")
    assert scene.attach(ball, [1], crate) == Attachment(body="ball", vertices=(1,), rigid="crate")


BAD_FILES = {
    "unknown key": ("[[attach]]", "[[atach]]", "unknown key 'atach'; did you mean 'attach'"),
    "no list": ("[[attach]]", "[attach]", r"attach must be a list of tables: write \[\[attach\]\]"),
    "missing": ('rigid = "crate"', "", r"attach number 1: 'rigid' is missing"),
    "misspelt": (
        "vertices = [3, 5]",
        "vertex = [3, 5]",
        "attach number 1: unknown key 'vertex'; did you mean 'vertices'",
    ),
    "body": ('body = "ball"', 'body = "bull"', "attach number 1: .* 'bull'; did you mean 'ball'"),
    "rigid": ("mass = 7.0", "mass = -7.0", r"rigid_body 'crate' \(number 1\): mass must be > 0"),
}


@pytest.mark.parametrize(("old", "new", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files(old: str, new: str, message: str) -> None:
    text = full_scene().to_toml().partition('[[attach]]\nbody = "flag"')[0]
    assert old in text
    with pytest.raises(SceneError, match=rf"a\.toml: {message}"):
        Scene.from_toml(text.replace(old, new, 1), source="a.toml")
