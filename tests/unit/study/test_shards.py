"""The trajectories of a study: what is read is what the simulation showed, bit for bit, by our reader and by h5py."""

from __future__ import annotations

import io
import json
import math
import pickle
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import turgor
from turgor import shapes
from turgor.errors import RecordError, SceneError
from turgor.model.rotations import matrices_of
from turgor.study.results import Results
from turgor.study.shards import ShardWriter, save_shard, write_index
from turgor.study.trajectories import FIELDS, Trajectories

pytestmark = pytest.mark.req("X10")

FRAMES, EVERY = 5, 2


def scene(dim: int = 3, far: float = 0.0) -> turgor.Scene:
    """A ball above a block, far from the origin if asked for, where positions are stored about an anchor."""
    made, flat = turgor.Scene(dim, name="two"), dim == 2
    ball = shapes.circle(0.2, points=12) if flat else shapes.icosphere(0.2, subdivisions=1)
    block = shapes.polygon(sides=4, radius=0.2) if flat else shapes.box(0.3)
    side, spin = (far, *(dim - 2) * [0.0]), 2.0 if flat else (0.0, 1.0, 2.0)
    gas = turgor.Gas(gauge=100.0)
    made.add_soft_body(ball, name="ball", at=(*side, 1.0), springs=turgor.Springs(50.0, 0.1), gas=gas)
    made.add_rigid_body(block, name="block", at=(*side, 0.0), spin=spin)
    return made


def recorded(sim: turgor.Simulation, target: Any, runs: list[int]) -> list[dict[str, Any]]:
    """Runs and records; what the simulation showed at each recorded frame."""
    writer, shown = ShardWriter(target, sim, runs, EVERY), []
    for frame in range(FRAMES * EVERY):
        if frame % EVERY == 0:
            writer.add(sim)
            ball, block = sim["ball"], sim.rigid_bodies["block"]
            shown.append(
                {
                    "time": sim.time, "positions": sim.positions, "velocities": sim.velocities, "volume": ball.volume,
                    "pressure": ball.pressure, "rigid_center": block.center, "rigid_rotation": block.rotation,
                    "rigid_velocity": block.velocity, "rigid_spin": block.spin,
                }
            )  # fmt: skip
        sim.step()
    writer.close()
    return shown


def table(runs: int, failed: tuple[int, ...] = ()) -> Results:
    rows = [
        {
            "run": run,
            "gas": 0.5 * run,
            "top": math.nan if run == 0 else 1.0 / 3,
            "status": "failed" if run in failed else "ok",
        }
        for run in range(runs)
    ]
    return Results({"scene": "two"}, ("gas",), ("top",), rows)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """A folder with two shards of three runs, 5 and 6 not recorded; what the simulation of the first one showed."""
    folder = tmp_path_factory.mktemp("study")
    sim = turgor.Simulation(scene(far=500.0), worlds=3)
    sim["ball"].nRT = sim["ball"].nRT * np.array([1.0, 1.2, 1.4])
    shown = recorded(sim, folder / "data" / "shard-00000.h5", [4, 0, 2])
    recorded(turgor.Simulation(scene()), folder / "data" / "shard-00001.h5", [1])
    write_index(folder, table(6, failed=(2,)))
    return folder, shown


def test_bits_of_the_simulation(study: tuple[Path, list[dict[str, Any]]]) -> None:
    folder, shown = study
    data = Trajectories(folder)
    assert [item["run"] for item in data] == [0, 1, 4]  # 2 failed, 3 and 5 were not recorded
    for number, world in ((0, 1), (2, 0)):
        item = data[number]
        np.testing.assert_array_equal(item["time"], [frame["time"] for frame in shown])
        for name in FIELDS:
            expected = np.stack([frame[name][world] for frame in shown])
            np.testing.assert_array_equal(item[name].reshape(expected.shape), expected, err_msg=name)
    assert item["positions"].shape == (FRAMES, 42, 3)
    assert item["rigid_rotation"].shape == (FRAMES, 1, 4)
    assert not np.array_equal(data[0]["positions"], data[2]["positions"])


def test_the_documented_layout_with_h5py(study: tuple[Path, list[dict[str, Any]]]) -> None:
    folder, shown = study
    with h5py.File(folder / "data" / "shard-00000.h5") as shard:
        about = json.loads(shard["about"][:].tobytes())
        assert shard["runs"][:].tolist() == [4, 0, 2]
        assert shard["positions"].shape == (3, FRAMES, 42, 3)
        assert shard["positions"].dtype == np.float32
        assert about["every"] == EVERY
        layout = json.loads(shard["layout/layout"][:].tobytes())
        assert [(body["name"], body["faces"]) for body in layout["bodies"]] == [("ball", 80), ("block", 12)]
        assert shard["layout/faces"].shape == (80 + 12, 3)
        assert shard["vertices/1"].shape == (8, 3)
        last = shard["positions"][:, -1].astype(np.float64) + np.array(about["origin"])
        np.testing.assert_array_equal(last, shown[-1]["positions"])
        assert np.linalg.norm(about["origin"]) > 400.0


def test_inputs_outputs_and_bodies(study: tuple[Path, list[dict[str, Any]]]) -> None:
    data = Trajectories(study[0], fields=["positions"], dtype=np.float32)
    item = data[-1]
    assert set(item) == {"run", "inputs", "outputs", "time", "positions"}
    assert item["positions"].dtype == np.float32
    assert (item["inputs"], item["outputs"]) == ({"gas": 2.0}, {"top": 1.0 / 3})
    assert math.isnan(data[0]["outputs"]["top"])
    assert data.bodies()["ball"]["faces"].shape == (80, 3)
    with pytest.raises(IndexError):
        data[3]


@pytest.mark.parametrize("dim", [2, 3])
def test_rigid_bodies_can_be_drawn(tmp_path: Path, dim: int) -> None:
    """Vertices of a data set, turned and moved, are where the simulation has them, to single precision."""
    made, flat = scene(dim, far=3.0), dim == 2
    box = shapes.box((0.1, 0.2, 0.3))
    slab = shapes.mesh(box.vertices + 0.5, box.faces)
    away = shapes.outline([[1.0, 1.0], [1.2, 1.0], [1.0, 1.3]]) if flat else slab  # its centre is not its origin
    turn, spin = (0.7, 3.0) if flat else ((0.0, 0.0, 0.7), (1.0, 2.0, 3.0))
    made.add_rigid_body(away, name="away", at=(-2.0, *(dim - 1) * [0.0]), rotation=turn, spin=spin)
    sim = turgor.Simulation(made)
    writer, seen = ShardWriter(tmp_path / "data" / "a.h5", sim, [0], 1), []
    for _ in range(3):
        sim.step()
        writer.add(sim)
        seen.append([body.positions for body in sim.rigid_bodies.values()])
    writer.close()
    write_index(tmp_path, table(1))
    data = Trajectories(tmp_path)
    item, bodies = data[0], data.bodies()
    assert "vertices" not in bodies["ball"]
    for index, name in enumerate(["block", "away"]):
        turns = matrices_of(item["rigid_rotation"][:, index])
        drawn = bodies[name]["vertices"] @ np.swapaxes(turns, 1, 2) + item["rigid_center"][:, None, index]
        np.testing.assert_allclose(drawn, [frame[index] for frame in seen], atol=8 * 3.0 * 2.0**-24)


def all_kinds(dim: int) -> turgor.Scene:
    """Rigid bodies about an anchor, a cloth, a body without gas, a skin of a material, a box that turns."""
    made = scene(dim, far=100.0)
    flat, side = dim == 2, 100.0
    shell = shapes.circle(0.1, points=8) if flat else shapes.icosphere(0.1, subdivisions=1)
    made.add_soft_body(shell, name="empty", at=(side + 0.7, *(dim - 1) * [0.0]), springs=turgor.Springs(50.0, 0.1))
    made.add_soft_body(
        shell, name="latex", at=(side - 0.7, *(dim - 1) * [0.0]), gas=turgor.Gas(gauge=10.0), color="#ff8800",
        material=turgor.Membrane(young=1e5, poisson=0.4, thickness=1e-3, density=1000.0),
    )  # fmt: skip
    if not flat:
        made.add_cloth(shapes.sheet((0.5, 0.5), (4, 4)), name="flag", at=(side, 0.7, 0.7))
    made.add_container((4.0,) * dim, name="drum", at=(side, *(dim - 1) * [0.0]), spin=1.0 if flat else (0.0, 1.0, 0.0))
    return made


@pytest.mark.parametrize("dim", [2, 3])
def test_a_run_is_a_recording_of_it(tmp_path: Path, dim: int) -> None:
    """What is exported of a run is what `Simulation.frame` gave, but for the fields of materials."""
    sim = turgor.Simulation(all_kinds(dim), substeps=20)
    writer, seen = ShardWriter(tmp_path / "data" / "a.h5", sim, [7], EVERY), []
    for frame in range(3 * EVERY):
        if frame % EVERY == 0:
            writer.add(sim)
            seen.append(sim.frame())
        sim.step()
    writer.close()
    write_index(tmp_path, table(8))
    data = Trajectories(tmp_path)
    assert data.runs == [7]
    target = tmp_path / "run.vtkhdf"
    turgor.record.export(data.recording(7), target)
    with turgor.record.read(target) as read:
        assert read.layout.fps == sim.settings.fps / EVERY
        assert [body.color for body in read.layout.bodies] == [body.color for body in sim.layout.bodies]
        assert read.layout.walls == sim.layout.walls
        for one, other in zip(read, seen, strict=True):
            for name in ("time", "volumes", "pressures"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
            # rigid ones about an anchor are summed in another order: 2^-52 of 100 m, and of what they turn with
            for name in ("positions", "velocities"):
                np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-13, err_msg=name)
            np.testing.assert_array_equal(one.walls[0].rotation, other.walls[0].rotation)
            np.testing.assert_array_equal(one.walls[0].position, other.walls[0].position)
    assert not np.array_equal(seen[0].walls[0].rotation, seen[-1].walls[0].rotation)


def test_a_run_that_is_not_there(tmp_path: Path, study: tuple[Path, list[dict[str, Any]]]) -> None:
    with pytest.raises(SceneError, match="has no trajectory of a run 2; it has 3, from 0 to 4"):
        Trajectories(study[0]).recording(2)
    for file in (study[0] / "data").iterdir():
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / file.name).write_bytes(file.read_bytes())
    with h5py.File(tmp_path / "data" / "shard-00000.h5", "a") as shard:
        del shard["layout/faces"]
    with pytest.raises(SceneError, match=r"shard-00000\.h5: this shard of the data set cannot be read \("):
        Trajectories(tmp_path).recording(4)


def test_recording_changes_nothing_and_memory_is_as_a_file(tmp_path: Path) -> None:
    """In 2D; the bytes of a shard in memory are put in place later."""
    plain, watched = turgor.Simulation(scene(dim=2)), turgor.Simulation(scene(dim=2))
    buffer = io.BytesIO()
    shown = recorded(watched, buffer, [0])
    for _ in range(FRAMES * EVERY):
        plain.step()
    assert plain.state_hash() == watched.state_hash()
    save_shard(tmp_path / "data" / "shard-00000.h5", buffer.getvalue())
    write_index(tmp_path, table(1))
    item = Trajectories(tmp_path)[0]
    np.testing.assert_array_equal(item["positions"], [frame["positions"] for frame in shown])
    np.testing.assert_array_equal(item["rigid_rotation"][:, 0], [frame["rigid_rotation"] for frame in shown])


def test_many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames are written two at a time, and one is left for the end."""
    sim = turgor.Simulation(scene(), worlds=2)
    monkeypatch.setattr("turgor.study.shards.BUFFER", 2 * 2 * (2 * 42 * 3 * 4 + (2 + 3 + 4 + 3 + 3) * 8))
    shown = recorded(sim, tmp_path / "data" / "a.h5", [0, 1])
    with h5py.File(tmp_path / "data" / "a.h5") as shard:
        assert shard["positions"].chunks[1] == 2
    write_index(tmp_path, table(2))
    np.testing.assert_array_equal(Trajectories(tmp_path)[1]["velocities"], [frame["velocities"][1] for frame in shown])


def test_complete_or_absent(tmp_path: Path) -> None:
    sim = turgor.Simulation(scene(dim=2))
    writer = ShardWriter(tmp_path / "data" / "a.h5", sim, [0], 1)
    writer.add(sim)
    assert not (tmp_path / "data" / "a.h5").exists()
    writer.close(finished=False)
    assert list((tmp_path / "data").iterdir()) == []
    writer.close()  # a second time does nothing
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.process
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    """A limit on the size of files stands for it; the program ends as it should, which HDF5 alone does not let it."""
    code = (
        "import resource, signal, sys, numpy as np, turgor\n"
        "from turgor.study.shards import ShardWriter\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "sim = turgor.Simulation(turgor.gallery.load('drop-2d'), worlds=64)\n"
        "rng = np.random.default_rng(0)\n"
        "writer = ShardWriter(sys.argv[1], sim, range(64), 1)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    for _ in range(20):\n"
        "        sim['ball'].velocities = rng.normal(size=sim.velocities.shape)\n"
        "        writer.add(sim)\n"
        "    writer.close()\n"
        "except turgor.RecordError as error:\n"
        "    writer.close(finished=False)\n"
        "    print(error)\n"
    )
    path = tmp_path / "data" / "a.h5"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == f"{path}: cannot be written (File too large); free some space or choose another folder\n"
    assert done.returncode == 0
    assert list(path.parent.iterdir()) == []


def test_bad_input(tmp_path: Path, study: tuple[Path, list[dict[str, Any]]]) -> None:
    sim = turgor.Simulation(scene(dim=2))
    with pytest.raises(SceneError, match="a shard of 1 worlds needs as many numbers of runs, got 2"):
        ShardWriter(tmp_path / "a.h5", sim, [0, 1], 1)
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be written"):
        ShardWriter(tmp_path / "file" / "a.h5", sim, [0], 1)
    with pytest.raises(SceneError, match="has no trajectories; make the study with --record every=N"):
        Trajectories(tmp_path)
    with pytest.raises(SceneError, match="trajectories have no field 'position'; did you mean 'positions'"):
        Trajectories(study[0], fields=["position"])
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "index.json").write_text('{"format": "turgor shard 0", "runs": []}')
    with pytest.raises(SceneError, match="is not of the format 'turgor shard 1'; record the study again"):
        Trajectories(tmp_path)
    entry = {"run": 0, "shard": "../a.h5", "offset": 0, "frames": 1, "inputs": {}, "outputs": {}}
    (tmp_path / "data" / "index.json").write_text(json.dumps({"format": "turgor shard 1", "runs": [entry]}))
    with pytest.raises(SceneError, match=r"a\.h5: this shard of the data set cannot be read"):
        Trajectories(tmp_path)[0]


def test_a_scene_without_rigid_bodies(tmp_path: Path) -> None:
    sim = turgor.Simulation(turgor.gallery.load("drop-2d"), worlds=2)
    writer = ShardWriter(tmp_path / "data" / "a.h5", sim, [0, 1], 1)
    writer.add(sim)
    writer.close()
    write_index(tmp_path, table(2))
    assert set(Trajectories(tmp_path)[1]) == {
        "run", "inputs", "outputs", "time", "positions", "velocities", "volume", "pressure"
    }  # fmt: skip
    with pytest.raises(SceneError, match="the scene of this data set has no 'rigid_spin': leave that field out"):
        Trajectories(tmp_path, fields=["rigid_spin"])[0]


def test_the_example_without_pytorch(
    study: tuple[Path, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    names = runpy.run_path(str(Path(__file__).parents[3] / "examples/learn/dataset.py"))
    names["main"](str(study[0]))
    assert capsys.readouterr().out.splitlines() == [
        "3 runs; the first one is run 0 with inputs {'gas': 0.0}",
        "positions (5, 42, 3) (frames, vertices, dim), every 0.033 s",
        "PyTorch is not installed: pip install torch",
    ]


@pytest.mark.process
def test_another_process_reads_a_pickled_data_set(study: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    """As a DataLoader sends it to its workers; PyTorch is not imported for it."""
    data = Trajectories(study[0])
    (tmp_path / "data").write_bytes(pickle.dumps(data))
    code = (
        "import pickle, sys; data = pickle.loads(open(sys.argv[1], 'rb').read())\n"
        "print(len(data), data[2]['positions'].sum().hex(), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "data"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", float(data[2]["positions"].sum()).hex(), "False"]
