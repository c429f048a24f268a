"""Work is counted, not timed: what self-contact does for a body that does not touch itself, and what building costs."""

from __future__ import annotations

import cProfile
import gc
import pstats
import tracemalloc
from operator import attrgetter

import numpy as np
import pytest

import turgor
from turgor import shapes
from turgor.bench.self_contact import body_scene, list_work, torus
from turgor.contact.features.solve.sweep import PATIENCE
from turgor.contact.geometry.advancement import VERTEX_FACE

FRAMES = 20


def flown(shape, *, landing=False, **options):
    """A body that flies, or lands, for some frames; its simulation, and the substeps it took."""
    sim = turgor.Simulation(body_scene(shape, self_contact=True, landing=landing), **options)
    substeps = 0
    for _ in range(FRAMES):
        sim.step()
        substeps += sim.substeps
    return sim, substeps


@pytest.mark.req("X1", "X6")
@pytest.mark.parametrize("landing", [False, True])
def test_a_star_shaped_body_makes_no_lists(landing):
    """Only now and then it is looked at as closely as in a substep with contact."""
    sim, substeps = flown(shapes.icosphere(radius=0.4, subdivisions=3), landing=landing)
    work = list_work(sim)
    assert work.pop("contact_substeps") <= substeps / 50
    assert set(work.values()) == {0}


@pytest.mark.req("X1", "X6")
def test_a_ring_that_flies_makes_few_lists_and_skips_contact():
    """Bounds: a list in 30 substeps, contact in a fifth of them; each was done in every substep without watching."""
    sim, substeps = flown(torus(1000))
    work = list_work(sim)
    assert work["renewals"] <= 1 + substeps / 30
    assert work["contact_substeps"] <= substeps / 5


@pytest.mark.req("X1", "X6")
def test_work_per_list_grows_no_faster_than_the_mesh():
    """Patches are compared with neighbours only, whatever the number of vertices."""
    compared = {}
    for vertices in (1000, 4000):
        sim, _ = flown(torus(vertices), substeps=10, fps=2000)
        work = list_work(sim)
        patches = sim.engine.split.method.lists.patches.per_world
        assert work["renewals"] >= 1
        compared[vertices] = work["compared"] / work["renewals"] / patches
    assert compared[1000] < 12.0
    assert compared[4000] < 1.1 * compared[1000]


def crushed(shape, height, speed, gauge=20.0, **settings):
    """A bag with little gas, thrown at the floor."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.5)
    scene.add_soft_body(
        shape, name="bag", at=(0.0, 0.0, height), velocity=(0.0, 0.0, -speed),
        springs=turgor.Springs(60.0, 0.2), gas=turgor.Gas.at(gauge=gauge, ambient=300.0),
    )  # fmt: skip
    return turgor.Simulation(scene, **settings)


@pytest.mark.req("X1", "X6")
def test_a_bag_that_is_crushed_sweeps_and_lists_no_more_than_it_must():
    """Later rounds of a sweep follow what was stirred; a list lasts while no patch has used up its own margin.

    Rounds only let more candidates meet, so each later one would follow at least as many as the first. By the travel of
    the whole body a list lasts 8 substeps.
    """
    sim = crushed(shapes.box((1.0, 0.6, 0.08), 6), 0.3, 6.0)
    for _ in range(FRAMES):
        sim.step()
    first, in_first, later, in_later = sim.engine.split.method.sweep_stage.sweep_work.numpy().tolist()
    assert later > 100
    assert in_later / later < in_first / first / 3
    work = list_work(sim)
    assert work["renewals"] > 10
    assert work["contact_substeps"] > 12 * work["renewals"]


@pytest.mark.req("X1")
def test_what_is_near_is_in_the_list_however_old_it_is():
    """Of a glove that is crushed: what is nearer than the margins that are left of its patches has been listed.

    Neighbours in the mesh are left out: a piece that is not folded cannot touch itself, however it is compressed.
    """
    sim = crushed(shapes.hand(), 1.0, 5.0)
    lists, surfaces = sim.engine.split.method.lists, sim.engine.split.method.surfaces
    rest, faces, edges = surfaces.rest.numpy(), surfaces.faces.numpy(), surfaces.edges.numpy()[:, :2]
    near = 2.0 * np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1).mean()

    def are_neighbours(first, second, kind):
        one = rest[first] if kind == VERTEX_FACE else rest[edges[first]].mean(axis=0)
        other = rest[(faces if kind == VERTEX_FACE else edges)[second]].mean(axis=0)
        return np.linalg.norm(one - other) < near

    found, old = lists.candidates, 0
    for _ in range(FRAMES):
        sim.step()
        if int(lists.pairs.own_pair.numpy()[0]) < 0 or int(lists.flags.left_alone.numpy()[0]):
            continue
        saved = {name: attrgetter(name)(lists).numpy() for name in lists.SAVED}
        listed = {tuple(row) for row in found.candidates.numpy()[: int(found.candidate_count.numpy()[0]), 1:]}
        left = 2.0 * float(lists.pairs.own_left.numpy()[0]) if int(lists.pairs.own_holds.numpy()[0]) else 0.0
        old += float(lists.pairs.pair_travel.numpy()[0]) > float(lists.pairs.pair_margin.numpy()[0])
        lists.pairs.pair_stale.fill_(1)
        found.candidate_count.zero_()
        lists.self_lists.collect(lists.pairs.capacity)
        lists.pairs.pair_stale.zero_()
        count = int(found.candidate_count.numpy()[0])
        close = found.candidates.numpy()[:count, 1:][found.wake_travel.numpy()[:count] <= left]
        for name, values in saved.items():
            attrgetter(name)(lists).assign(values)
        assert all(tuple(row) in listed or are_neighbours(*row) for row in close)
    assert old >= 3  # lists that only the margins of their patches kept


@pytest.mark.req("X1")
def test_a_margin_is_worn_by_the_way_that_the_points_of_a_patch_have_gone():
    """Also where a wall has had the last word about the displacement of a substep."""
    sim = crushed(shapes.box((1.0, 0.6, 0.08), 6), 0.05, 6.0, fps=2000.0, substeps=1)
    lists = sim.engine.split.method.lists
    points, ranges = lists.patches.patch_points.numpy(), lists.patches.point_range.numpy()
    counted = 0
    for _ in range(150):
        before, lists_before = sim.state.x.numpy().copy(), int(lists.self_lists.list_work.numpy()[0])
        worn = lists.margins.patch_travel.numpy().copy()
        sim.step()
        if lists.self_lists.list_work.numpy()[0] != lists_before:
            worn = 0.0  # a new list
        if int(lists.pairs.own_pair.numpy()[0]) >= 0 and int(lists.pairs.own_holds.numpy()[0]):
            way = np.linalg.norm(sim.state.x.numpy() - before - lists.motion.body_move.numpy()[0], axis=1)
            gone = np.array([way[points[first:last]].max() for first, last in ranges])
            assert np.all(gone <= lists.margins.patch_travel.numpy() - worn + 1e-6)
            counted += 1
    assert counted > 100


@pytest.mark.req("X1")
def test_a_list_knows_how_far_impulses_have_led_from_its_movements():
    """Those of the last round before zones too: what is farther apart is not followed."""
    sim = crushed(shapes.box((1.0, 0.6, 0.08), 6), 0.05, 6.0, gauge=5.0, fps=400.0, substeps=1)
    stage, jammed = sim.engine.split.method.sweep_stage, 0
    for _ in range(400):
        sim.step()
        changed = np.linalg.norm(sim.state.v.numpy() - sim.engine.scratch.v_free.numpy(), axis=1).max() / 400.0
        if int(stage.rounds.numpy()[0]) > PATIENCE:
            jammed += 1
            assert changed <= 1.0001 * float(stage.unmade_move.numpy()[0])
    assert jammed > 10


def built(scene, worlds):
    """(Python calls, peak of host memory in bytes) of building a simulation."""

    def build():
        return turgor.Simulation(scene, worlds=worlds)

    kept = [build()]  # kernels and caches
    gc.collect()  # what earlier tests left is not freed, and counted, in between
    profile = cProfile.Profile()
    kept.append(profile.runcall(build))
    calls = pstats.Stats(profile).total_calls
    tracemalloc.start()
    build()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return calls, peak


@pytest.mark.req("X6", "X14")
def test_building_handles_one_world_on_the_host():
    """Worlds are copies: neither the number of Python calls nor the size of NumPy arrays grows with them."""
    scene = turgor.Scene()
    scene.add_soft_body(shapes.icosphere(subdivisions=3), name="ball", at=(0.0, 0.0, 1.0))
    scene.add_cloth(shapes.sheet((1.0, 1.0), (9, 9)), name="cloth", at=(0.0, 0.0, 3.0), bending=0.01)
    scene.add_rigid_body(shapes.box((0.2, 0.2, 0.2)), name="box", at=(5.0, 0.0, 0.0))
    few, many = built(scene, 2), built(scene, 64)
    assert many[0] <= 1.1 * few[0]
    assert many[1] <= 1.1 * few[1] + 20_000


@pytest.mark.req("X6", "X14")
def test_python_calls_of_building_do_not_grow_with_the_mesh():
    def scene(subdivisions):
        made = turgor.Scene()
        made.add_soft_body(shapes.icosphere(subdivisions=subdivisions), name="ball")
        return made

    small, large = built(scene(3), 1), built(scene(6), 1)
    assert large[0] <= 1.1 * small[0]


@pytest.mark.req("X6")
@pytest.mark.parametrize("shape", [shapes.cat(), shapes.torus(stacks=9, slices=14), shapes.sheet((1.0, 1.0), (9, 9))])
def test_patches_hold_each_feature_once_and_trees_each_patch(shape):
    """Of two worlds: points, faces and edges of all stars are all there are, and a walk through a tree is complete."""
    scene = turgor.Scene()
    if shape.closed:
        scene.add_soft_body(shape, name="a")
    else:
        scene.add_cloth(shape, name="a")
    scene.add_rigid_body(shapes.box((0.2, 0.2, 0.2)), name="b", at=(5.0, 0.0, 0.0))
    sim = turgor.Simulation(scene, worlds=2)
    method = sim.engine.split.method
    patches, surfaces = method.lists.patches, method.surfaces
    for listed, count in (
        (patches.patch_points, surfaces.point_count),
        (patches.star_faces, len(surfaces.faces)),
        (patches.star_edges, len(surfaces.edges)),
    ):
        np.testing.assert_array_equal(np.sort(listed.numpy()), np.arange(count))
    start, nodes = patches.patch_start.numpy(), patches.node_patches.numpy()
    for body in range(surfaces.bodies * 2):
        node, seen = 2 * start[body] - body, []
        last = 2 * start[body + 1] - body - 1
        while node < last:
            first, behind = nodes[node]
            if behind - first == 1:
                assert patches.patch_node.numpy()[first] == node
                seen.append(first)
            node += 1
        assert seen == list(range(start[body], start[body + 1]))
    owner = patches.patch_body.numpy()
    ranges, points = patches.point_range.numpy(), patches.patch_points.numpy()
    for patch in range(patches.count):
        mine = points[ranges[patch][0] : ranges[patch][1]]
        assert len(mine)
        assert set(surfaces.point_body.numpy()[mine]) == {owner[patch]}


@pytest.mark.req("X1", "X6")
@pytest.mark.parametrize(("lanes", "groups"), [(32, 1), (32, 8), (8, 3)])
def test_threads_that_share_a_search_find_what_one_finds(lanes, groups):
    """As on a GPU: the same candidates, and the same distance to all the others."""
    sim, _ = flown(torus(1000), landing=True)
    lists = sim.engine.split.method.lists
    own, k = lists.self_lists, lists.self_lists.kernels

    def found(lanes, groups):
        lists.pairs.pair_stale.fill_(1)
        lists.candidates.candidate_count.zero_()
        own.self_pair.fill_(-1)
        own.launch(k.begin_list, lists.pairs.capacity)
        own.launch(k.look_at_faces, own.face_count)
        own.launch(k.look_at_patches, own.count)
        own.launch.tiles(k.look_at_nodes, own.nodes)
        own.launch(k.collect_self, own.count * lanes * groups, lanes=lanes, groups=groups)
        count = int(lists.candidates.candidate_count.numpy()[0])
        rows = lists.candidates.candidates.numpy()[:count]
        return rows[np.lexsort(rows.T)], float(own.self_left.numpy()[0])

    alone, left = found(1, 1)
    shared, same_left = found(lanes, groups)
    assert len(alone) > 100
    np.testing.assert_array_equal(shared, alone)
    assert same_left == left
