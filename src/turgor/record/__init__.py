"""Sinks for frames: trajectory file, arrays, video, pictures. The simulation does not know them."""

from turgor.record.render import Painter
from turgor.record.sink import ENDINGS, Sink, check_path, open_sink
from turgor.record.trajectory import Trajectory, read

__all__ = ["ENDINGS", "Painter", "Sink", "Trajectory", "check_path", "open_sink", "read"]
