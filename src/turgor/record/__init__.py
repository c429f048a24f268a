"""Recordings of a simulation: trajectory files, arrays, videos, pictures and models; and reading a trajectory back.

    sim.run(seconds=3, record="drop.vtkhdf")             the ending picks the format, see `ENDINGS`
    run = turgor.record.read("drop.vtkhdf")              len(run), run[10].positions, run.times, run.layout
    with turgor.record.open_sink("drop.mp4", sim.layout, velocities=True) as video:
        video.add(sim.frame())                           frame by frame, with options
    picture = turgor.record.Painter(sim.layout).draw(sim.frame())
    turgor.record.export("drop.vtkhdf", "drop.glb")      a recording as another file

The packages that draw and encode are imported when a video or a picture is opened.
"""

from turgor.output.frame import Frame, Layout
from turgor.output.sinks import Sink
from turgor.record.convert import export
from turgor.record.file_sink import FileSink
from turgor.record.formats import ENDINGS, check_path, open_sink
from turgor.record.look import Look
from turgor.record.render import Painter
from turgor.record.trajectory import Trajectory, read

__all__ = [
    "ENDINGS", "FileSink", "Frame", "Layout", "Look", "Painter",
    "Sink", "Trajectory", "check_path", "export", "open_sink", "read",
]  # fmt: skip
