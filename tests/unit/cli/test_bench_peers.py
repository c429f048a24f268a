"""Other engines beside turgor: what is missing is named; the ball is what is meant; drivers and turgor agree."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turgor.bench.peers import compare, engines
from turgor.bench.peers.problem import FPS, RADIUS, SPACING, Problem
from turgor.bench.suite import Options
from turgor.simulation.simulation import Simulation

SMALL = Problem(2, 1, 5)
FINE = {"seconds": 1e-3, "height": RADIUS, "lowest": 0.0, "volume": SMALL.shape.volume}


def rows_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, peers: tuple[engines.Peer, ...]) -> list[dict[str, Any]]:
    monkeypatch.setattr(compare, "PEERS", peers)
    (rows,) = compare.peers(Options(quick=True, peers=tmp_path)).values()
    return rows


def test_a_problem_is_the_same_mesh_for_all() -> None:
    counts, values, places, vertices, edges, faces = [
        np.array(line.split(), float) for line in SMALL.text().splitlines()
    ]
    assert counts.tolist() == [2, 42, 120, 80, 5]
    assert values[-1] == FPS
    assert places.reshape(-1, 3)[1, 0] == SPACING
    scene = SMALL.scene()
    np.testing.assert_array_equal(vertices.reshape(-1, 3), scene.bodies[0].shape.vertices)
    np.testing.assert_array_equal(edges.reshape(-1, 2), scene.bodies[0].shape.edges)
    np.testing.assert_array_equal(faces.reshape(-1, 3), scene.bodies[0].shape.faces)
    assert SMALL.shape.volume > 0.0


@pytest.mark.parametrize("problem", [Problem(1, 2, 5), Problem(1, 3, 10)])
def test_the_ball_stays_full_and_comes_to_lie_on_the_floor(problem: Problem) -> None:
    """With the substeps that it has, √(vertices / 162) × 5, on each mesh."""
    sim = Simulation(problem.scene(), solver="symplectic", contact="none", substeps=problem.substeps, fps=FPS)
    for _ in range(120):
        sim.step()
    answer = compare._ours(sim, 1)
    assert compare.state_of(answer, problem)["ball"] == "as meant"
    assert 1.3 < answer["volume"] / problem.shape.volume < 1.9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "as meant"),
        ({"volume": 0.5 * SMALL.shape.volume}, "it has lost its gas"),
        ({"volume": 9.0 * SMALL.shape.volume}, "it has burst"),
        ({"lowest": -1.0}, "it does not lie on the floor"),
        ({"lowest": 0.3}, "it does not lie on the floor"),
        ({"height": 0.1}, "it has collapsed or flown off"),
        ({"volume": float("nan")}, "it has lost its gas, it has burst"),
    ],
)
def test_a_ball_that_is_not_what_is_meant_is_told(change: dict[str, float], words: str) -> None:
    assert compare.state_of(FINE | change, SMALL)["ball"] == words


def test_missing_engines_are_named_with_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler, node and packages: turgor is measured, all others are named."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    monkeypatch.setattr(engines, "BULLET", ())
    ours, *others = rows_of(monkeypatch, tmp_path, engines.PEERS)
    assert ours["engine"] == "turgor"
    missing = {row["engine"]: row["missing"] for row in others if "missing" in row}
    assert set(missing) == {peer.name for peer in engines.PEERS}
    for words, name in (
        ("apt-get install g++", "C++ by hand"),
        ("apt-get install libbullet-dev", "Bullet"),
        ("npm install", "Jolt (WASM)"),
        ("pip install", "MuJoCo flex"),
        ("pip install", "Newton XPBD"),
    ):
        assert words in missing[name]
    assert str(tmp_path) not in json.dumps(others)


@pytest.mark.process
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import sys; sys.exit('no such device')", "its program ended: no such device"),
        ('print(\'{"engine": "x"}\', flush=True)', "its program ended: it says nothing"),
    ],
)
def test_an_engine_that_fails_is_named_and_the_others_go_on(
    program: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = engines.Peer("Broken", lambda folder, build, device: [sys.executable, "-c", program])
    ours, *_, last = rows_of(monkeypatch, tmp_path, (peer,))
    assert ours["ball"] in ("as meant", "it does not lie on the floor")
    assert last == {"engine": "Broken", "missing": words}


@pytest.mark.process
def test_the_step_by_hand_is_the_step_of_turgor(tmp_path: Path) -> None:
    """The same equations, in C++: after 20 frames the balls are in the same place, as far as single precision goes."""
    problem = Problem(1, 2, 5)
    try:
        command = engines.PEERS[0].start(tmp_path, tmp_path, "cpu")
    except engines.MissingError as reason:
        pytest.skip(str(reason))
    with engines.Driver(command, problem, tmp_path, tmp_path) as driver:
        theirs = driver.frames(20)
    sim = Simulation(problem.scene(), solver="symplectic", contact="none", substeps=5, fps=FPS)
    for _ in range(19):
        sim.step()
    ours = compare._ours(sim, 1)
    assert theirs["height"] == pytest.approx(ours["height"], rel=0.02)
    assert theirs["volume"] == pytest.approx(ours["volume"], rel=0.02)
