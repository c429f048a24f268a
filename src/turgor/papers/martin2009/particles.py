"""Martin 2009, section 6.5: the four pictures, with the collision particles drawn on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor.diagnose import penetration
from turgor.output.frame import Frame, Layout
from turgor.papers.drawing.stills import cover, jpeg
from turgor.papers.martin2009.benchmarks import paper_scene, with_skin
from turgor.papers.report.blocks import Block, Picture, Row, Table, Text
from turgor.record.camera import camera_place, on_screen, scene_points
from turgor.record.look import Look, Pixels
from turgor.record.render import Painter
from turgor.simulation.simulation import Simulation

__all__ = ["Shot", "blocks", "draw_particles", "hidden", "shoot"]

FloatArray = npt.NDArray[np.float64]
SIZE = (480, 320)
DOT = 3.5  # pixels
SEEN, BEHIND, EDGE = (216, 30, 44, 255), (216, 30, 44, 80), (255, 255, 255, 255)
#: How particles are used: contact method, and whether bodies have the paper's skin (else turgor's, 5 % of an edge).
WAYS = {
    "as in the paper": ("particles-martin", True),
    "at least 16 on a body": ("particles", True),
    "at least 16, thin skin": ("particles", False),
}
#: Caption, scene, bodies of it, the paper's meshes, particles shown (else turgor's default method), time of the still
#: in s, azimuth of the camera.
SHOTS: tuple[tuple[str, str, tuple[str, ...], bool, bool, float, float], ...] = (
    ("two soft spheres in collision", "two-spheres", (), True, True, 0.42, -66.0),
    (
        "three soft spheres and a soft torus",
        "spheres-torus-cubes",
        ("torus", "first", "second", "third"),
        False,
        False,
        0.5,
        -66.0,
    ),
    (
        "three soft spheres, a torus and four rigid cubes",
        "spheres-torus-cubes",
        (),
        True,
        True,
        0.45,
        -66.0,
    ),
    ("a soft cat and a soft sphere", "cat-and-sphere", (), False, False, 0.4, -115.0),
)


@dataclass(frozen=True)
class Shot:
    """A moment of a scene."""

    layout: Layout
    frame: Frame
    places: FloatArray  # (n, 3) m: collision particles; none with other methods
    near: int  # of these, within a tenth of a body's size and the skins of the body that they look for
    share: float  # particles per vertex of the bodies that have some
    depth: float  # m: the deepest vertex of a body in another


def shoot(name: str, keep: tuple[str, ...], coarse: bool, way: str, seconds: float) -> Shot:
    """Runs to the moment; way: one of WAYS, or "" for turgor's default method."""
    method, thick = WAYS.get(way, ("features", False))
    scene = paper_scene(name, keep, coarse)
    sim = Simulation(with_skin(scene) if thick else scene, contact=method)
    for _ in range(round(seconds * sim.settings.fps)):
        sim.step()
    layout, frame = sim.layout, sim.frame()
    if not way:
        return Shot(layout, frame, np.zeros((0, 3)), 0, 0.0, 0.0)
    found = sim.collision_particles()
    skins = 2.0 * max(body.skin or 0.0 for body in sim.scene.soft_bodies)
    near, share = 0, []
    for owner, other in {*zip(found["owner"].tolist(), found["other"].tolist(), strict=True)}:
        mine = found["position"][(found["owner"] == owner) & (found["other"] == other)]
        points = _points(layout, frame, other)
        gaps = np.linalg.norm(mine[:, None] - points, axis=2).min(axis=1)
        near += int((gaps < 0.1 * np.ptp(points, axis=0).max() + skins).sum())
        share.append(len(mine) / layout.bodies[owner].count)
    pairs = penetration.touching_boxes(penetration.surfaces(layout, frame))
    depth = max((penetration.overlap(a, b).depth for a, b in pairs), default=0.0)
    return Shot(layout, frame, found["position"], near, float(np.mean(share)) if share else 0.0, depth)


def _points(layout: Layout, frame: Frame, body: int) -> FloatArray:
    entry = layout.bodies[body]
    return frame.positions[entry.start : entry.start + entry.count]


def hidden(points: FloatArray, eye: FloatArray, corners: FloatArray) -> npt.NDArray[np.bool_]:
    """(n,): whether a triangle (m, 3, 3) is between the eye and the point (Möller and Trumbore 1997)."""
    ways = points - eye
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    out = np.zeros(len(points), bool)
    arm = eye - corners[:, 0]
    for number, way in enumerate(ways):
        side = np.cross(way, second)
        whole = np.einsum("ij,ij->i", first, side)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.einsum("ij,ij->i", arm, side) / whole
            v = np.cross(arm, first) @ way / whole
            along = np.einsum("ij,ij->i", second, np.cross(arm, first)) / whole
        out[number] = bool(np.any((u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (along > 0.0) & (along < 0.995)))
    return out


def draw_particles(picture: Pixels, shot: Shot, look: Look) -> Pixels:
    """The picture with a dot for each particle; those behind a surface are pale."""
    from PIL import Image, ImageDraw

    eye, target = camera_place(scene_points(shot.layout, shot.frame), look)
    faces = np.concatenate([np.asarray(body.faces, np.int64) + body.start for body in shot.layout.bodies])
    behind = hidden(shot.places, eye, shot.frame.positions[faces])
    base = Image.fromarray(picture).convert("RGBA")
    film = Image.new("RGBA", base.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(film)
    for (x, y), pale in zip(on_screen(shot.places, eye, target, look.size), behind, strict=True):
        box = (x - DOT, y - DOT, x + DOT, y + DOT)
        pen.ellipse(box, fill=BEHIND if pale else SEEN, outline=SEEN if pale else EDGE)
    return np.asarray(Image.alpha_composite(base, film).convert("RGB"))


def blocks(quick: bool) -> list[Block]:
    """Section 6.5 of the report."""
    pictures: list[Block] = []
    others: list[Block] = []
    rows = []
    for caption, name, keep, coarse, particles, seconds, azimuth in SHOTS[:1] + SHOTS[2:3] if quick else SHOTS:
        drawn: list[Block] = [] if particles else others
        for way in WAYS if particles else ("",):
            shot = shoot(name, keep, coarse, way, seconds)
            look = Look(size=SIZE, zoom=1.1, view=(azimuth, 17.0))
            with Painter(shot.layout, size=SIZE, zoom=look.zoom, view=look.view) as painter:
                image = painter.draw(shot.frame)
            if particles:
                image = draw_particles(image, shot, look)
                rows.append([name, way, len(shot.places), shot.share, shot.near, 1e3 * shot.depth])
            words = f"`{name}`: {caption}{f' ({way})' if way else ''}; t = {shot.frame.time:.2f} s"
            drawn.append(Picture(jpeg(image), words, width=480, cover=cover(image)))
        if particles:
            pictures.append(Row(drawn))
    return [
        Text(
            "The paper shows two spheres in collision, three spheres with a torus, the same with four rigid cubes, "
            "and a cat with a sphere; in two of the pictures the collision particles are drawn."
        ),
        *pictures,
        Row(others),
        Table(
            [
                "scene", "particles", "number", "per vertex of their bodies", "near the body they look for",
                "deepest vertex now, mm",
            ],
            rows,
            "Red dots are the collision particles (pale: behind a surface); each body has its own for every soft body "
            "that is close. Soft-rigid pairs have none, as in the paper. As in the paper "
            "(`contact = \"particles-martin\"`): an eighth as many as vertices, its skin of a sixth of a ball's "
            "radius, ten rounds per frame. turgor's variant (`contact = \"particles\"`) has at least 16 on a body, as "
            "an eighth of 58 vertices covers little, with the paper's skin and with turgor's of 5 % of an edge.",
        ),
        Text(
            "The particles gather where the bodies are closest, as the paper describes; the playground draws "
            "them too (tab View, with the method chosen in the tab Change). With the paper's skin bodies stop up to a "
            "third of a radius apart; with a thin one the same particles miss what comes between them.",
            "measured",
        ),
    ]  # fmt: skip
