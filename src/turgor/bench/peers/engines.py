"""Where the other engines are found, and how each is started: a program that reads a problem and answers with times."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from turgor.bench.peers.problem import Problem

__all__ = ["FOLDER", "PEERS", "Driver", "MissingError", "Peer"]

DRIVERS = Path(__file__).with_name("drivers")
FOLDER = Path.home() / ".cache" / "turgor" / "peers"  # where engines are looked for, unless another folder is given
BULLET = ("/usr/include/bullet", "/usr/local/include/bullet", "/opt/homebrew/include/bullet")
SOLVER_ITERATIONS = "5"  # of MuJoCo, in each of its steps


class MissingError(Exception):
    """An engine is not here; the sentence says how to get it."""


@dataclass(frozen=True)
class Peer:
    """An engine. start: its command, from the folder of engines, one for what is compiled, and the device."""

    name: str
    start: Callable[[Path, Path, str], list[str]]
    devices: tuple[str, ...] = ("cpu",)


class Driver:
    """A program that runs: `frames(n)` lets it simulate n frames and says how long each took, and where the ball is."""

    def __init__(self, command: list[str], problem: Problem, folder: Path, build: Path) -> None:
        paths = [str(folder / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._errors = build / f"errors-{len(list(build.iterdir()))}.txt"  # a pipe that nobody reads would fill up
        with self._errors.open("w", encoding="utf-8") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8",
                env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)}, cwd=build,  # MuJoCo writes a log where it runs
            )  # fmt: skip
        self.engine = str(self._answer(problem.text())["engine"])

    def frames(self, count: int) -> dict[str, float]:
        """seconds per frame, by the wall clock and of the processor; height, lowest point (m) and volume (m³)."""
        return self._answer(f"{count}\n")

    def _answer(self, question: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(question)
            self._process.stdin.flush()
            for line in self._process.stdout:
                if line.startswith("{"):  # engines also print about themselves
                    answer: dict[str, Any] = json.loads(line)
                    return answer
        except BrokenPipeError:
            pass
        self._process.wait()
        said = self._errors.read_text(encoding="utf-8", errors="replace").splitlines()
        last = next((line for line in reversed(said) if line.strip()), "it says nothing")
        raise MissingError(f"its program ended: {last.strip()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self._process.kill()
        self._process.communicate()


def _compiled(source: str, build: Path, options: list[str], libraries: list[str]) -> str:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise MissingError("it needs a C++ compiler; on Debian: apt-get install g++")
    program = build / Path(source).stem
    command = [compiler, "-O3", *options, "-o", str(program), str(DRIVERS / source), *libraries]
    if not program.exists():
        done = subprocess.run(command, capture_output=True, encoding="utf-8")
        if done.returncode:
            raise MissingError(f"its program does not compile: {done.stderr.strip().splitlines()[-1]}")
    return str(program)


def _hand(folder: Path, build: Path, device: str) -> list[str]:
    return [_compiled("hand.cpp", build, ["-march=native"], [])]


def _bullet(folder: Path, build: Path, device: str) -> list[str]:
    headers = next((path for path in BULLET if Path(path, "BulletSoftBody").is_dir()), None)
    if headers is None:
        raise MissingError("its headers are not installed; on Debian: apt-get install libbullet-dev")
    libraries = ["-lBulletSoftBody", "-lBulletDynamics", "-lBulletCollision", "-lLinearMath"]
    return [_compiled("bullet.cpp", build, ["-march=native", "-I", headers], libraries)]


def _jolt(folder: Path, build: Path, device: str) -> list[str]:
    package = folder / "node_modules" / "jolt-physics"
    if not package.is_dir():
        raise MissingError("it is not in the folder of --peers; npm install --prefix DIR jolt-physics")
    node = shutil.which("node")
    if node is None:
        raise MissingError("it needs node; on Debian: apt-get install nodejs")
    about = json.loads((package / "package.json").read_text(encoding="utf-8"))
    return [node, str(DRIVERS / "jolt.mjs"), str(package / about["main"]), about["version"]]


def _python(name: str, folder: Path, how: str, *arguments: str) -> list[str]:
    """The driver of a Python package, in the folder of engines or in the environment that runs."""
    if not (folder / "python" / name).is_dir() and find_spec(name) is None:
        raise MissingError(f"it cannot be imported; pip install --target DIR/python {how}, for --peers DIR")
    return [sys.executable, str(DRIVERS / f"{name}_balls.py"), *arguments]


def _mujoco(folder: Path, build: Path, device: str) -> list[str]:
    return _python("mujoco", folder, "mujoco", SOLVER_ITERATIONS)


def _newton(folder: Path, build: Path, device: str) -> list[str]:
    return _python("newton", folder, "--no-deps newton", device)


PEERS = (
    Peer("C++ by hand", _hand),
    Peer("Bullet", _bullet),
    Peer("Jolt (WASM)", _jolt),
    Peer("MuJoCo flex", _mujoco),
    Peer("Newton XPBD", _newton, ("cpu", "cuda")),
)
