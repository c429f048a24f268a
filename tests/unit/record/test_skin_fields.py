"""The fields of skins of a material in recordings: for ParaView (CellData that changes with time), and as arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import turgor
from support.layouts import frame_of, rich_frame, rich_layout
from support.vtk_reader import vtk_steps
from turgor import shapes
from turgor.errors import SceneError
from turgor.record import open_sink, read

pytestmark = pytest.mark.req("X11")
FIELDS = ("stretch", "stress", "tension", "wrinkled")
RUBBER = turgor.Membrane(young=1e5, thickness=1e-3, law="neo-hookean")


def three_bodies(dim):
    """A rubber ball that falls on the ground, beside one of springs and a rigid one."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground()
    ball = shapes.icosphere(0.3, 2) if dim == 3 else shapes.circle(0.3, 24)
    here = [(*(x, 0.0)[: dim - 1], 0.35) for x in (0.0, 1.0, 2.0)]
    gas = turgor.Gas.at(gauge=300.0)
    scene.add_soft_body(ball, name="springs", at=here[1], gas=gas, springs=turgor.Springs(300.0, 1.0), mass=0.5)
    scene.add_soft_body(ball, name="b", at=here[0], gas=gas, material=RUBBER, velocity=(0.0,) * (dim - 1) + (-3.0,))
    scene.add_rigid_body(ball, name="rigid", at=here[2], mass=1.0)
    return scene


def rows_of(sim, name):
    """The faces of a body among those of all bodies."""
    counts = [len(body.faces) for body in sim.layout.bodies]
    place = [body.name for body in sim.layout.bodies].index(name)
    return slice(sum(counts[:place]), sum(counts[: place + 1]))


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("dim", [2, 3])
def test_vtk_reads_the_fields_of_each_step(tmp_path, dim, precision):
    sim = turgor.Simulation(three_bodies(dim), precision=precision)
    path, seen = tmp_path / "run.vtkhdf", []
    with open_sink(path, sim.layout) as sink:
        for _ in range(8):
            sink.add(sim.frame())
            seen.append({name: np.array(getattr(sim["b"], name)) for name in FIELDS})
            sim.step()
    mine, faces = rows_of(sim, "b"), sum(len(body.faces) for body in sim.layout.bodies)
    _, meshes = vtk_steps(path)
    assert len(meshes) == 8
    for mesh, expected in zip(meshes, seen, strict=True):
        assert mesh.n_cells == faces + (3 if dim == 2 else 0)
        for name in FIELDS:
            got = np.asarray(mesh.cell_data[name])
            np.testing.assert_array_equal(got[mine], expected[name], err_msg=name)
            others = np.ones(len(got), bool)
            others[mine] = False
            assert np.isnan(got[others]).all()
    most = [np.nanmax(mesh.cell_data["stress"]) for mesh in meshes]
    assert len(set(most)) == 8, "the fall on the ground changes the stress"
    with read(path) as run:
        for frame, expected in zip(run, seen, strict=True):
            for name in FIELDS:
                np.testing.assert_array_equal(getattr(frame, name)[mine], expected[name], err_msg=name)
        assert [body.material for body in run.layout.bodies] == [False, True, False]


def test_the_cells_of_paraview_are_the_faces_that_have_the_values(tmp_path):
    """One corner is pulled out: the most stretched cell of the file has that vertex, by its points alone."""
    sim = turgor.Simulation(three_bodies(3), precision="double")
    points = np.array(sim["b"].positions)
    points[7] += 0.5 * (points[7] - points.mean(axis=0))
    sim["b"].positions = points
    with open_sink(tmp_path / "run.vtkhdf", sim.layout) as sink:
        sink.add(sim.frame())
        sink.add(sim.frame())
    _, meshes = vtk_steps(tmp_path / "run.vtkhdf")
    stretch = np.asarray(meshes[1].cell_data["stretch"])[:, 0]
    corner = int(np.argmin(np.linalg.norm(meshes[1].points - points[7], axis=1)))
    around = {k for k, face in enumerate(meshes[1].regular_faces) if corner in face}
    assert set(np.argsort(-np.nan_to_num(stretch))[: len(around)].tolist()) == around


def test_npz_holds_the_fields(tmp_path):
    sim = turgor.Simulation(three_bodies(3))
    sim.run(seconds=0.1, record=tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as run:
        for name in FIELDS:
            assert len(run[name]) == len(run["times"])
            np.testing.assert_array_equal(run[name][-1][rows_of(sim, "b")], getattr(sim["b"], name), err_msg=name)
        assert run["stress"].shape == (len(run["times"]), len(run["faces"]), 2)


def test_without_materials_nothing_is_added(tmp_path):
    import h5py

    for name in ("run.vtkhdf", "run.npz"):
        with open_sink(tmp_path / name, rich_layout()) as sink:
            sink.add(rich_frame(0))
    with h5py.File(tmp_path / "run.vtkhdf") as file:
        assert "CellData" not in file["VTKHDF"]
        assert not len(file["VTKHDF/Steps/CellDataOffsets"])
        assert b'"material": true' not in bytes(file["turgor/layout"][:])
    with np.load(tmp_path / "run.npz") as run:
        assert not set(FIELDS) & set(run)
    with read(tmp_path / "run.vtkhdf") as run:
        assert run[0].stress is None


def test_single_precision_of_the_file_holds_for_fields_too(tmp_path):
    sim = turgor.Simulation(three_bodies(3), precision="double")
    with open_sink(tmp_path / "run.vtkhdf", sim.layout, precision="float32") as sink:
        sink.add(sim.frame())
    with read(tmp_path / "run.vtkhdf") as run:
        np.testing.assert_array_equal(run[0].stress, sim.frame().stress.astype(np.float32))


@pytest.mark.parametrize("ending", ["vtkhdf", "npz"])
def test_a_frame_without_the_fields_is_refused(tmp_path, ending):
    layout = rich_layout()
    layout = replace(layout, bodies=(replace(layout.bodies[0], material=True), layout.bodies[1]))
    with open_sink(tmp_path / f"run.{ending}", layout) as sink, pytest.raises(SceneError, match="stress of 5 faces"):
        sink.add(frame_of(rich_frame(0).positions, 0, 2, rich_frame(0).walls))
