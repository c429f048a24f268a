"""Small studies for tests: a coarse ball in 2D that falls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from turgor import Gas, Results, Scene, Springs, Study, shapes

VARY = {"ball.gas.nRT": "10:40:4", "ball.mass": [0.5, 1.0], "ground.friction": [0.0, 0.5, 0.9]}
MEASURE = {"highest": "max(ball.center.y)", "fell": "first(ball.center.y < 0.55)", "end": "ball.center.y"}


def ball(**options: Any) -> Scene:
    scene = Scene(dim=2, name="ball")
    scene.add_ground(friction=0.4, restitution=0.2)
    given: dict[str, Any] = {"springs": Springs(300.0, 0.4), "gas": Gas(nRT=20.0), "at": (0.0, 0.6)}
    scene.add_soft_body(shapes.circle(radius=0.3, points=14), name="ball", **given | options)
    return scene


def study(scene: Scene | None = None, vary: Any = None, measure: Any = None, **options: Any) -> Study:
    """Of 24 runs in three simulations, unless told otherwise."""
    given: dict[str, Any] = {"seconds": 0.2, "substeps": 12, "device": "cpu", **options}
    return Study(ball() if scene is None else scene, VARY if vary is None else vary, measure or MEASURE, **given)


def table(results: Results) -> list[str]:
    """The rows without the time they took, to the last bit."""
    return [repr({name: value for name, value in row.items() if name != "wall_seconds"}) for row in results.rows]


# A measure that notes each simulation it is made for, can kill its process the first time, and can hold all but the
# first three simulations until it is released: so that a study surely is interrupted before its end.
COUNTING = """
import os, signal, time
from pathlib import Path

FOLDER = Path({folder!r})

class Counting:
    def __init__(self):
        (FOLDER / f"made-{{os.getpid()}}-{{os.urandom(4).hex()}}").touch()
        self.frames = 0
    def __call__(self, sim):
        self.frames += 1
        while (FOLDER / "hold").exists() and len(list(FOLDER.glob("made-*"))) > 3:
            time.sleep(0.01)
        if self.frames == 5 and (FOLDER / "kill").exists():
            (FOLDER / "kill").rename(FOLDER / "killed")
            os.kill(os.getpid(), signal.SIGKILL)
        return 0.0
"""


def counting(folder: Path, *, kill: bool = False, hold: bool = False) -> dict[str, str]:
    """Measures, one of which counts into the folder."""
    folder.mkdir()
    if kill:
        (folder / "kill").touch()
    if hold:
        (folder / "hold").touch()
    file = folder / "counting.py"
    file.write_text(COUNTING.format(folder=str(folder)))
    return {**MEASURE, "counted": f"{file}:Counting"}


def release(folder: Path) -> None:
    """Let the simulations go on that are held."""
    (folder / "hold").unlink()


def made(folder: Path) -> int:
    """How many simulations were begun."""
    return len(list(folder.glob("made-*")))


def without_count(results: Results) -> list[str]:
    """The table without the column of the measure that counts."""
    return [row.replace(", 'counted': 0.0", "") for row in table(results)]


def finished(out: Path) -> list[int]:
    """The chunks in the journal, in the order in which they were finished."""
    journal = out / "journal.jsonl"
    lines = journal.read_text().splitlines() if journal.exists() else []
    return [json.loads(line)["chunk"] for line in lines if line.endswith("}")]
