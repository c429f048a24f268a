"""Which feature gives the normal of a contact between soft bodies (B14; Martin 2009, 5.2.1.1 and 5.3.1).

"Each normal must point away from a higher order face (triangle being the highest) and towards a lower-order face"; of
two equals, away from the second object. One particle on each of two tetrahedra is put on a chosen feature.
"""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support.contact_stage import Stage, scene_of
from turgor.contact.martin2009.method import MartinContacts

KINDS = {"vertex": 1, "edge": 2, "triangle": 3}
# corner 0 at the origin, edge 0-1 and triangle 0-1-2 in the plane x = 0, the rest to the left: what looks to the right
VERTEX = np.array([[0.0, 0.0, 0.0], [-0.5, 0.3, -0.2], [-0.4, -0.3, -0.1], [-0.5, 0.1, 0.4]])
EDGE = np.array([[0.0, -0.2, -0.1], [0.0, 0.2, 0.1], [-0.5, -0.3, 0.4], [-0.4, 0.2, -0.5]])
TRIANGLE = np.array([[0.0, -0.3, -0.2], [0.0, 0.4, -0.2], [0.0, -0.1, 0.5], [-0.5, 0.1, 0.1]])
LOOKING = {"vertex": VERTEX, "edge": EDGE, "triangle": TRIANGLE}


def outwards(vertices):
    """Faces of a tetrahedron, counter-clockwise seen from outside."""
    faces = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]
    a, b, c, d = vertices
    return faces if np.dot(np.cross(b - a, c - a), d - a) < 0.0 else [face[::-1] for face in faces]


def pair(left, right, gap, skin=0.05):
    """Two tetrahedra whose features look at each other along x, `gap` apart, and a particle on each of the two."""
    bodies, targets = [], []
    for side, kind in ((-1.0, left), (1.0, right)):
        vertices = LOOKING[kind] * ([1, 1, 1] if side < 0.0 else [-1, 1, -1])
        shape = turgor.shapes.mesh(vertices, outwards(vertices))
        bodies.append((shape, {"at": (0.5 * gap * side, 0.0, 0.0), "skin": skin}))
        targets.append(vertices[: KINDS[kind]] + np.array([0.5 * gap * side, 0.0, 0.0]))
    stage = Stage(scene_of(3, *bodies), MartinContacts)
    f = stage.contacts.features
    places = []
    for body, target in enumerate(targets):
        own = stage.body(body)
        # the model has an order of its own
        corners = {own.start + int(np.linalg.norm(stage.x[own] - point, axis=1).argmin()) for point in target}
        rows = range(f.feature_start[body], f.feature_start[body + 1])
        (place,) = [row for row in rows if {int(c) for c in f.corners[row] if c >= 0} == corners]
        places.append(place)
    stage.contacts.particle_feature.assign(np.array(places, np.int32))
    stage.plan(np.zeros_like(stage.x))
    stage.contacts.begin_frame()
    stage.contacts.due.zero_()  # the particles stay
    stage.contacts.find()
    return stage.contacts.found()


@pytest.mark.req("B14")
@pytest.mark.parametrize("right", KINDS)
@pytest.mark.parametrize("left", KINDS)
def test_normals_point_from_the_higher_feature_to_the_lower(left, right):
    found = pair(left, right, gap=0.02)
    assert len(found["depth"]) == 1
    first = 1 if KINDS[left] > KINDS[right] else 0  # the lower one; of two equals the first body's
    assert found["pair"][0].tolist() == [first, 1 - first]
    away = 1.0 if first else -1.0  # from the second body of the row to the first
    assert found["normal"][0] == pytest.approx([away, 0.0, 0.0], abs=1e-9)
    assert found["depth"][0] == pytest.approx(0.1 - 0.02, abs=1e-12)  # two skins, less the gap


@pytest.mark.req("B14")
@pytest.mark.parametrize(
    ("left", "right", "owner"),
    [("vertex", "triangle", 1), ("triangle", "vertex", 0), ("edge", "triangle", 1), ("triangle", "edge", 0),
     ("triangle", "triangle", 1)],
)  # fmt: skip
def test_features_without_a_gap_take_the_normal_of_the_higher_one(left, right, owner):
    """Where there is no gap to give a direction it is the outward normal of the triangle; of two, the second body's."""
    found = pair(left, right, gap=0.0)
    assert len(found["depth"]) == 1
    assert found["pair"][0].tolist() == [1 - owner, owner]
    assert found["normal"][0] == pytest.approx([-1.0 if owner else 1.0, 0.0, 0.0], abs=1e-12)


@pytest.mark.req("B14")
@pytest.mark.parametrize("left", ["vertex", "edge"])
def test_the_lower_feature_has_no_say_in_the_normal(left):
    """The surface around the vertex or the edge is slanted; the normal is that of the triangle all the same."""
    vertices = LOOKING[left]
    faces = np.array(outwards(vertices))
    around = [face for face in faces if set(range(KINDS[left])) <= set(face.tolist())]
    mean = sum(np.cross(*(vertices[face[1:]] - vertices[face[0]])) for face in around)
    assert abs(mean[0]) < 0.999 * np.linalg.norm(mean)
    for gap in (0.0, 0.03):
        assert pair(left, "triangle", gap)["normal"][0] == pytest.approx([-1.0, 0.0, 0.0], abs=1e-9)
