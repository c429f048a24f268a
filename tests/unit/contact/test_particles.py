"""2009's contact method, launched by hand (B9, B10, B12, B19): pairs, particles, inside and outside."""

import numpy as np
import pytest
import warp as wp

import turgor
from reference.features import closest_features
from support.contact_stage import BALL, Stage, scene_of, two_balls
from support.laws import DEVICE, PRECISIONS
from turgor.contact.martin2009 import soft_rigid
from turgor.contact.martin2009.method import MartinContacts
from turgor.contact.martin2009.particles import CORE
from turgor.contact.martin2009.placement import features_of, particle_count
from turgor.kernel.numbers import numbers, start_warp
from turgor.model.saved import Rollback

BOX = turgor.shapes.box((1.0, 1.0, 1.0))


def places(stage):
    return stage.contacts.particle_feature.numpy().copy()


def middles(stage):
    """(features, dim) of the first world: where a particle on each would be."""
    corners, x = stage.contacts.features.corners, stage.x
    return np.array([x[row[row >= 0]].mean(axis=0) for row in corners])


# the tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.req("B10")
def test_features_of_a_tetrahedron_and_their_neighbours():
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], np.int32)
    corners, links = features_of(faces, 4)
    sets = [frozenset(int(c) for c in row if c >= 0) for row in corners]
    assert len(sets) == len(set(sets)) == 4 + 6 + 4
    part_of = {(a, b) for a in range(14) for b in range(14) if a != b and (sets[a] < sets[b] or sets[b] < sets[a])}
    assert sorted(map(tuple, links.tolist())) == sorted(part_of)


@pytest.mark.req("B10")
def test_features_of_an_outline_are_its_vertices_and_edges():
    corners, links = features_of(np.array([[0, 1], [1, 2], [2, 0]], np.int32), 3)
    assert corners.tolist() == [[0, -1, -1], [1, -1, -1], [2, -1, -1], [0, 1, -1], [1, 2, -1], [2, 0, -1]]
    assert len(links) == 2 * 6
    assert [3, 0] in links.tolist()
    assert [1, 3] in links.tolist()


@pytest.mark.req("B10")
def test_an_eighth_as_many_particles_as_vertices():
    assert particle_count(800, 5000) == 100
    assert particle_count(801, 5000) == 101
    assert particle_count(16, 90) == 16  # turgor's least
    assert particle_count(3, 6) == 6  # never two on one feature


@pytest.mark.req("B10")
@pytest.mark.parametrize(("method", "count"), [("particles", 16), ("particles-martin", 8)])
def test_an_eighth_of_few_vertices_can_be_had(method, count):
    """The paper's sphere has 58 vertices: 8 particles to the letter, where turgor's own choice is 16."""
    sphere = turgor.shapes.uv_sphere(radius=0.5, stacks=8, slices=8)
    scene = scene_of(3, (sphere, {}), (sphere, {"at": (1.1, 0.0, 0.0)}))
    sim = turgor.Simulation(scene, contact=method)
    sim.step()
    assert np.bincount(sim.collision_particles()["owner"]).tolist() == [count, count]
    assert Stage(scene, MartinContacts).contacts.features.pair_counts.tolist() == [[8, 8]]


@pytest.mark.req("B10")
def test_one_list_per_pair_of_bodies():
    shapes = [(BALL(), {"at": (1.2 * i, 0.0, 0.0)}) for i in range(3)]
    f = Stage(scene_of(3, *shapes)).contacts.features
    assert f.pair.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert (f.pair_counts == -(-162 // 8)).all()
    for p, pair in enumerate(f.pair):
        rows = np.split(f.places[f.pair_start[p] : f.pair_start[p + 1]], [f.pair_counts[p][0]])
        for body, row in zip(pair, rows, strict=True):
            assert len(set(row.tolist())) == len(row)
            assert (row >= f.feature_start[body]).all()
            assert (row < f.feature_start[body + 1]).all()


# broad phase ----------------------------------------------------------------------------------------------------------


@pytest.mark.req("B9")
@pytest.mark.parametrize(("distance", "meet"), [(1.73, True), (1.79, False)])
def test_spheres_through_the_corners_of_the_boxes(distance, meet):
    """Cubes of 1 m have spheres of √3/2 m: they meet at 1.732 m (and two skins), though the cubes do not touch."""
    cube = turgor.shapes.box(size=(1.0, 1.0, 1.0), subdivisions=2)
    stage = Stage(scene_of(3, (cube, {"at": (0.0, 0.0, 0.0)}), (cube, {"at": (distance, 0.0, 0.0)})))
    skins = 2.0 * stage.surfaces.thickness.numpy()[0]
    assert 1.73 < np.sqrt(3.0) + skins < 1.79
    stage.respond()
    assert stage.contacts.pair_count.numpy()[0] == int(meet)


@pytest.mark.req("B9")
def test_too_many_pairs_or_contacts_raise_the_flag_and_grow_makes_room():
    shapes = [(BALL(), {"at": (0.4 * i, 0.0, 0.0)}) for i in range(4)]
    stage = Stage(scene_of(3, *shapes))
    contacts = stage.contacts
    contacts.pair_capacity, contacts.contact_capacity = 2, 3
    contacts._buffers()
    before = places(stage)
    rollback = Rollback([contacts])
    contacts.find()
    assert places(stage).tolist() != before.tolist()
    assert contacts.overflow.numpy()[0] == 1
    assert len(contacts.found_soft) == 2
    assert len(contacts.found()["depth"]) <= 3
    contacts.grow()
    rollback.go_back()
    assert contacts.overflow.numpy()[0] == 0
    assert places(stage).tolist() == before.tolist()  # as at the start of the frame
    for _ in range(12):
        stage.state.v.zero_()
        contacts.find()
        if contacts.overflow.numpy()[0]:
            contacts.grow()
    assert contacts.overflow.numpy()[0] == 0
    assert contacts.pair_count.numpy()[0] == 6
    assert len(contacts.found()["depth"]) == contacts.contact_count.numpy()[0] > 3


# migration ------------------------------------------------------------------------------------------------------------


def cheapest(stage, place, who, middle, near):
    """By the paper's sums: {feature: cost} of where particle `who` of the only pair may go."""
    f = stage.contacts.features
    own = np.arange(len(place)) < f.pair_counts[0][0]
    mine = own == own[who]
    mine[who] = False

    def cost(feature):
        d2 = ((middle[place] - middle[feature]) ** 2).sum(axis=1)
        other = own != own[who]
        return (1.0 / d2[mine]).sum() - 2.0 * (1.0 / np.maximum(d2[other], near**2)).sum()

    here = place[who]
    around = f.neighbours[f.neighbour_start[here] : f.neighbour_start[here + 1]]
    free = [int(g) for g in around if g not in place[mine]]
    return {feature: cost(feature) for feature in [int(here), *free]}


def rounds_of(stage, place):
    """The paper's rounds in plain Python: (places after them, rounds, particles that moved in the last)."""
    place = place.copy()
    middle, near = middles(stage), CORE * float(stage.surfaces.edge_size.numpy().max())
    rounds, moved = 0, len(place)
    while moved >= 4 and rounds < 10:  # "fewer than four particles are moving", "a maximum of 10 updates per frame"
        rounds, moved = rounds + 1, 0
        for who in range(len(place)):
            costs = cheapest(stage, place, who, middle, near)
            best = min(costs, key=costs.get)
            if costs[best] < costs[int(place[who])]:
                place[who] = best
                moved += 1
    return place, rounds, moved


@pytest.mark.req("B10")
@pytest.mark.parametrize("dim", [2, 3])
def test_particles_move_to_the_cheapest_neighbours_and_stop_by_the_rule(dim):
    """As in plain Python, call after call: ten rounds while four move, fewer rounds when fewer move, then one."""
    stage = Stage(two_balls(0.05, dim=dim, offset=0.1))
    contacts = stage.contacts
    seen = []
    for _ in range(5):
        before = places(stage)
        contacts.find_pairs()
        contacts.move_particles()
        place, rounds, moved = rounds_of(stage, before)
        assert places(stage).tolist() == place.tolist()
        assert contacts.progress.numpy()[0].tolist() == [rounds, moved]
        seen.append((rounds, moved))
    assert any(rounds == 10 and moved >= 4 for rounds, moved in seen)  # stopped by the first rule
    assert any(1 < rounds < 10 and 1 <= moved <= 3 for rounds, moved in seen)  # and by the second
    assert seen[-1] == (1, 0)


@pytest.mark.req("B10")
def test_to_the_letter_particles_have_their_rounds_once_per_frame():
    """In the substeps after the first they are carried by their features, and stay on them."""
    stage = Stage(two_balls(0.05, offset=0.1), MartinContacts)
    contacts = stage.contacts
    contacts.begin_frame()
    contacts.find()
    place = places(stage)
    assert contacts.progress.numpy()[0].tolist()[0] == 10
    stage.put(stage.x + np.array([0.3, 0.2, 0.1]))
    contacts.find()
    assert places(stage).tolist() == place.tolist()
    assert np.abs(contacts.particle_position.numpy() - middles(stage)[place]).max() < 1e-12
    contacts.begin_frame()
    contacts.find()
    assert places(stage).tolist() != place.tolist()


def closest_distance(stage, rows_a, rows_b):
    """Least distance between features of two lists of corner rows."""
    x = stage.x
    shape = (len(rows_a) * len(rows_b), 3, 3)
    fill = [np.where(rows < 0, rows[:, :1], rows) for rows in (rows_a, rows_b)]
    first = np.broadcast_to(x[fill[0]][:, None], (len(rows_a), len(rows_b), 3, 3)).reshape(shape)
    second = np.broadcast_to(x[fill[1]][None], (len(rows_a), len(rows_b), 3, 3)).reshape(shape)
    # only pairs whose middles are near can be the closest
    d = np.linalg.norm(first.mean(axis=1) - second.mean(axis=1), axis=1)
    few = np.argsort(d)[:60]
    return closest_features(first[few], second[few])[0].min()


@pytest.mark.req("B10")
def test_particles_of_approaching_balls_find_the_closest_features():
    """When the balls are about to touch: within the skins in 20 of 20 cases, exactly in 10."""
    random = np.random.default_rng(3)
    near = exact = 0
    cases = 20
    for _ in range(cases):
        turn = tuple(np.degrees(random.uniform(0.0, 6.0, 3)))
        stage = Stage(two_balls(0.2, offset=float(random.uniform(0.0, 0.3)), speed=4.5, turn=turn))
        stage.respond(20)  # 18 cm closer
        corners, f = stage.contacts.features.corners, stage.contacts.features
        truth = closest_distance(
            stage, *(corners[f.feature_start[b] : f.feature_start[b + 1]][-320:] for b in (0, 1))
        )  # the last features of a body are its triangles
        place = places(stage)
        count = f.pair_counts[0][0]
        found = closest_distance(stage, corners[place[:count]], corners[place[count:]])
        assert found >= truth - 1e-9
        exact += found <= truth + 1e-9
        near += found <= truth + 2.0 * stage.surfaces.thickness.numpy()[0]
    print(f"closest features found exactly in {exact} and within the skins in {near} of {cases} cases")
    assert exact >= 0.25 * cases
    assert near >= 0.95 * cases


@pytest.mark.req("B19")
def test_particles_can_be_shown():
    stage = Stage(two_balls(0.05))
    stage.respond()
    shown = stage.contacts.particles()
    assert shown["position"].shape == (42, 3)
    assert shown["owner"].tolist() == [0] * 21 + [1] * 21
    assert shown["other"].tolist() == [1] * 21 + [0] * 21
    assert np.linalg.norm(shown["position"][:21], axis=1).max() <= 0.5 + 1e-9
    far = Stage(two_balls(3.0))
    far.respond()
    assert far.contacts.particles()["position"].shape == (0, 3)


# inside or outside ----------------------------------------------------------------------------------------------------


def winding(points, vertices, faces):
    """Times that a closed surface goes round each point: solid angles (Van Oosterom & Strackee 1983), or angles."""
    corners = vertices[faces][None] - points[:, None, None]
    size = np.linalg.norm(corners, axis=-1)
    if vertices.shape[1] == 2:
        a, b = corners[:, :, 0], corners[:, :, 1]
        return np.arctan2(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0], (a * b).sum(-1)).sum(1) / (2 * np.pi)
    a, b, c = (corners[:, :, k] for k in range(3))
    top = np.einsum("nfd,nfd->nf", a, np.cross(b, c))
    low = size.prod(-1) + sum((p * q).sum(-1) * size[..., k] for p, q, k in ((a, b, 2), (b, c, 0), (c, a, 1)))
    return 2.0 * np.arctan2(top, low).sum(1) / (4 * np.pi)


@pytest.mark.req("B12")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ["hand", "torus", "star"])
def test_an_odd_number_of_crossings_means_inside(name, precision):
    shapes = turgor.shapes
    shape = {"hand": shapes.hand, "torus": shapes.torus, "star": shapes.star}[name]()
    start_warp()
    n = numbers(shape.dim, precision)
    real, vec, face = n.real, n.vec, n.face
    is_inside = soft_rigid.kernels(n).is_inside

    @wp.kernel(module="unique", enable_backward=False)
    def probe(p: wp.array(dtype=vec), faces: wp.array(dtype=face), x: wp.array(dtype=vec), out: wp.array(dtype=real)):
        i = wp.tid()
        if is_inside(p[i], 0, faces.shape[0], faces, x):
            out[i] = real(1.0)

    random = np.random.default_rng(12)
    vertices, faces = np.asarray(shape.vertices, n.dtype), np.asarray(shape.faces, np.int32)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    points = random.uniform(low, high, (2000, n.dim))
    # straight below vertices and middles of edges, where a ray meets several faces
    below = np.concatenate([vertices, 0.5 * (vertices[faces[:, 0]] + vertices[faces[:, 1]])]).astype(float)
    below[:, -1] -= random.uniform(0.01, 0.3, len(below)) * (high - low)[-1]
    points = np.concatenate([points, below]).astype(n.dtype)
    out = wp.zeros(len(points), dtype=real, device=DEVICE)
    arrays = [wp.array(a, dtype=t, device=DEVICE) for a, t in ((points, vec), (faces, face), (vertices, vec))]
    wp.launch(probe, dim=len(points), inputs=[*arrays, out], device=DEVICE)
    count = np.concatenate(
        [winding(some.astype(float), vertices.astype(float), faces) for some in np.array_split(points, 8)]
    )
    truth = count > 0.5
    assert 0.1 < truth.mean() < 0.9
    assert ((out.numpy() > 0.5) == truth).all()


@pytest.mark.parametrize("contact", ["particles", "particles-martin", "particles-adaptive"])
@pytest.mark.parametrize(("shape", "kind"), [(turgor.shapes.torus(stacks=8, slices=6), "static"), (BOX, "dynamic")])
def test_a_ball_that_bursts_at_a_rigid_body_ends_in_a_sentence(shape, kind, contact):
    """Its points are no numbers then, and no face is closest to them."""
    scene = turgor.Scene(gravity=0)
    scene.add_soft_body(
        turgor.shapes.icosphere(0.5, 1), name="ball", at=(0.0, 0.0, 0.9), springs=turgor.Springs(stiffness=1e7),
        gas=turgor.Gas(gauge=1e3),
    )  # fmt: skip
    scene.add_rigid_body(shape, name="thing", kind=kind)
    sim = turgor.Simulation(scene, solver="symplectic", substeps=24, contact=contact)
    with pytest.raises(turgor.UnstableError, match=r"body 'ball' .* diverged"):
        sim.run(seconds=1.0)
    assert sim.finite
