"""Several images on one surface: shells that are joined, and materials of one shell, keep what they look like.

Images tell where they belong: red and green follow longitude and latitude smoothly, blue is the number of the image. So
the colour that each face should have is known from its place alone.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
import trimesh
from PIL import Image

import turgor
from turgor import shapes
from turgor.shapes.paint import Material, joined

pytestmark = pytest.mark.req("X5")
SIZE = 64  # pixels
ALONG = 2.0  # times that an image goes around a ball


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TURGOR_CACHE", str(tmp_path / "cache"))


def colour(u, v, number):
    """(n, 3) in 0..255 at texture coordinates."""
    return np.stack([127.5 + 127.5 * np.cos(2 * np.pi * u), 255 * v, np.full_like(u, 200.0 * number)], axis=-1)


def picture(number, size=SIZE):
    v, u = (1 - (np.arange(size) + 0.5) / size)[:, None], ((np.arange(size) + 0.5) / size)[None, :]
    return Image.fromarray(np.rint(colour(*np.broadcast_arrays(u, v), number)).astype(np.uint8))


def coordinates(points, centre):
    """Longitude, ALONG times around, and latitude, from 0.1 to 0.9."""
    x, y, z = np.moveaxis(points - centre, -1, 0)
    return ALONG * np.arctan2(y, x) / (2 * np.pi), 0.5 + 0.8 * np.arctan2(z, np.hypot(x, y)) / np.pi


def ball(centre, radius, number, rows=slice(None), size=SIZE):
    """A ball, or some of its faces, with an image of its own."""
    whole = trimesh.creation.icosphere(3, radius)
    corners = whole.vertices[whole.faces[rows]] + centre
    u, v = coordinates(corners, centre)
    u += ALONG * np.round((u[:, :1] - u) / ALONG)  # corners beyond the seam
    material = trimesh.visual.material.PBRMaterial(baseColorTexture=picture(number, size), name=f"image {number}")
    visual = trimesh.visual.TextureVisuals(np.stack([u, v], axis=-1).reshape(-1, 2), material=material)
    faces = np.arange(corners.size // 3).reshape(-1, 3)
    return trimesh.Trimesh(corners.reshape(-1, 3), faces, process=False, visual=visual)


def shown(shape):
    """(m, 3) the colours in the middle of the faces, as a program draws them, and these middles (m, 3)."""
    with Image.open(shape.texture) as image:
        pixels = np.asarray(image.convert("RGB"), float)
    u, v = shape.corner_uv.mean(axis=1).T
    assert ((shape.corner_uv >= 0) & (shape.corner_uv <= 1)).all()  # in a shared image nothing repeats
    place = np.stack([u * pixels.shape[1], (1 - v) * pixels.shape[0]], axis=1).astype(int)
    return pixels[place[:, 1], place[:, 0]], shape.vertices[shape.faces].mean(axis=1)


BALLS = [(np.zeros(3), 0.5, 0), (np.array([0.55, 0.1, 0.2]), 0.35, 1)]


@pytest.mark.parametrize(("ending", "vertices"), [("glb", None), ("glb", 500), ("obj", 500)])
def test_shells_of_two_images_are_joined_and_simplified(tmp_path, ending, vertices):
    path = tmp_path / f"two.{ending}"
    trimesh.Scene([ball(*each, size=SIZE * (1 + each[2])) for each in BALLS]).export(path)
    shape = shapes.load(path, parts="union", vertices=vertices)
    assert len(shape.vertices) <= (vertices or 10_000)
    colours, middle = shown(shape)
    away = np.stack([np.abs(np.linalg.norm(middle - centre, axis=1) - radius) for centre, radius, _ in BALLS])
    owner = away.argmin(axis=0)
    clear = np.abs(away[0] - away[1]) > 0.03  # not where both meet
    assert np.unique(owner[clear]).tolist() == [0, 1]
    assert np.array_equal(colours[clear, 2], 200.0 * owner[clear])
    for number, (centre, _, _) in enumerate(BALLS):
        own = clear & (owner == number)
        expected = colour(*coordinates(middle[own], centre), number)
        off = np.abs(colours[own] - expected).max(axis=1)  # of 255; one pixel is 12
        assert np.quantile(off, 0.95) < (16 if vertices is None else 32)


@pytest.mark.parametrize("plain", [False, True])
def test_materials_of_one_shell_keep_their_images(tmp_path, plain):
    centre = np.zeros(3)
    whole = trimesh.creation.icosphere(3, 0.5)
    upper = whole.triangles_center[:, 2] > 0
    parts = [ball(centre, 0.5, 0, upper), ball(centre, 0.5, 1, ~upper)]
    if plain:  # the lower half has a colour only
        parts[1].visual = trimesh.visual.TextureVisuals(
            material=trimesh.visual.material.PBRMaterial(baseColorFactor=(255, 0, 0, 255))
        )
    trimesh.Scene(parts).export(tmp_path / "halves.glb")
    report = shapes.check(tmp_path / "halves.glb")
    assert report.notes == []
    for shape in (report.shapes[0], shapes.load(tmp_path / "halves.glb", vertices=400)):
        colours, middle = shown(shape)
        clear = np.abs(middle[:, 2]) > 0.03
        above = clear & (middle[:, 2] > 0)
        assert (colours[above, 2] == 0).all()
        expected = colour(*coordinates(middle[above], centre), 0)
        assert np.quantile(np.abs(colours[above] - expected).max(axis=1), 0.95) < 32
        if plain:
            assert (colours[clear & ~above] == (255, 0, 0)).all()
        else:
            assert (colours[clear & ~above, 2] == 200).all()


def test_a_texture_is_where_it_was_after_a_run(tmp_path):
    """Imported, simplified, simulated and exported: each face of the .glb has the colour that it had."""
    trimesh.Scene([ball(*each) for each in BALLS]).export(tmp_path / "two.glb")
    scene = turgor.Scene()
    scene.add_soft_body(shapes.load(tmp_path / "two.glb", parts="union", vertices=300), name="two", at=(0, 0, 2))
    sim = turgor.Simulation(scene)
    sim.run(seconds=0.05, record=tmp_path / "out.glb")
    (mesh,) = trimesh.load_scene(tmp_path / "out.glb").geometry.values()
    pixels = np.asarray(mesh.visual.material.baseColorTexture.convert("RGB"), float)
    uv = mesh.visual.uv[mesh.faces].mean(axis=1)
    place = np.stack([uv[:, 0] * pixels.shape[1], (1 - uv[:, 1]) * pixels.shape[0]], axis=1).astype(int)
    colours, _ = shown(scene["two"].shape)
    np.testing.assert_allclose(pixels[place[:, 1], place[:, 0]], colours, atol=13)  # by a pixel, as of rounding


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("other", ["damaged", "cut", "missing", "huge", "vast", "repeated"])
def test_images_that_cannot_be_put_together_are_said(tmp_path, other):
    """Of those too large only the announcement is read."""
    uv = np.random.default_rng(1).random((4, 3, 2))
    one, two = tmp_path / "a.png", tmp_path / "b.png"
    picture(0).save(one)
    picture(1).save(two)
    good = two.read_bytes()
    if other == "damaged":
        two.write_bytes(b"\x89PNG no image")
    elif other == "cut":
        two.write_bytes(good[: len(good) // 2])
    elif other == "missing":
        two.unlink()
    elif other == "repeated":
        uv[3] *= 1e30
    else:
        side = {"huge": 7_000, "vast": 60_000}[other]  # pixels
        head = b"IHDR" + struct.pack(">II", side, side) + good[24:29]
        two.write_bytes(good[:12] + head + struct.pack(">I", zlib.crc32(head)) + good[33:])
    look = joined([(3, uv[:3], Material(str(one))), (1, uv[3:], Material(str(two)))]).look()
    assert look.texture == str(one)
    assert look.note == "of 2 textures one is kept: 1 of 4 faces show a single point of it"
