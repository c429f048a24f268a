"""Balls of MuJoCo's flex, a skin as stiff as the springs, on its plane; an MjData for each ball, as they do not meet.

MuJoCo has no gas: its force is computed here and handed over as `qfrc_applied`, before each step and outside of what is
timed. Argument: iterations of the solver of contacts in each step, at most. Reads a problem from stdin
(bench/peers/problem.py), then numbers of frames; answers with a line of JSON to each.
"""

import json
import math
import sys
import time

import mujoco
import numpy as np

RADIUS = 0.005  # m around the skin: the gap to the floor
THICKNESS = 1e-3  # m of the skin, any: its stiffness is what counts
SOFTNESS = "0.01 1"  # s, damping ratio: of contacts


def main() -> None:
    lines = iter(sys.stdin)

    def row(kind: type, width: int) -> np.ndarray:
        return np.array(next(lines).split(), kind).reshape(-1, width)

    balls, count, _, _, substeps = map(int, next(lines).split())
    mass, stiffness, _, nRT, friction, gravity, fps = map(float, next(lines).split())
    places, vertices, _, faces = row(float, 3), row(float, 3), row(int, 2), row(int, 3)

    # a lattice of springs is a sheet with E t = 2/√3 k and Poisson's number 1/3
    young = 2.0 / math.sqrt(3.0) * stiffness / THICKNESS

    def text(values: np.ndarray) -> str:
        return " ".join(f"{value:.9g}" for value in values.ravel().tolist())

    model = mujoco.MjModel.from_xml_string(f"""<mujoco>
        <option timestep="{1.0 / fps / substeps}" gravity="0 0 {-gravity}" solver="CG" iterations="{sys.argv[1]}"/>
        <size memory="1G"/>
        <worldbody>
            <geom type="plane" size="0 0 1" friction="{friction} 0 0"/>
            <flexcomp name="ball" type="direct" dim="2" pos="{text(places[0])}" mass="{mass}" radius="{RADIUS}"
                point="{text(vertices)}" element="{text(faces)}">
                <elasticity young="{young}" poisson="0.3333" thickness="{THICKNESS}" elastic2d="stretch"/>
                <contact selfcollide="none" condim="3" friction="{friction} 0 0" solref="{SOFTNESS}"/>
            </flexcomp>
        </worldbody></mujoco>""")
    corners = [np.ascontiguousarray(faces[:, corner]) for corner in range(3)]

    def press(state: mujoco.MjData) -> float:
        """Sets the force of the gas; m³ of the ball."""
        x = state.qpos.reshape(-1, 3) + vertices  # about its own origin
        a, b, c = (x[corner] for corner in corners)
        area = np.cross(b - a, c - a)
        volume = float(np.einsum("ij,ij->", a, area)) / 6.0
        force = state.qfrc_applied.reshape(-1, 3)
        for axis in range(3):
            share = nRT / volume / 6.0 * area[:, axis]
            force[:, axis] = sum(np.bincount(corner, share, count) for corner in corners)
        return volume

    states = [mujoco.MjData(model) for _ in range(balls)]
    print(json.dumps({"engine": f"MuJoCo {mujoco.__version__} (flex)"}), flush=True)
    for line in lines:
        frames = int(line)
        seconds = processor = 0.0
        for state in states:
            for _ in range(frames * substeps):
                inside = press(state)
                begin, busy = time.perf_counter(), time.process_time()
                mujoco.mj_step(model, state)
                seconds += (time.perf_counter() - begin) / frames
                processor += (time.process_time() - busy) / frames
        x = state.qpos.reshape(-1, 3) + places[0] + vertices
        height, lowest = float(x[:, 2].mean()), float(x[:, 2].min())
        found = {"height": height, "lowest": lowest, "volume": inside}
        print(json.dumps({"seconds": seconds, "processor": processor, **found}), flush=True)


main()
