"""The tab "View" of the playground: overlays and colours by value, on the real server."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import turgor
from support.playgrounds import balls
from support.waiting import until
from turgor import gallery
from turgor.viewer.draw.arrows import HEAD_LENGTH, MOST, RED, chosen_vertices, outward_normals
from turgor.viewer.draw.color_values import BANDS, EVENED, KINDS, WIDE, Range, band_colors, band_of, diffusion_steps
from turgor.viewer.draw.coordinates import upright
from turgor.viewer.draw.legend import CONTINUOUS, numbers
from turgor.viewer.draw.overlays import CONTACT_NORMAL
from turgor.viewer.draw.scene_nodes import UNIT, rgb
from turgor.viewer.page.tabs.view import OVERLAYS, SEE_THROUGH


@pytest.mark.req("A8", "D7")
@pytest.mark.parametrize("dim", [2, 3])
def test_velocity_vectors_are_red_and_begin_at_the_vertices(open_page: Any, dim: int) -> None:
    page = open_page(balls(dim))
    page.show("velocities")
    sim, nodes = page.playground.world.sim, page.playground.nodes
    overlay, node = page.panel.overlays["velocities"], page.node("/overlay-velocities")
    assert len(node.points) == len(sim["left"].positions)  # what stands still has no arrow
    page.run(2)
    long = np.linalg.norm(overlay.seconds * sim.velocities, axis=1) >= HEAD_LENGTH * nodes.radius
    assert long.any()
    seen = [0, 2] if dim == 2 else [0, 1, 2]
    start, end = node.points[:, 0][:, seen], node.points[:, 1][:, seen]
    np.testing.assert_allclose(start, sim.positions[long], atol=1e-5)
    np.testing.assert_allclose(end - start, overlay.seconds * sim.velocities[long], atol=1e-5)
    np.testing.assert_array_equal(node.colors, RED)
    assert RED[0] > 200
    assert max(RED[1:]) < 50


@pytest.mark.req("A8")
@pytest.mark.parametrize("dim", [2, 3])
def test_normals_point_outwards(open_page: Any, dim: int) -> None:
    page = open_page(balls(dim))
    page.show("normals")
    layout, frame = page.playground.world.layout, page.playground.world.frame()
    normals = outward_normals(frame.positions, layout)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0)
    for body in layout.bodies:
        own = slice(body.start, body.start + body.count)
        arms = frame.positions[own] - frame.positions[own].mean(axis=0)
        assert np.all(np.einsum("ij,ij->i", arms, normals[own]) > 0.39)
    drawn = page.node("/overlay-normals").points
    along = drawn[:, 1] - drawn[:, 0]
    length = np.linalg.norm(along, axis=1, keepdims=True)
    np.testing.assert_allclose(along / length, upright(normals), atol=1e-4)


def test_of_many_vertices_an_even_choice_has_arrows() -> None:
    layout = turgor.Simulation(gallery.load("pile")).layout
    chosen = chosen_vertices(layout)
    assert layout.vertices > MOST >= len(chosen) > MOST / 2
    assert len(set(np.diff(chosen))) == 1


@pytest.mark.parametrize("by", ["speed", "stretch"])
def test_bands_hold_every_face_exactly_once(open_page: Any, by: str) -> None:
    page = open_page(balls())
    page.run(3)
    page.set(page.panel.color_by, by.capitalize())
    painter, frame = page.panel.painter, page.playground.world.frame()
    wanted: dict[bytes, int] = {}
    parts, nodes = painter.drawn_parts(painter.measure.values(by, frame), frame), page.playground.nodes
    points = nodes.points.astype(np.float32)
    for corners, band in zip(painter.measure.drawn, band_of(parts).tolist(), strict=True):
        wanted[points[corners].tobytes()] = band
    assert len(wanted) == 4 * sum(len(body.faces) for body in page.playground.world.layout.bodies)
    found: dict[bytes, int] = {}
    for band, handle in painter.bands.items():
        assert tuple(handle.color) == rgb(tuple(band_colors()[band].tolist()))
        if handle.visible:
            assert len(np.unique(handle.faces)) == len(handle.vertices)  # compact
            for face in handle.faces:
                key = (UNIT * np.asarray(handle.vertices))[face].tobytes()
                assert key not in found
                found[key] = band
    assert found == wanted
    assert not any(node.handle.visible for node in page.playground.nodes.bodies)


def test_a_body_at_rest_is_in_the_lowest_band(open_page: Any) -> None:
    scene = balls()
    scene.add_rigid_body(turgor.shapes.box(size=(0.3, 0.3, 0.3)), name="block", at=(0, 3, 0), kind="static")
    page = open_page(scene)
    page.set(page.panel.color_by, "Speed")
    painter, frame = page.panel.painter, page.playground.world.frame()
    assert painter.range.low == 0.0
    assert painter.range.high == pytest.approx(3.0)
    band = band_of(painter.range.parts(painter.measure.values("speed", frame)))
    names = [body.name for body in page.playground.world.layout.bodies]
    assert set(band[painter.measure.owner == names.index("left")]) == {BANDS - 1}
    assert set(band[painter.measure.owner == names.index("block")]) == {0}
    assert set(painter.bands) == {0, BANDS - 1}


def test_stretch_is_the_elongation_of_the_springs(open_page: Any) -> None:
    """A body blown up by a factor has that stretch everywhere; a rigid one has none."""
    scene = balls()
    scene.add_rigid_body(turgor.shapes.box(size=(0.3, 0.3, 0.3)), name="block", at=(0, 3, 0), kind="static")
    page = open_page(scene)
    world = page.playground.world
    view = world.sim["right"]
    view.positions = view.center + 1.03 * (view.positions - view.center)
    page.set(page.panel.color_by, "Stretch")
    painter = page.panel.painter
    values = painter.measure.values("stretch", world.sim.frame())
    of_body = {body.name: values[painter.measure.owner == k] for k, body in enumerate(world.layout.bodies)}
    np.testing.assert_allclose(of_body["right"], 0.03, atol=1e-5)
    np.testing.assert_allclose(of_body["left"], 0.0, atol=1e-5)
    assert np.isnan(of_body["block"]).all()
    assert BANDS in painter.bands
    assert "rigid" in page.panel.legend.content


@pytest.mark.req("A8")
@pytest.mark.parametrize("dim", [2, 3])
def test_pressure_is_the_colour_of_the_body(open_page: Any, dim: int) -> None:
    page = open_page(balls(dim))
    page.set(page.panel.color_by, "Pressure")
    painter, sim = page.panel.painter, page.playground.world.sim
    gauge = painter.measure.gauge(sim.frame())
    np.testing.assert_allclose(gauge, [sim["left"].gauge_pressure, sim["right"].gauge_pressure], rtol=1e-4)
    colors = {node.names[0]: np.array(node.handle.color, int) for node in page.playground.nodes.bodies}
    assert colors["left"][2] > colors["left"][0] + 80  # 50 Pa: blue
    assert colors["right"][0] > colors["right"][2] + 80  # 150 Pa: red
    page.set(page.panel.color_by, "Body colour")
    for node in page.playground.nodes.bodies:
        assert tuple(node.handle.color) == rgb((0.6, 0.6, 0.62))
        assert node.handle.visible
    assert not page.panel.legend.visible
    assert not page.nodes()


def test_bodies_that_share_nodes_are_banded_by_pressure(open_page: Any) -> None:
    scene = turgor.Scene(gravity=(0, 0, 0))
    shape = turgor.shapes.icosphere(radius=0.3, subdivisions=1)
    for k in range(42):
        scene.add_soft_body(shape, at=(k, 0, 0), gas=turgor.Gas(gauge=10.0 * k))
    page = open_page(scene)
    page.set(page.panel.color_by, "Pressure")
    painter = page.panel.painter
    assert painter.banded
    assert len(painter.bands) == 42  # each has a pressure of its own
    faces = sum(len(handle.faces) for handle in painter.bands.values() if handle.visible)
    assert faces == 4 * 42 * len(shape.faces)  # each face is drawn as four


@pytest.mark.parametrize("by", ["pressure", "stretch", "speed"])
@pytest.mark.parametrize("dim", [2, 3])
def test_the_legend_says_the_range(open_page: Any, by: str, dim: int) -> None:
    page = open_page(balls(dim))
    page.run(3)
    page.set(page.panel.color_by, by.capitalize())
    painter, content = page.panel.painter, page.panel.legend.content
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", content)
    told = [float(text.strip("≤≥ ").replace("−", "-")) / painter.kind.factor for text in texts]
    assert told[0] == pytest.approx(painter.range.low, abs=1e-9)
    assert told[-1] == pytest.approx(painter.range.high)
    assert page.panel.legend.visible
    assert page.panel.reset_range.visible
    assert f"({painter.kind.unit if dim == 3 else painter.kind.unit_2d})" in content
    blocks = content.count("<rect")
    assert blocks == (BANDS if painter.banded else CONTINUOUS)


def test_the_range_grows_until_it_is_reset(open_page: Any) -> None:
    page = open_page(balls())
    page.set(page.panel.color_by, "Speed")
    seen = page.panel.painter.range
    page.playground.world.sim["left"].velocities *= 0.1
    page.run(1)
    assert seen.high == pytest.approx(3.0)
    page.do(page.panel._reset_range)
    assert 0.3 <= seen.high < 1.0
    page.playground.world.sim["left"].velocities *= 100
    page.run(1)
    assert seen.high > 20.0


@pytest.mark.parametrize(
    ("by", "values", "texts"),
    [
        ("speed", [0.0, 4.99], ["0", "1.25", "2.5", "3.75", "5"]),
        ("stretch", [-0.02, 0.031], ["≤ −3.1", "−1.55", "0", "+1.55", "≥ +3.1"]),
        ("pressure", [101.0, 203.0], ["100", "127.5", "155", "182.5", "210"]),
        ("speed", [np.nan], []),
        ("stress", [1.0e6, 3.0e6], ["≤ 1000", "1500", "2000", "2500", "≥ 3000"]),
        ("stress", [1.0e7, 3.0e7], ["≤ 10", "15", "20", "25", "≥ 30"]),
        ("wrinkled", [0.0, 0.0], ["taut", "wrinkled", "slack"]),
    ],
)
def test_numbers_of_the_legend(by: str, values: list[float], texts: list[str]) -> None:
    seen = Range(KINDS[by])
    seen.see(np.array(values))
    assert numbers(KINDS[by], seen) == texts


@pytest.mark.parametrize("name", ["stack", "drop-2d"])
def test_contact_points_are_those_of_the_simulation(open_page: Any, name: str) -> None:
    page = open_page(name)
    sim = page.playground.world.sim
    while not sim.contacts().count:
        page.run(1)
    page.show("contacts")
    found, radius = sim.contacts(), page.playground.nodes.radius
    seen = [0, 2] if page.playground.world.scene.dim == 2 else [0, 1, 2]
    np.testing.assert_allclose(page.node("/overlay-contacts").points[:, seen], found.points, atol=1e-5)
    normals = page.node("/overlay-contact-normals").points[:, :, seen]
    np.testing.assert_allclose((normals[:, 1] - normals[:, 0]) / (CONTACT_NORMAL * radius), found.normals, atol=1e-3)
    page.playground.replaying = True
    page.playground.do(page.panel._show, page.playground.world.frame())
    until(lambda: not page.node("/overlay-contacts").visible)  # a recording has no contacts


@pytest.mark.req("B19")
@pytest.mark.parametrize(("dim", "method"), [(2, "particles"), (3, "particles"), (3, "particles-martin")])
def test_collision_particles(open_page: Any, dim: int, method: str) -> None:
    page = open_page(balls(dim, gap=0.01))
    page.run(1)
    page.show("particles")
    assert page.panel.note.visible
    assert "particles" in page.panel.note.content
    assert page.node("/overlay-particles") is None
    page.do(page.playground.world.change, "simulation.contact", method)
    page.run(1)
    assert not page.panel.note.visible
    wanted = page.playground.world.sim.collision_particles()["position"]
    seen = [0, 2] if dim == 2 else [0, 1, 2]
    assert len(wanted) > 8
    np.testing.assert_allclose(page.node("/overlay-particles").points[:, seen], wanted, atol=1e-5)


def test_bounds_hold_the_bodies(open_page: Any) -> None:
    page = open_page("jelly-2d")
    page.run(5)
    page.show("bounds")
    frame, layout = page.playground.world.frame(), page.playground.world.layout
    centres, half, radii = page.panel.overlays["bounds"].volumes(frame.positions)
    for k, body in enumerate(layout.bodies):
        own = frame.positions[body.start : body.start + body.count]
        np.testing.assert_allclose(centres[k] - half[k], own.min(axis=0))
        np.testing.assert_allclose(centres[k] + half[k], own.max(axis=0))
        assert radii[k] == pytest.approx(np.linalg.norm(own - centres[k], axis=1).max())
    assert len(page.node("/overlay-boxes").points) == 4 * len(layout.bodies)


def test_pins_are_shown_at_once(open_page: Any) -> None:
    page = open_page("flag")
    world = page.playground.world
    pinned = world.scene.cloths[0].pinned
    np.testing.assert_allclose(page.node("/overlay-pins").points, world.sim.positions[pinned], atol=1e-5)
    page.do(world.pin, "flag", 5)
    assert len(page.node("/overlay-pins").points) == len(pinned) + 1


def test_turned_off_leaves_nothing(open_page: Any) -> None:
    page = open_page(balls(gap=0.01))
    page.run(1)
    for key in OVERLAYS:
        page.show(key)
    page.set(page.panel.color_by, "Stretch")
    assert len(page.nodes()) > 5
    for key in OVERLAYS:
        page.show(key, False)
    page.set(page.panel.color_by, "Body colour")
    assert not page.nodes()
    assert all(node.handle.visible for node in page.playground.nodes.bodies)


def test_everything_lives_on_through_other_scenes(open_page: Any) -> None:
    """With all on, scenes of 2D and 3D are opened: nodes are of the new scene, and no error is told."""
    page = open_page(balls())
    told: list[str] = []
    page.playground.notify = lambda title, text, kind="info": told.append(text) if kind == "error" else None
    for key in OVERLAYS:
        page.show(key)
    for by in ("Speed", "Pressure", "Stretch"):
        page.set(page.panel.color_by, by)
        for name in ("jelly-2d", "flag", "torus-and-cubes"):
            page.do(page.playground.open, gallery.load(name))
            page.do(page.panel._apply)
            page.run(2)
            layout = page.playground.world.layout
            edges = 12 if layout.dim == 3 else 4
            assert len(page.node("/overlay-boxes").points) == edges * len(layout.bodies)
            assert len(page.node("/overlay-normals").points) == layout.vertices
    assert not told


def test_wireframe_see_through_shadows_and_texture(open_page: Any) -> None:
    page = open_page("flag")
    panel, playground = page.panel, page.playground
    painted = len(playground.nodes.bodies)
    assert painted > 1
    panel.texture.value = False
    until(lambda: len(playground.nodes.bodies) == 1)
    panel.texture.value = True
    until(lambda: len(playground.nodes.bodies) == painted)
    page.set(panel.wireframe, True)
    assert all(node.handle.wireframe for node in playground.nodes.bodies)
    page.set(panel.wireframe, False)
    page.do(panel._flip, panel.toggles["contacts"])
    assert panel.see_through.value
    assert all(node.handle.opacity == SEE_THROUGH for node in playground.nodes.bodies)
    page.set(panel.see_through, False)
    assert all(node.handle.opacity is None for node in playground.nodes.bodies)
    page.set(panel.color_by, "Stretch")
    page.set(panel.wireframe, True)
    assert all(handle.wireframe for handle in panel.painter.bands.values())


def skins(dim: int = 3) -> turgor.Scene:
    """A ball of a material on the ground, beside one of springs and a rigid one."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground()
    shape = turgor.shapes.icosphere(radius=0.3, subdivisions=2) if dim == 3 else turgor.shapes.circle(radius=0.3)
    for name, x in (("rigid", 1.4), ("springs", 0.7)):
        add = scene.add_rigid_body if name == "rigid" else scene.add_soft_body
        add(shape, name=name, at=(x, *(0,) * (dim - 2), 0.31), mass=0.3)
    material = turgor.Membrane(young=1e5, poisson=0.3, thickness=1e-3)
    scene.add_soft_body(
        shape, name="skin", at=(0, *(0,) * (dim - 2), 0.31), material=material, gas=turgor.Gas.at(gauge=50.0)
    )
    return scene


@pytest.mark.req("X11")
@pytest.mark.parametrize("dim", [2, 3])
def test_stress_and_wrinkles_are_those_of_the_faces(open_page: Any, dim: int) -> None:
    """Each drawn face of the material has the value of the face between the same points; all others are grey."""
    page = open_page(skins(dim))
    page.run(8)
    world = page.playground.world
    bodies = {body.name: k for k, body in enumerate(world.layout.bodies)}
    for label, name in (("Stress", "stress"), ("Wrinkles", "wrinkled")):
        page.set(page.panel.color_by, label)
        painter, body = page.panel.painter, world.layout.bodies[bodies["skin"]]
        values = painter.measure.values(name, world.frame())
        expected = np.reshape(getattr(world.sim["skin"], name), (len(body.faces), -1))[:, 0]
        faces = map(frozenset, (body.faces + body.start).tolist())
        by_points = dict(zip(faces, expected.tolist(), strict=True))
        for corners, value, owner in zip(painter.measure.corners.tolist(), values, painter.measure.owner, strict=True):
            assert value == by_points[frozenset(corners)] if owner == bodies["skin"] else np.isnan(value)
        assert page.panel.legend.visible
        assert "springs or rigid" in page.panel.legend.content
        if dim == 3:
            grey = painter.bands[BANDS]
            assert grey.visible
            assert len(grey.faces) == 2 * 4 * len(body.faces)  # each is drawn as four
    assert [word in page.panel.legend.content for word in ("taut", "wrinkled", "slack")] == [True] * 3
    page.set(page.panel.color_by, "Stress")
    assert "(Pa)" in page.panel.legend.content
    assert page.panel.painter.range.high > page.panel.painter.range.low


@pytest.mark.req("X11")
@pytest.mark.parametrize("dim", [2, 3])
def test_stretch_is_that_of_springs_and_of_materials(open_page: Any, dim: int) -> None:
    """Both blown up by a factor of 1.04 have that stretch everywhere."""
    page = open_page(skins(dim))
    sim = page.playground.world.sim
    for name in ("skin", "springs"):
        view, shape = sim[name], sim.model.bodies[sim[name].index].shape
        view.positions = view.center + 1.04 * (np.asarray(shape.vertices) - np.mean(shape.vertices, axis=0))
    page.set(page.panel.color_by, "Stretch")
    values = page.panel.painter.measure.values("stretch", sim.frame())
    owner, names = page.panel.painter.measure.owner, [body.name for body in page.playground.world.layout.bodies]
    for name in ("skin", "springs"):
        np.testing.assert_allclose(values[owner == names.index(name)], 0.04, atol=1e-5, err_msg=name)
    assert "of the springs" not in page.panel.legend.content


@pytest.mark.req("X11")
def test_without_materials_all_is_grey_and_the_legend_says_so(open_page: Any) -> None:
    page = open_page(balls())
    for label in ("Stress", "Wrinkles"):
        page.set(page.panel.color_by, label)
        assert set(page.panel.painter.bands) == {BANDS}
        assert "nothing here has it" in page.panel.legend.content


@pytest.mark.req("X11")
def test_a_2d_body_has_the_colour_of_most_of_its_segments(open_page: Any) -> None:
    """Taut above and slack below are not mixed to wrinkled."""
    page = open_page(skins(2))
    sim = page.playground.world.sim
    page.set(page.panel.color_by, "Wrinkles")
    measure, names = page.panel.painter.measure, [body.name for body in page.playground.world.layout.bodies]
    mine = measure.owner == names.index("skin")
    parts = np.where(mine, 0.0, np.nan)
    parts[np.flatnonzero(mine)[: mine.sum() // 3]] = 1.0
    assert measure.per_body(parts, True)[names.index("skin")] == 0.0
    assert np.isnan(measure.per_body(parts, True)[names.index("rigid")])
    assert sim.finite


@pytest.mark.parametrize("subdivisions", [2, 3])
def test_stretch_has_no_spots_where_five_edges_meet(open_page: Any, subdivisions: int) -> None:
    """In equilibrium the springs around the twelve five-valent vertices of an icosphere are really stretched less: a
    pattern of the mesh. A ball that is blown up evenly has one colour all the same.

    The lowest harmonic of twelve spots is l = 6. An average stays with 1/3 and goes to each of six neighbours with 1/9,
    so it moves by 2/3 e² in the mean square, and takes 1 - exp(-l (l + 1) (2/3 e²) / (4 R²)) of the harmonic away; with
    N vertices e² = 8 π R² / (√3 N). One average, then diffusion for as long as WIDE N / 162 - 1 of them.
    """
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_soft_body(
        turgor.shapes.icosphere(0.5, subdivisions),
        name="ball",
        mass=1.0,
        springs=turgor.Springs(stiffness=100.0, damping=0.2),
        gas=turgor.Gas(gauge=120.0, ambient=0.0),
        settled=True,
    )
    page = open_page(scene)
    page.set(page.panel.color_by, "Stretch")
    painter, world = page.panel.painter, page.playground.world
    frame = world.frame()
    own = painter.measure.values("stretch", frame)
    seen = painter.measure.on_skin("stretch", own, frame)
    count = world.layout.vertices
    taken = 1.0 - np.exp(-42.0 * (2.0 / 3.0) / 4.0 * 8.0 * np.pi / (np.sqrt(3.0) * count))
    left = (1.0 - taken) * np.exp(-taken * (WIDE * count / EVENED - 1.0))
    assert np.ptp(own) > 0.15 * own.mean()  # the pattern
    assert np.ptp(seen) < left * np.ptp(own)
    assert np.ptp(seen) < 0.5 * (painter.range.high - painter.range.low) / BANDS  # less than half a shade
    assert seen.mean() == pytest.approx(own.mean(), rel=0.01)


def test_stretch_is_seen_where_it_is(open_page: Any) -> None:
    """What is pulled at one point is seen there, though the stretch of springs is averaged."""
    page = open_page("five-balls")
    page.set(page.panel.color_by, "Stretch")
    painter, world = page.panel.painter, page.playground.world
    of_drawn = painter.measure.owner[painter.measure.element]
    view = world.sim["red"]
    tip = int(np.argmax(view.positions[:, 2]))
    pulled = view.positions.copy()
    pulled[tip] += [0.0, 0.0, 0.1]
    view.positions = pulled
    frame = world.sim.frame()
    drawn = painter.measure.on_skin("stretch", painter.measure.values("stretch", frame), frame)
    start = world.layout.bodies[0].start
    most = painter.measure.drawn[int(np.argmax(np.where(of_drawn == 0, drawn, -1.0)))]
    away = np.linalg.norm(page.playground.nodes.skin.points(frame)[most] - frame.positions[start + tip], axis=1)
    assert away.min() < 0.2
    assert drawn[of_drawn == 0].max() > 1.2 * np.median(drawn[of_drawn == 0])


@pytest.mark.parametrize("time", [0.0, 0.7, 4.0, 60.0])
def test_steps_of_diffusion_reach_their_time_and_are_stable(time: float) -> None:
    """Few steps: 2 (n² + n) / 3 for n of them. What has an eigenvalue from 0 to 1 of an average does not grow."""
    steps = diffusion_steps(time)
    assert steps.sum() == pytest.approx(time)
    assert 2.0 * (len(steps) ** 2 - len(steps)) / 3.0 <= time + 1e-9
    kept = np.prod(1.0 - steps[:, None] * np.linspace(0.0, 1.0, 101), axis=0)
    assert np.abs(kept).max() <= 1.0 + 1e-12
