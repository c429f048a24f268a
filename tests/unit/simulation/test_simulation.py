"""The simulation as a user holds it: running, looking, changing, failing, saving."""

from __future__ import annotations

import dataclasses
import json
import math
import threading

import numpy as np
import pytest
import warp as wp

import turgor
from turgor import Gas, SceneError, Springs, UnstableError, shapes
from turgor.simulation.save import digest_of

GAS = Gas.at(gauge=200.0, ambient=1000.0)


def ball_scene(dim=3, cloth=False, **body):
    """A ball above the ground, and a pinned cloth in the wind beside it."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground(friction=0.5, restitution=0.2)
    shape = shapes.icosphere(subdivisions=1) if dim == 3 else shapes.circle(points=24)
    body = {"name": "ball", "at": (0.0,) * (dim - 1) + (0.7,), "gas": GAS, "springs": Springs(200.0, 0.2)} | body
    scene.add_soft_body(shape, **body)
    if cloth:
        scene.wind = (2.0, 0.5, 0.0)
        scene.add_cloth(
            shapes.sheet(resolution=(6, 5)), name="cloth", at=(3.0, 0.0, 2.0), pins="top-corners", bending=1e-3
        )
    return scene


def advanced(sim, frames):
    for _ in range(frames):
        sim.step()
    return sim


class Memory:
    """A sink that keeps all frames."""

    def __init__(self):
        self.frames, self.finished = [], None

    def add(self, frame):
        self.frames.append(frame)

    def close(self, finished=True):
        self.finished = finished


# running ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("D1")
@pytest.mark.parametrize("dim", [2, 3])
def test_run_is_step_by_step(dim):
    """run = step x frames; sinks get the first state and every frame; progress counts them."""
    by_hand = advanced(turgor.Simulation(ball_scene(dim)), 6)
    sim, sink, seen = turgor.Simulation(ball_scene(dim)), Memory(), []
    sim.run(0.1, record=sink, progress=lambda done, total: seen.append((done, total)))
    assert sim.state_hash() == by_hand.state_hash()
    assert seen == [(i, 6) for i in range(1, 7)]
    assert [frame.index for frame in sink.frames] == list(range(7))
    assert sink.finished is True
    np.testing.assert_allclose([frame.time for frame in sink.frames], np.arange(7) / 60, rtol=1e-6)
    np.testing.assert_array_equal(sink.frames[-1].positions, sim.positions)
    assert sim.frame_index == 6
    assert sim.substeps >= 4
    sim.run(0.0)
    assert sim.state_hash() == by_hand.state_hash()


def test_two_runs_have_the_same_hash():
    hashes = {advanced(turgor.Simulation(ball_scene(cloth=True), solver="rk4"), 8).state_hash() for _ in range(2)}
    assert len(hashes) == 1


def test_looking_and_waiting_changes_nothing():
    sim = advanced(turgor.Simulation(ball_scene(cloth=True), ledger=True), 3)
    before = sim.state_hash()
    for look in ("positions", "velocities", "forces", "volume", "pressure", "center", "momentum", "angular_momentum"):
        getattr(sim["ball"], look)
    assert sim.energy() == sim.energy()
    assert sim.contacts() == sim.contacts()
    assert sim.frame().index == 3
    sim["ball"].forces[:] = 1e9  # what is given out is the user's own copy
    sim["ball"].positions[:] = 1e9
    assert sim.state_hash() == before
    other = advanced(turgor.Simulation(ball_scene(cloth=True), ledger=True), 3)
    assert advanced(sim, 5).state_hash() == advanced(other, 5).state_hash()


CHANGES = {
    "positions": lambda sim: setattr(sim["ball"], "positions", sim["ball"].positions + 0.5),
    "velocities": lambda sim: setattr(sim["ball"], "velocities", 1.0),
    "stiffness": lambda sim: setattr(sim["ball"], "stiffness", 201.0),
    "damping": lambda sim: setattr(sim["ball"], "damping", 0.3),
    "drag": lambda sim: setattr(sim["ball"], "drag", 0.1),
    "nRT": lambda sim: setattr(sim["ball"], "nRT", 500.0),
    "temperature": lambda sim: setattr(sim["ball"], "temperature", 300.0),
    "ambient": lambda sim: setattr(sim["ball"], "ambient", 900.0),
    "mass": lambda sim: setattr(sim["ball"], "mass", 2.0),
    "friction": lambda sim: setattr(sim["ball"], "friction", 0.9),
    "restitution": lambda sim: setattr(sim["ball"], "restitution", 0.9),
    "wind_drag": lambda sim: setattr(sim["ball"], "wind_drag", 0.9),
    "gravity": lambda sim: setattr(sim, "gravity", (0.0, 0.0, -1.6)),
    "wind": lambda sim: setattr(sim, "wind", (1.0, 0.0, 0.0)),
    "air_density": lambda sim: setattr(sim, "air_density", 1.0),
    "drag_coefficient": lambda sim: setattr(sim["ball"], "drag_coefficient", 0.9),
    "grab": lambda sim: sim.grab("ball", 0, (0.0, 0.0, 2.0)),
    "step": lambda sim: sim.step(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_hash_sees_every_change(change):
    sim = advanced(turgor.Simulation(ball_scene()), 2)
    before = sim.state_hash()
    CHANGES[change](sim)
    assert sim.state_hash() != before


@pytest.mark.req("A9")
@pytest.mark.parametrize("dim", [2, 3])
def test_teleport(dim):
    """Set positions are read back, forces and volume follow them, and the motion goes on from there."""
    sim = advanced(turgor.Simulation(ball_scene(dim), precision="double"), 4)
    place, forces, volume = sim["ball"].positions, sim["ball"].forces, sim["ball"].volume
    sim["ball"].positions = place + 2.0
    np.testing.assert_allclose(sim["ball"].positions, place + 2.0, rtol=1e-14)
    np.testing.assert_allclose(sim["ball"].forces, forces, atol=1e-8)
    assert sim["ball"].volume == pytest.approx(volume, rel=1e-12)
    speed = sim["ball"].momentum[-1]
    advanced(sim, 6)
    np.testing.assert_allclose(sim["ball"].momentum[-1], speed - 9.81 * 0.1, rtol=1e-6)


def test_ten_kilometres_away_is_as_good_as_here():
    here = turgor.Simulation(ball_scene(), substeps=16)
    scene = ball_scene(at=(10_000.0, -10_000.0, 0.7))
    there = turgor.Simulation(scene, substeps=16)
    np.testing.assert_allclose(there["ball"].center, (10_000.0, -10_000.0, 0.7), rtol=1e-9)
    advanced(here, 30), advanced(there, 30)
    moved = there["ball"].positions - (10_000.0, -10_000.0, 0.0)
    np.testing.assert_allclose(moved, here["ball"].positions, atol=1e-5)
    assert there["ball"].volume == pytest.approx(here["ball"].volume, rel=1e-5)


def test_empty_scene_runs(tmp_path):
    scene = turgor.Scene()
    scene.add_ground()
    sim, sink = turgor.Simulation(scene), Memory()
    sim.run(0.5, record=sink)
    assert sim.time == pytest.approx(0.5)
    assert len(sink.frames) == 31
    assert sim.energy().total == 0.0
    assert sim.contacts().count == 0
    sim.save(tmp_path / "empty.npz")
    assert turgor.Simulation.load(tmp_path / "empty.npz").state_hash() == sim.state_hash()


@pytest.mark.req("X6")
@pytest.mark.parametrize("solver", ["symplectic", "rk4"])
@pytest.mark.parametrize("substeps", ["auto", 12])
def test_no_host_work_inside_a_frame(monkeypatch, solver, substeps):
    """After the first frame a step is one graph launch: no kernel launch, no allocation, no copy from Python."""
    scene = ball_scene(cloth=True, volume="subdivision", bending=0.01, pressure_scaling=True)
    scene.add_container(size=(20.0, 20.0, 20.0), spin=(0.0, 0.1, 0.0))
    sim = turgor.Simulation(scene, solver=solver, substeps=substeps, ledger=True)
    sim.grab("ball", 1, (0.0, 0.0, 1.0))
    sim.step()
    launches = []
    replay = wp.capture_launch

    def forbidden(*args, **kwargs):
        raise AssertionError("host work inside a frame")

    for name in ("launch", "launch_tiled", "copy", "zeros", "empty", "clone", "full", "capture_begin", "capture_while"):
        monkeypatch.setattr(wp, name, forbidden)
    monkeypatch.setattr(wp.array, "__init__", forbidden)
    monkeypatch.setattr(wp, "capture_launch", lambda *args, **kwargs: (launches.append(1), replay(*args, **kwargs)))
    advanced(sim, 5)
    assert len(launches) == 5


# assembly and numbering ---------------------------------------------------------------------------------------------


@pytest.mark.req("X6")
@pytest.mark.parametrize(("precision", "tolerance"), [("single", 2e-5), ("double", 1e-12)])
@pytest.mark.parametrize("what", ["2d", "3d", "cloth"])
def test_gather_equals_scatter(what, precision, tolerance):
    """The two ways to assemble forces differ by round-off only."""
    scene = ball_scene(2 if what == "2d" else 3, cloth=what == "cloth", bending=0.01)
    sims = [
        turgor.Simulation(scene, precision=precision, substeps=20, assembly=assembly)
        for assembly in ("scatter", "gather")
    ]
    scatter, gather = (sim.forces() for sim in sims)
    np.testing.assert_allclose(gather, scatter, atol=tolerance * np.abs(scatter).max())
    scatter, gather = (advanced(sim, 12).positions for sim in sims)
    np.testing.assert_allclose(gather, scatter, atol=10 * tolerance)
    for name in ("volume", "pressure"):
        assert getattr(sims[1]["ball"], name) == pytest.approx(getattr(sims[0]["ball"], name), rel=10 * tolerance)


@pytest.mark.req("A1", "B1")
@pytest.mark.parametrize("shape", [shapes.star(), shapes.box(subdivisions=3)], ids=["star", "box"])
def test_numbering_of_vertices_does_not_matter(shape):
    """The same mesh with its vertices and faces in another order moves in the same way."""
    rng = np.random.default_rng(3)
    order = rng.permutation(len(shape.vertices))
    place = np.argsort(order)
    shuffled = dataclasses.replace(
        shape, vertices=shape.vertices[order], faces=place[shape.faces][rng.permutation(len(shape.faces))], groups={}
    )
    results = []
    for form in (shape, shuffled):
        scene = turgor.Scene(dim=shape.dim)
        scene.add_ground()
        at = (0.0,) * (shape.dim - 1) + (0.6,)
        scene.add_soft_body(form, name="body", at=at, gas=GAS, springs=Springs(300.0, 0.5), bending=0.01)
        results.append(advanced(turgor.Simulation(scene, precision="double", substeps=32), 20))
    one, other = (sim["body"] for sim in results)
    np.testing.assert_allclose(other.positions, one.positions[order], atol=1e-10)
    assert other.volume == pytest.approx(one.volume, rel=1e-10)


# wrong use ----------------------------------------------------------------------------------------------------------

WRONG = {
    "scene": (lambda: turgor.Simulation("drop"), "turgor.Scene"),
    "solver": (lambda: turgor.Simulation(ball_scene(), solver="rk5"), "rk4"),
    "worlds": (lambda: turgor.Simulation(ball_scene(), worlds=0), "worlds"),
    "device": (lambda: turgor.Simulation(ball_scene(), device="tpu"), "tpu"),
    "assembly": (lambda: turgor.Simulation(ball_scene(), assembly="magic"), "assembly"),
    "substeps": (lambda: turgor.Simulation(ball_scene(), substeps=0), "substeps"),
    "fps": (lambda: turgor.Simulation(ball_scene(), fps=0.0), "fps"),
    "body": (lambda: turgor.Simulation(ball_scene())["bal"], "ball"),
    "seconds": (lambda: turgor.Simulation(ball_scene()).run(math.nan), "seconds"),
    "folder": (lambda: turgor.Simulation(ball_scene()).save("/no/such/folder/a.npz"), "folder"),
    "file": (lambda: turgor.Simulation.load("/no/such/file.npz"), "not a saved simulation"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(case):
    call, words = WRONG[case]
    with pytest.raises(SceneError, match=words):
        call()


WRONG_VALUES = {
    "stiffness": lambda sim: setattr(sim["ball"], "stiffness", -1.0),
    "stiffness nan": lambda sim: setattr(sim["ball"], "stiffness", math.nan),
    "stiffness of too many worlds": lambda sim: setattr(sim["ball"], "stiffness", [1.0, 2.0]),
    "stiffness in words": lambda sim: setattr(sim["ball"], "stiffness", "soft"),
    "too stiff for single precision": lambda sim: setattr(sim["ball"], "stiffness", 1e39),
    "mass": lambda sim: setattr(sim["ball"], "mass", 0.0),
    "gauge below vacuum": lambda sim: setattr(sim["ball"], "gauge_pressure", -2000.0),
    "restitution": lambda sim: setattr(sim["ball"], "restitution", 5.0),
    "bending without hinges": lambda sim: setattr(sim["ball"], "bending", 1.0),
    "gas of a cloth": lambda sim: setattr(sim["cloth"], "nRT", 5.0),
    "misspelt parameter": lambda sim: setattr(sim["ball"], "stifness", 5.0),
    "shape": lambda sim: setattr(sim["ball"], "positions", np.zeros((3, 3))),
    "nan": lambda sim: setattr(sim["ball"], "positions", math.nan),
    "too far for single precision": lambda sim: setattr(sim["ball"], "positions", 1e39),
    "gravity": lambda sim: setattr(sim, "gravity", (1.0, 2.0)),
    "wind": lambda sim: setattr(sim, "wind", (1.0, 2.0, math.inf)),
    "grab which": lambda sim: sim.grab("ball", 10_000, (0, 0, 0)),
    "grab between": lambda sim: sim.grab("ball", 1.5, (0, 0, 0)),
    "grab where": lambda sim: sim.grab("ball", 0, (0, 0)),
    "grab how": lambda sim: sim.grab("ball", 0, (0, 0, 0), stiffness=-1.0),
    "grab damping": lambda sim: sim.grab("ball", 0, (0, 0, 0), damping=-1.0),
    "release": lambda sim: sim.release("nobody"),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", WRONG_VALUES)
def test_wrong_values_change_nothing(case):
    sim = advanced(turgor.Simulation(ball_scene(cloth=True)), 1)
    before = sim.state_hash()
    with pytest.raises(SceneError):
        WRONG_VALUES[case](sim)
    assert sim.state_hash() == before


# failing ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("X3")
@pytest.mark.parametrize("assembly", ["scatter", "gather"])
def test_divergence_is_named_and_leaves_the_last_good_state(assembly):
    """Too large a step: the error names body, time and remedy; only finite frames are recorded; it can be healed."""
    scene = ball_scene(cloth=True, springs=Springs(5e4))
    sim, sink = turgor.Simulation(scene, substeps=2, ledger=True, assembly=assembly), Memory()
    with pytest.raises(UnstableError, match=r"body 'ball' at t = [\d.e-]+ s .*substeps") as caught:
        sim.run(2.0, record=sink)
    assert sink.finished is False
    assert all(np.isfinite(frame.positions).all() and np.isfinite(frame.velocities).all() for frame in sink.frames)
    assert all(np.isfinite(frame.volumes[0]) and np.isfinite(frame.pressures[0]) for frame in sink.frames)
    last = sink.frames[-1]
    assert sim.time == last.time
    assert sim.frame_index == last.index
    assert f"t = {last.time:.4g} s" in str(caught.value)
    assert sim.finite
    np.testing.assert_array_equal(sim.positions, last.positions)
    np.testing.assert_array_equal(sim.velocities, last.velocities)
    assert math.isfinite(sim.energy().dissipated)
    sim["ball"].velocities = 0.0
    sim["ball"].positions = ball_scene()["ball"].positions
    sim["ball"].stiffness = 1.0
    sim["ball"].gauge_pressure = 0.0
    sim["ball"].nRT = 0.0
    sim["ball"].ambient = 0.0
    advanced(sim, 3)
    assert sim.frame_index == last.index + 3
    assert sim.finite


def test_too_stiff_is_named_before_anything_moves():
    scene = ball_scene(springs=Springs(1e9))
    sim = turgor.Simulation(scene, solver="symplectic", max_substeps=500)
    before = sim.state.x.numpy().copy()
    with pytest.raises(UnstableError, match=r"body 'ball' at t = 0 s needs .* max_substeps = 500: lower its stiffness"):
        sim.step()
    np.testing.assert_array_equal(sim.state.x.numpy(), before)
    assert sim.time == 0.0


# saving -------------------------------------------------------------------------------------------------------------


@pytest.mark.req("X9")
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("assembly", ["scatter", "gather"])
def test_save_and_load_go_on_bit_for_bit(tmp_path, precision, assembly):
    """A mesh from a file, settled, grabbed; a cloth; a turning box; the ledger: all go on as if never stopped."""
    ball = shapes.icosphere(subdivisions=1)
    lines = [f"v {x!r} {y!r} {z!r}\n" for x, y, z in ball.vertices.tolist()]
    lines += [f"f {i} {j} {k}\n" for i, j, k in (ball.faces + 1).tolist()]
    (tmp_path / "ball.obj").write_text("".join(lines))
    scene = ball_scene(cloth=True)
    loaded = shapes.load(tmp_path / "ball.obj")
    scene.add_soft_body(loaded, name="file", at=(0.0, 2.0, 1.0), gas=GAS, springs=Springs(200.0, 0.5), settled=True)
    scene.add_container(size=(12.0, 12.0, 12.0), spin=(0.3, 0.5, 0.0))
    sim = turgor.Simulation(scene, solver="midpoint", precision=precision, ledger=True, assembly=assembly)
    sim.grab("file", 5, (0.0, 2.0, 2.0))
    sim["ball"].temperature = 310.0
    advanced(sim, 5)
    sim.save(tmp_path / "state.npz")
    (tmp_path / "ball.obj").unlink()
    other = turgor.Simulation.load(tmp_path / "state.npz")
    assert other.state_hash() == sim.state_hash()
    assert other.energy() == sim.energy()
    assert (other.solver, other.precision, other.frame_index, other.time) == (
        sim.solver, sim.precision, sim.frame_index, sim.time
    )  # fmt: skip
    assert advanced(other, 8).state_hash() == advanced(sim, 8).state_hash()
    for name in ("positions", "velocities", "pressure", "temperature"):
        np.testing.assert_array_equal(getattr(other["file"], name), getattr(sim["file"], name))
    sim.release()
    other.release()
    assert advanced(other, 2).state_hash() == advanced(sim, 2).state_hash()


@pytest.mark.parametrize("damage", ["cut", "text", "empty", "other"])
def test_a_damaged_state_file_is_named(tmp_path, damage):
    path = tmp_path / "state.npz"
    turgor.Simulation(ball_scene()).save(path)
    if damage == "other":
        np.savez(path, a=1)
    else:
        whole = path.read_bytes()
        path.write_bytes({"cut": whole[: len(whole) // 2], "text": b"hello", "empty": b""}[damage])
    with pytest.raises(SceneError, match=r"state\.npz"):
        turgor.Simulation.load(path)


def test_a_misspelt_attribute_is_told():
    """A parameter that silently does nothing is an error."""
    scene = turgor.Scene()
    scene.add_soft_body(shapes.icosphere(subdivisions=1), name="ball")
    sim = turgor.Simulation(scene)
    with pytest.raises(SceneError, match="gravity"):
        sim.gravitty = (0.0, 0.0, -1.0)
    sim.gravity = (0.0, 0.0, -1.0)
    np.testing.assert_allclose(sim.gravity, (0.0, 0.0, -1.0))


def test_a_body_that_is_at_rest_already_is_settled_at_once():
    """Its forces are round-off; a share of them is no measure of rest."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    shape = turgor.shapes.icosphere(radius=0.5, subdivisions=1)
    scene.add_soft_body(shape, name="ball", gas=turgor.Gas(absolute=60.0, ambient=60.0), settled=True)
    np.testing.assert_allclose(turgor.Simulation(scene)["ball"].positions, shape.vertices, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "sealed", "message"),
    [
        (lambda arrays: arrays.pop("grab_target"), True, "is not complete, it has no 'grab_target'; save it again"),
        (lambda arrays: arrays.update(x=arrays["x"][:-1]), True, "the saved arrays do not fit their scene"),
        (lambda arrays: arrays["grab_vertex"].fill(10**6), False, "damaged: its arrays are not those that were saved"),
    ],
    ids=["missing", "short", "other"],
)
def test_a_damaged_save_is_refused_with_a_sentence(tmp_path, change, sealed, message):
    scene = turgor.Scene()
    scene.add_soft_body(shapes.icosphere(subdivisions=1))
    path = tmp_path / "state.npz"
    turgor.Simulation(scene).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays.pop("header")))
    change(arrays)
    if sealed:
        header["digest"] = digest_of(arrays)
    np.savez(path, header=json.dumps(header), **arrays)
    with pytest.raises(SceneError, match=message):
        turgor.Simulation.load(path)


def test_a_save_of_an_earlier_format_is_refused_with_what_to_do(tmp_path):
    """Format 3 has no margins of patches: what it lacks is not the fault of the file."""
    scene = turgor.Scene()
    scene.add_soft_body(shapes.torus())
    path = tmp_path / "state.npz"
    turgor.Simulation(scene).save(path)
    with np.load(path) as file:
        arrays = {name: values for name, values in file.items() if "margins" not in name}
    arrays["header"] = np.array(json.dumps({**json.loads(str(arrays["header"])), "version": 3}))
    np.savez(path, **arrays)
    with pytest.raises(SceneError, match=r"state\.npz: saved in format 3, .* reads format \d; run its scene again"):
        turgor.Simulation.load(path)


def test_a_rebuild_needs_a_scene():
    with pytest.raises(SceneError, match=r"rebuild needs a turgor\.Scene, got int"):
        turgor.Simulation(turgor.Scene()).rebuild(3)


def test_who_reads_from_another_thread_waits_for_the_frame(monkeypatch):
    """As in a notebook whose simulation runs on a page: two threads must never replay the same frame."""
    sim = turgor.Simulation(turgor.gallery.load("drop-2d"))
    run, inside, go, seen = sim.engine.replay.run, threading.Event(), threading.Event(), []

    def slow() -> None:
        inside.set()
        assert go.wait(60.0)
        run()

    monkeypatch.setattr(sim.engine.replay, "run", slow)
    stepping = threading.Thread(target=sim.step)
    stepping.start()
    assert inside.wait(60.0)
    actions = (
        lambda: seen.append(sim.time), lambda: seen.append(sim.substeps), lambda: setattr(sim["ball"], "drag", 0.5),
    )  # fmt: skip
    waiting = [threading.Thread(target=action) for action in actions]
    for thread in waiting:
        thread.start()
    waiting[0].join(0.2)
    still = [thread.is_alive() for thread in waiting]
    go.set()
    for thread in (stepping, *waiting):
        thread.join()
    assert still == [True, True, True]
    assert min(seen) == pytest.approx(1.0 / sim.settings.fps)
    assert sim["ball"].drag == 0.5
