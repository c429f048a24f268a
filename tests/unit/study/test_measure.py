"""Measures against the same numbers taken from a simulation frame by frame."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from support.studies import ball
from turgor import Membrane, Scene, SceneError, Simulation, shapes
from turgor.study.functions import MeasureError
from turgor.study.measure import Measuring, measures_of

pytestmark = pytest.mark.req("X10")

FRAMES = 20


def falling() -> Simulation:
    return Simulation(ball(at=(0.0, 0.4)), substeps=12, ledger=True, threads=1)


def measured(text: object, sim: Simulation | None = None, frames: int = FRAMES) -> float:
    sim = falling() if sim is None else sim
    measuring = Measuring(measures_of({"a": text}, sim.scene, ()), sim.worlds)
    measuring.look(sim)
    for _ in range(frames):
        sim.step()
        measuring.look(sim)
    return measuring.results(sim)["a"]


@pytest.fixture(scope="module")
def history() -> dict[str, np.ndarray]:
    """Quantities at the start and after each frame."""
    sim = falling()

    def now() -> list[float]:
        view, energy = sim["ball"], sim.energy()
        speed = float(np.linalg.norm(view.momentum) / view.mass)
        return [sim.time, view.center[1], view.volume, view.pressure, energy.total, energy.dissipated, speed]

    rows = [now()]
    for _ in range(FRAMES):
        sim.step()
        rows.append(now())
    names = ("time", "height", "volume", "pressure", "total", "dissipated", "speed")
    return dict(zip(names, np.array(rows).T, strict=True))


def test_functions_over_time(history) -> None:
    height, volume, time = history["height"], history["volume"], history["time"]
    rest = float(falling()["ball"].rest_volume)
    expected = {
        "max(ball.center.y)": height.max(),
        "min(ball.center.y)": height.min(),
        "mean(ball.center[1])": height.mean(),
        "rms(ball.speed)": math.sqrt(np.mean(history["speed"] ** 2)),
        "sum(ball.volume)": volume.sum(),
        "final(ball.volume)": volume[-1],
        "last(ball.volume)": volume[-1],
        "ball.volume": volume[-1],
        "energy.dissipated": history["dissipated"][-1],
        "max(abs(energy.total - 1))": np.abs(history["total"] - 1.0).max(),
        "max(ball.center.y) - min(ball.center.y)": height.max() - height.min(),
        "-2*max(ball.pressure)**0.5/4": -2.0 * math.sqrt(history["pressure"].max()) / 4.0,
        "time": time[-1],
        "any(ball.center.y < 0.35)": float((height < 0.35).any()),
        "mean(ball.center.y < 0.35)": (height < 0.35).mean(),
        "first(ball.center.y < 0.35)": time[np.argmax(height < 0.35)],
        "last(0.3 < ball.center.y < 0.35 or not time < 0)": time[-1],
        "first(ball.volume < 0.001*ball.rest_volume)": math.nan,
        "max(ball.volume/ball.rest_volume)": (volume / rest).max(),
    }
    sim = falling()
    measuring = Measuring(measures_of({f"m{n}": text for n, text in enumerate(expected)}, sim.scene, ()), 1)
    measuring.look(sim)
    for _ in range(FRAMES):
        sim.step()
        measuring.look(sim)
    found = measuring.results(sim)
    for number, (text, value) in enumerate(expected.items()):
        np.testing.assert_allclose(found[f"m{number}"], [value], rtol=1e-12, err_msg=text)
    assert (history["height"] < 0.35).any()  # so that the conditions mean something


def test_each_world_has_its_own(history) -> None:
    scenes = [ball(at=(0.0, height)) for height in (0.4, 0.9)]
    sim = Simulation(scenes[0], substeps=12, variants=scenes, ledger=True, threads=1)
    found = measured("first(ball.center.y < 0.35)", sim)
    assert found[0] == history["time"][np.argmax(history["height"] < 0.35)]
    assert math.isnan(found[1])


def test_quantities_of_all_kinds_of_bodies() -> None:
    scene = Scene(dim=3)
    scene.add_ground()
    scene.add_rigid_body(shapes.box((0.2, 0.2, 0.2)), name="box", at=(1.0, 0.0, 0.1), spin=(0.0, 0.0, 2.0))
    scene.add_cloth(shapes.sheet((0.5, 0.5), (3, 3)), name="flag-1", at=(0.0, 0.0, 2.0))
    scene.add_soft_body(
        shapes.icosphere(radius=0.1, subdivisions=1), name="ball", at=(-1.0, 0.0, 1.0),
        material=Membrane(young=1e6, thickness=1e-3),
    )  # fmt: skip
    sim = Simulation(scene, substeps=100, threads=1)
    assert measured("box.spin.z", sim, 0) == pytest.approx(2.0)
    assert measured("box.center.x + box.mass", sim, 0) == pytest.approx(2.0)
    assert measured("box.lowest", sim, 0) == pytest.approx(0.0, abs=1e-7)
    assert measured("'flag-1'.highest", sim, 0) == pytest.approx(2.25, abs=1e-6)
    assert measured("ball.stretch", sim, 0) == pytest.approx(1.0, abs=1e-4)
    assert measured("contacts.count", sim, 1) >= 4
    assert measured("contacts.penetration", sim, 0) >= 0.0


BAD = {
    "body": ("max(bal.center.y)", "the scene has no 'bal'; did you mean 'ball'"),
    "quantity": ("max(ball.centre.y)", "'ball' has no such quantity; did you mean 'center'"),
    "vector": ("max(ball.center)", "it is a vector; take a part of it: ball.center.y"),
    "third axis": ("max(ball.center.z)", "a scene in 2D has no z; use x or y"),
    "part of a number": ("ball.mass.x", "is a number and has no parts"),
    "energy": ("energy.lost", "there is no such quantity; known: kinetic"),
    "function": ("maximum(ball.mass)", "there is no function 'maximum'; did you mean 'max'"),
    "two arguments": ("max(ball.mass, 1)", "max takes one argument"),
    "nested": ("max(mean(ball.mass))", "mean inside max: one function over time is not inside another"),
    "condition": ("ball.mass < 2", "it is a condition: put it into first"),
    "no condition": ("first(ball.mass)", "first needs a condition such as .* not 'ball.mass'"),
    "sum of conditions": ("max((ball.mass < 2) + 1)", "is a condition, where a number is needed"),
    "equality": ("first(ball.mass == 2)", "compared by <, <=, > and >="),
    "syntax": ("max(ball.mass", "it cannot be read"),
    "empty": ("", "it cannot be read"),
    "code": ("__import__('os').system('true')", "is not known here"),
    "attribute of a call": ("max(ball.mass).real", "is not the name of a quantity"),
    "lambda": ("(lambda: 1)()", "is not known here"),
    "text": ("'hello'", "is not known here"),
    "deep": ("-" * 1900 + "1", "cannot be read|nested too deeply"),
    "long": ("1+" * 2000 + "1", "longer than 2,000 characters"),
    "no file": ("nowhere.py:f", "nowhere.py: cannot be read"),
    "a number": (5, "give an expression"),
}


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=BAD)
def test_bad_measures(given, message: str) -> None:
    with pytest.raises(SceneError, match=message):
        measures_of({"a": given}, ball(), ())


def test_names_of_columns_are_not_taken_twice() -> None:
    for name in ("seed", "ball.mass"):
        with pytest.raises(SceneError, match="the table has a column of that name already"):
            measures_of({name: "ball.mass"}, ball(), ("ball.mass",))
    with pytest.raises(SceneError, match="something to measure"):
        measures_of({}, ball(), ())


SOURCE = '''
import numpy as np

def height(sim):
    return sim["ball"].center[..., 1]

class Fall:
    """Keeps what it needs from frame to frame."""
    def __init__(self):
        self.start = None
    def __call__(self, sim):
        now = sim["ball"].center[..., 1]
        self.start = now if self.start is None else self.start
        return self.start - now

def broken(sim):
    return sim["ball"].cente

def wrong(sim):
    return [1.0, 2.0, 3.0]

def forgets(sim):
    sim["ball"].center

def leaves(sim):
    raise SystemExit(5)

def talks(sim):
    raise ValueError("two\\nlines")

class Needs:
    def __init__(self, what): ...

class Silent: ...
'''


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "measures.py"
    path.write_text(SOURCE)
    return str(path)


def test_a_function_in_a_file(file: str, history) -> None:
    assert measured(f"{file}:height") == history["height"][-1]
    assert measured(f"{file}:Fall") == history["height"][0] - history["height"][-1]


def test_functions_that_fail(file: str) -> None:
    with pytest.raises(SceneError, match=r"has no function 'heigth'; did you mean 'height'"):
        measures_of({"a": f"{file}:heigth"}, ball(), ())
    with pytest.raises(MeasureError, match=r"measure a=.*measures.py:broken: AttributeError: .*cente.* \(line 17\)"):
        measured(f"{file}:broken")
    with pytest.raises(MeasureError, match=r"must return a number, or one per world \(1\), and returned \[1.0"):
        measured(f"{file}:wrong")
    for name, said in (
        ("forgets", r"it must return a number, or one per world \(1\), and returned None$"),
        ("leaves", r"SystemExit: 5 \(line 26\)$"),
        ("talks", r"ValueError: two lines \(line 29\)$"),
        ("Needs", r"TypeError: Needs.__init__\(\) missing 1 required positional argument: 'what'$"),
        ("Silent", r"TypeError: 'Silent' object is not callable$"),  # a line of turgor helps nobody
    ):
        with pytest.raises(MeasureError, match=f"measure a=.*:{name}: {said}"):
            measured(f"{file}:{name}")
    with pytest.raises(SceneError, match="cannot be sent to other processes"):
        measures_of({"a": lambda sim: 1.0}, ball(), ())


def test_a_function_of_the_program(history) -> None:
    assert measured(centre_height) == history["height"][-1]


def centre_height(sim: Simulation) -> float:
    return sim["ball"].center[1]
