"""Small geometry of the painters: which surfaces hide their inner side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.layouts import ball_frame, ball_layout
from turgor import shapes
from turgor.record.geometry import is_closed, is_star_shaped
from turgor.record.render import Painter


def test_closed_surfaces_have_two_faces_at_each_edge_that_turn_the_same_way():
    faces = np.asarray(shapes.icosphere(1.0, 1).faces)
    assert is_closed(faces)
    assert is_closed(np.asarray(shapes.torus(1.0, 0.3).faces))
    assert not is_closed(faces[1:])
    assert not is_closed(np.concatenate([faces[1:], faces[:1, ::-1]]))
    assert not is_closed(np.concatenate([faces, faces[:1]]))
    assert not is_closed(faces[:0])


def test_star_shaped_surfaces_are_seen_from_their_middle():
    ball, ring = shapes.icosphere(1.0, 2), shapes.torus(1.0, 0.3)
    far = np.array([30.0, -20.0, 10.0])
    assert is_star_shaped(ball.vertices + far, ball.faces)
    assert not is_star_shaped(ring.vertices, ring.faces)
    assert not is_star_shaped(ball.vertices, ball.faces[:, ::-1])  # inside out
    pushed = ball.vertices.copy()
    pushed[0] *= -1.2  # out at the other side
    assert not is_star_shaped(pushed, ball.faces)
    assert not is_star_shaped(np.full_like(pushed, np.nan), ball.faces)


@pytest.mark.picture
@pytest.mark.parametrize("whole", [True, False])
def test_the_inner_side_is_drawn_where_it_can_be_seen(whole):
    """A ball that is open towards the camera shows the inner side of its skin; a whole one never does."""
    pytest.importorskip("vtkmodules")
    layout, points = ball_layout(color=(0.9, 0.2, 0.2))
    if not whole:
        body = layout.bodies[0]
        kept = body.faces[points[body.faces].mean(axis=1)[:, 1] > -0.2]
        layout = replace(layout, bodies=(replace(body, faces=kept),))
    with Painter(layout, size=(320, 180), smooth=False) as painter:
        painter.draw(ball_frame(points, 0, 1.0))
        window, skin = painter._painter._window, painter._painter._surfaces[0]._actor.GetProperty()
        assert bool(skin.GetBackfaceCulling()) == whole
        seen = np.array(window.render(), int)
        skin.SetBackfaceCulling(not skin.GetBackfaceCulling())
        changed = (np.abs(window.render() - seen).max(axis=2) > 20).sum()
    assert changed < 5 if whole else changed > 100
