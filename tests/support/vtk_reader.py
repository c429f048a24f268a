"""Trajectories as ParaView and PyVista read them."""

from __future__ import annotations

from pathlib import Path

import pytest


def vtk_steps(path: Path):
    """What vtkHDFReader (ParaView, PyVista) makes of the file: times, and one mesh per step."""
    pv = pytest.importorskip("pyvista")
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    times = times or (0.0,)  # VTK takes a file with one step for a still
    meshes = []
    for step in range(reader.GetNumberOfSteps()):
        reader.SetStep(step)
        reader.Modified()
        reader.Update()
        meshes.append(pv.wrap(reader.GetOutput()).copy())
    return times, meshes
