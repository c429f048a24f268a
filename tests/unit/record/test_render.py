"""Pictures and videos: that they show the bodies where they are, and that other programs can open them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.layouts import GROUND_POSE_2D, ball_frame, ball_layout, disc_layout, frame_of
from turgor import shapes
from turgor.errors import SceneError
from turgor.output.frame import BodyLayout, Layout, WallLayout, WallPose
from turgor.record import Painter, open_sink
from turgor.record.camera import VIEW_ANGLE, camera_place, scene_points
from turgor.record.look import VELOCITY, Look, base_colors
from turgor.record.shadow import LIGHT

pytest.importorskip("pyvista")
Image = pytest.importorskip("PIL.Image")
imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
pytestmark = pytest.mark.picture

SMALL = (320, 180)
RED = (0.9, 0.1, 0.1)


def reddish(picture: np.ndarray) -> np.ndarray:
    """Pixels (rows, columns, bool) of a red body, in light or in shade."""
    r, g, b = np.moveaxis(picture.astype(int), -1, 0)
    return (r > 90) & (r > 1.8 * g) & (r > 1.8 * b)


def bluish(picture: np.ndarray) -> np.ndarray:
    r, g, b = np.moveaxis(picture.astype(int), -1, 0)
    return (b > 90) & (b > 1.5 * r) & (b > g + 20)


def project(point: np.ndarray, layout: Layout, frame, size: tuple[int, int]) -> tuple[float, float]:
    """Column and row at which the camera shows a world point: a pinhole, computed apart from VTK."""
    eye, target = camera_place(scene_points(layout, frame), Look(size=size))
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross([0, 0, 1], back)
    right /= np.linalg.norm(right)
    local = np.array([right, np.cross(back, right), back]) @ (point - eye)
    scale = size[1] / 2 / np.tan(np.radians(VIEW_ANGLE / 2)) / -local[2]
    return size[0] / 2 + scale * local[0], size[1] / 2 - scale * local[1]


# --- 3D


@pytest.mark.req("X9")
def test_the_ball_is_drawn_where_it_is_and_falls():
    layout, rest = ball_layout(color=RED)
    first = ball_frame(rest, 0, 1.6)
    rows = []
    with Painter(layout, size=SMALL) as painter:
        for index, height in enumerate((1.6, 1.0, 0.5)):
            picture = painter.draw(ball_frame(rest, index, height))
            assert picture.shape == (180, 320, 3)
            assert picture.dtype == np.uint8
            row, column = np.argwhere(reddish(picture)).mean(axis=0)
            expected = project(np.array([0, 0, height]), layout, first, SMALL)
            assert (column, row) == pytest.approx(expected, abs=4)  # shade hides a little of the lower side
            rows.append(row)
    assert rows[0] < rows[1] - 10 < rows[2] - 20


def test_the_ball_is_round_and_well_framed():
    layout, rest = ball_layout(color=RED)
    with Painter(layout, size=SMALL) as painter:
        shown = np.argwhere(reddish(painter.draw(ball_frame(rest, 0, 0.5))))
    height, width = np.ptp(shown, axis=0)
    assert width == pytest.approx(height, rel=0.08)
    assert 0.5 * 180 < height < 0.9 * 180


@pytest.mark.req("X9")
def test_the_shadow_darkens_the_floor_and_sharpens_as_the_ball_comes_down():
    layout, rest = ball_layout(color=RED)
    first = ball_frame(rest, 0, 1.6)
    darkest = []
    with Painter(layout, size=SMALL) as painter:
        for index, height in enumerate((1.6, 0.9)):
            picture = painter.draw(ball_frame(rest, index, height)).astype(float).mean(axis=2)
            foot = np.array([0, 0, height]) - height / LIGHT[2] * LIGHT
            column, row = (round(value) for value in project(foot, layout, first, SMALL))
            under = picture[row - 1 : row + 2, column - 1 : column + 2].mean()
            aside = picture[row - 1 : row + 2, :12].mean()
            assert under < aside - 15
            darkest.append(under)
    assert darkest[1] < darkest[0] - 5


def test_the_background_is_bright_and_not_uniform():
    layout, rest = ball_layout()
    layout = replace(layout, walls=())
    with Painter(layout, size=SMALL) as painter:
        picture = painter.draw(replace(ball_frame(rest, 0, 0.0), walls=()))
    assert picture[0].mean() > 250
    assert 225 < picture[-1].mean() < picture[0].mean() - 10


def test_the_camera_does_not_move():
    layout, rest = ball_layout(color=RED)
    with Painter(layout, size=SMALL) as painter:
        before, after = (painter.draw(ball_frame(rest, i, height))[:, :60] for i, height in enumerate((1.6, 0.6)))
    np.testing.assert_array_equal(before, after)  # the floor at the left


def test_the_same_frame_gives_the_same_picture():
    layout, rest = ball_layout()
    with Painter(layout, size=SMALL) as painter:
        one, _, again = (painter.draw(ball_frame(rest, 0, height)) for height in (1.0, 0.7, 1.0))
    np.testing.assert_array_equal(one, again)


@pytest.mark.req("D7")
def test_velocity_vectors_are_red_and_point_along_the_velocity():
    layout, rest = ball_layout(color=(0.2, 0.4, 0.9))
    frame = replace(ball_frame(rest, 0, 1.2), velocities=np.tile([0.0, 0.0, -5.0], (len(rest), 1)))
    with Painter(layout, size=SMALL) as painter:
        plain = painter.draw(frame)
    with Painter(layout, size=SMALL, velocities=True) as painter:
        drawn = painter.draw(frame)
        still = painter.draw(replace(frame, velocities=np.zeros_like(rest)))
    assert not reddish(plain).any()
    assert not reddish(still).any()
    assert reddish(drawn).sum() > 100
    assert np.argwhere(reddish(drawn)).mean(axis=0)[0] > np.argwhere(bluish(plain)).mean(axis=0)[0] + 5


@pytest.mark.req("A8")
def test_colour_follows_pressure():
    one, rest = ball_layout()
    body = one.bodies[0]
    two = replace(one, bodies=(body, replace(body, name="b", start=body.count)), walls=())
    positions = np.concatenate([rest - [0.7, 0, 0], rest + np.array([0.7, 0, 0])])
    frame = replace(frame_of(positions, 0, 2), pressures=np.array([1.0e5, 1.4e5]))
    with Painter(two, size=SMALL, color_by="pressure") as painter:
        picture = painter.draw(frame)
        swapped = painter.draw(replace(frame, pressures=frame.pressures[::-1]))
        without_gas = painter.draw(replace(frame, pressures=np.array([np.nan, 1.4e5])))
    assert bluish(picture)[:, :160].sum() > 500 > bluish(picture)[:, 160:].sum()
    assert reddish(picture)[:, 160:].sum() > 500 > reddish(picture)[:, :160].sum()
    assert bluish(swapped)[:, 160:].sum() > 500
    assert not bluish(without_gas).any()


def test_colour_follows_speed_and_limits_hold_it_still():
    layout, rest = ball_layout()
    frame = replace(ball_frame(rest, 0, 1.0), velocities=np.tile([0.0, 0.0, -1.0], (len(rest), 1)))
    with Painter(layout, size=SMALL, color_by="speed", limits=(0.0, 10.0)) as painter:
        assert bluish(painter.draw(frame)).sum() > 500
        assert reddish(painter.draw(replace(frame, velocities=10 * frame.velocities))).sum() > 500


def test_cloth_is_drawn_from_both_sides_with_its_texture(tmp_path):
    sheet = shapes.sheet(size=(1, 1), resolution=(6, 6))
    body = BodyLayout("flag", "cloth", 0, len(sheet.vertices), np.asarray(sheet.faces, np.int32), uv=sheet.uv)
    layout = Layout("flag", 3, 60.0, (body,))
    halves = np.zeros((8, 8, 3), np.uint8)
    halves[:4], halves[4:] = (230, 20, 20), (20, 60, 230)  # red above blue
    Image.fromarray(halves).save(tmp_path / "halves.png")
    for azimuth in (-90.0, 90.0):
        options = {"size": SMALL, "view": (azimuth, 0.0)}
        with Painter(layout, texture=tmp_path / "halves.png", **options) as painter:
            picture = painter.draw(frame_of(np.asarray(sheet.vertices, float), 0, 1))
        red, blue = reddish(picture), bluish(picture)
        assert min(red.sum(), blue.sum()) > 1000
        assert np.argwhere(red).mean(axis=0)[0] < np.argwhere(blue).mean(axis=0)[0]
        with Painter(layout, **options) as painter:
            stripes = painter.draw(frame_of(np.asarray(sheet.vertices, float), 0, 1))
        assert len(np.unique(stripes[20:160, 160].astype(int) // 40, axis=0)) >= 3


def test_a_container_is_drawn_and_turns():
    _, rest = ball_layout()
    layout, _ = ball_layout(color=RED)
    layout = replace(layout, walls=(WallLayout("box", "container", (), (3.0, 3.0, 3.0)),))
    angle = 0.4
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    with Painter(layout, size=SMALL) as painter:
        straight, turned = (
            painter.draw(frame_of(rest, 0, 1, (WallPose(np.zeros(3), rotation),))) for rotation in (np.eye(3), turn)
        )
    dark = [np.argwhere(picture.mean(axis=2) < 190) for picture in (straight, turned)]
    assert min(map(len, dark)) > 300
    changed = np.abs(straight.astype(int) - turned).max(axis=2) > 40
    assert changed.sum() > 300
    for pixels in dark:  # all of it is in the picture
        assert pixels.min() > 1
        assert (pixels.max(axis=0) < (179, 319)).all()


def test_an_exploded_run_can_be_drawn():
    layout, rest = ball_layout()
    broken = rest.copy()
    broken[::3] = np.nan
    broken[1::3] = np.inf
    with Painter(layout, size=SMALL, velocities=True) as painter:
        painter.draw(ball_frame(rest, 0, 1.0))
        assert painter.draw(ball_frame(broken, 1, 1.0)).std() > 0


def test_bodies_have_their_own_colours():
    layout, _ = ball_layout()
    body = layout.bodies[0]
    many = [replace(body, name=str(k), kind=kind) for k, kind in enumerate(["soft"] * 4 + ["rigid", "cloth"])]
    colors = base_colors(replace(layout, bodies=(*many, replace(body, color=RED))))
    assert len(set(colors)) == 7
    assert colors[-1] == RED


# --- 2D


@pytest.mark.req("A8")
def test_2d_discs_are_filled_and_outlined_in_their_place():
    layout, rest = disc_layout(points=40)
    with Painter(layout, size=SMALL) as painter:
        high = painter.draw(frame_of(rest, 0, 2, GROUND_POSE_2D))
        low = painter.draw(frame_of(rest - [0, 0.4], 1, 2, GROUND_POSE_2D))
    red, blue = np.argwhere(reddish(high)), np.argwhere(bluish(high))
    assert red[:, 1].max() < blue[:, 1].min()
    area = np.pi / 4 * np.ptp(red[:, 0]) * np.ptp(red[:, 1])
    assert len(red) == pytest.approx(area, rel=0.1)  # a full disc
    assert np.argwhere(reddish(low)).mean(axis=0)[0] > red.mean(axis=0)[0] + 10
    row = high[int(red.mean(axis=0)[0])].astype(int)
    left, middle = red[:, 1].min(), int(red.mean(axis=0)[1])
    assert row[left : left + 4].sum(axis=1).min() < row[middle].sum() - 60  # the outline is darker than the filling


@pytest.mark.req("A8", "D7")
def test_2d_normals_point_outwards_and_velocities_are_red():
    layout, rest = disc_layout(points=16)  # normals stand on the segments, as those that the physics knows
    layout = replace(layout, bodies=tuple(replace(body, color=(0.95, 0.75, 0.2)) for body in layout.bodies))
    frame = replace(frame_of(rest, 0, 2, GROUND_POSE_2D), velocities=np.tile([2.0, 0.0], (len(rest), 1)))
    pictures = {}
    for option in ("none", "normals", "velocities"):
        options = {} if option == "none" else {option: True}
        with Painter(layout, size=(640, 360), smooth=False, **options) as painter:
            pictures[option] = painter.draw(frame)
    body = np.abs(pictures["none"].astype(int) - (242, 191, 51)).sum(axis=2) < 20
    navy = bluish(pictures["normals"])
    assert navy.sum() > 100
    assert not (navy & body).any()  # outside of the bodies
    red = np.abs(pictures["velocities"].astype(int) - np.array(VELOCITY) * 255).sum(axis=2) < 30
    assert red.sum() > 100


def test_2d_needs_no_graphics_driver(monkeypatch):
    monkeypatch.setitem(sys.modules, "vtkmodules", None)
    layout, rest = disc_layout()
    assert Painter(layout, size=SMALL).draw(frame_of(rest, 0, 2, GROUND_POSE_2D)).std() > 5


def test_a_time_stamp_is_written():
    layout, rest = disc_layout()
    frame = frame_of(rest, 30, 2, GROUND_POSE_2D)
    plain, stamped = (Painter(layout, size=SMALL, timestamp=flag).draw(frame) for flag in (False, True))
    assert (plain != stamped)[130:, :160].any()
    assert not (plain != stamped)[:130].any()


# --- files


def record_ball(path: Path, count: int = 6, **options) -> None:
    layout, rest = ball_layout(color=RED)
    with open_sink(path, layout, size=SMALL, **options) as sink:
        for index in range(count):
            sink.add(ball_frame(rest, index, 1.6 - 0.2 * index))


@pytest.mark.req("X9")
def test_mp4_plays(tmp_path):
    record_ball(tmp_path / "drop.mp4", count=7)
    reader = imageio_ffmpeg.read_frames(str(tmp_path / "drop.mp4"))
    about = next(reader)
    pictures = [np.frombuffer(data, np.uint8).reshape(180, 320, 3) for data in reader]
    assert about["size"] == SMALL
    assert about["fps"] == 60.0
    assert about["codec"] == "h264"
    assert about["pix_fmt"].startswith("yuv420p")
    assert len(pictures) == 7
    rows = [np.argwhere(reddish(picture)).mean(axis=0)[0] for picture in pictures]
    assert np.all(np.diff(rows) > 3)
    assert os.listdir(tmp_path) == ["drop.mp4"]


def test_mp4_takes_odd_sizes_and_its_own_rate(tmp_path):
    layout, rest = disc_layout()
    with open_sink(tmp_path / "a:b.mp4", layout, fps=24, size=(321, 181)) as sink:
        sink.add(frame_of(rest, 0, 2, GROUND_POSE_2D))
    about = next(imageio_ffmpeg.read_frames(str(tmp_path / "a:b.mp4")))
    assert (about["size"], about["fps"]) == (SMALL, 24.0)


@pytest.mark.req("X9")
def test_gif_plays_in_real_time(tmp_path):
    record_ball(tmp_path / "drop.gif", count=12)
    with Image.open(tmp_path / "drop.gif") as gif:
        assert gif.size == SMALL
        assert gif.n_frames == 5  # 12/60 s at 25 pictures per second
        assert gif.info["duration"] == 40
        assert gif.info["loop"] == 0
        first = np.asarray(gif.convert("RGB"))
        gif.seek(4)
        last = np.asarray(gif.convert("RGB"))
    assert np.argwhere(reddish(last)).mean(axis=0)[0] > np.argwhere(reddish(first)).mean(axis=0)[0] + 15
    assert os.listdir(tmp_path) == ["drop.gif"]


@pytest.mark.req("X9")
def test_png_is_the_last_frame_seen_as_in_the_video(tmp_path):
    layout, rest = ball_layout(color=RED)
    record_ball(tmp_path / "drop.png", count=4)
    with Painter(layout, size=SMALL) as painter:
        painter.aim(ball_frame(rest, 0, 1.6))
        expected = painter.draw(ball_frame(rest, 3, 1.0))
    with Image.open(tmp_path / "drop.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture), expected)


def test_numbered_pictures(tmp_path):
    record_ball(tmp_path / "f_%03d.png", count=3)
    assert sorted(os.listdir(tmp_path)) == ["f_000.png", "f_001.png", "f_002.png"]


@pytest.mark.parametrize("name", ["a.mp4", "a.gif", "a.png"])
def test_a_failed_run_leaves_no_video_and_spares_the_old_one(tmp_path, name):
    (tmp_path / name).write_text("old")
    layout, rest = disc_layout()
    sink = open_sink(tmp_path / name, layout, size=SMALL)
    sink.add(frame_of(rest, 0, 2, GROUND_POSE_2D))
    sink.close(success=False)
    assert (tmp_path / name).read_text() == "old"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": (0, 100)}, "size"),
        ({"color_by": "mood"}, "color_by"),
        ({"limits": (2.0, 1.0)}, "limits"),
        ({"velocity_seconds": 0.0}, "velocity_seconds"),
        ({"zoom": 0.0}, "zoom"),
        ({"texture": "none.jpg"}, "texture"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_options_are_refused(tmp_path, options, message):
    layout, _ = disc_layout()
    with pytest.raises(SceneError, match=message):
        open_sink(tmp_path / "a.mp4", layout, **options)
    assert list(tmp_path.iterdir()) == []


def test_without_opengl_the_user_is_told_what_to_install(monkeypatch):
    def none(name):
        raise OSError(name)

    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("VTK_DEFAULT_OPENGL_WINDOW", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", none)
    layout, rest = ball_layout()
    with pytest.raises(SceneError, match="apt-get install libegl1"):
        Painter(layout, size=SMALL).draw(ball_frame(rest, 0, 1.0))


def test_recording_imports_nothing_heavy():
    heavy = "h5py", "pyvista", "vtkmodules", "PIL", "imageio_ffmpeg", "matplotlib"
    code = f"import sys, turgor.record; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_3d_picture_needs_vtk_only():
    """PyVista and the Matplotlib that it imports take longer than forty pictures."""
    code = (
        "import sys; from support.layouts import ball_frame, ball_layout; from turgor.record.render import Painter\n"
        "layout, rest = ball_layout(); print(Painter(layout, size=(64, 64)).draw(ball_frame(rest, 0, 1.0)).std() > 5)\n"
        "print({'pyvista', 'matplotlib'} & {*sys.modules}, 'vtkmodules' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.splitlines() == ["True", "set() True"]


@pytest.mark.req("X11")
@pytest.mark.parametrize("dim", [2, 3])
def test_colour_follows_stress_of_materials(dim):
    """In 3D one half of a ball is stressed more, in 2D one of two discs; without a value it is grey."""
    layout, points = ball_layout() if dim == 3 else disc_layout()
    layout = replace(layout, bodies=tuple(replace(body, material=True) for body in layout.bodies), walls=())
    faces = np.concatenate([body.faces + body.start for body in layout.bodies])
    right = points[faces].mean(axis=1)[:, 0] > 0
    stress = np.stack([np.where(right, 3e6, 1e6), np.zeros(len(right))], axis=1)
    frame = replace(frame_of(points, 0, len(layout.bodies)), stress=stress)
    with Painter(layout, size=SMALL, color_by="stress", view=(-90.0, 10.0)) as painter:
        picture = painter.draw(frame)
        plain = painter.draw(replace(frame, stress=np.full_like(stress, np.nan)))
    assert reddish(picture)[:, 165:].sum() > 500 > reddish(picture)[:, :150].sum()
    assert bluish(picture)[:, :155].sum() > 500 > bluish(picture)[:, 170:].sum()
    assert not reddish(plain).any()
    assert not bluish(plain).any()
