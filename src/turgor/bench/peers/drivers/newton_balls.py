"""Balls of springs in Newton, solved by its XPBD, on its ground plane; one iteration in each substep.

Newton has no gas: two kernels here add its force to `particle_f`, as Newton provides for. Argument: the device. Reads a
problem from stdin (bench/peers/problem.py), then numbers of frames; answers with a line of JSON to each.
"""

import json
import sys
import time

import newton
import numpy as np
import warp as wp

RADIUS = 0.005  # m of a particle: the gap to the floor
GAP = 0.1  # m: contacts are found once in a frame, for all that may come so far


@wp.kernel
def add_volumes(x: wp.array(dtype=wp.vec3), faces: wp.array2d(dtype=int), per_ball: int, volume: wp.array(dtype=float)):
    f = wp.tid()
    a, b, c = x[faces[f, 0]], x[faces[f, 1]], x[faces[f, 2]]
    first = x[faces[f // per_ball * per_ball, 0]]
    wp.atomic_add(volume, f // per_ball, wp.dot(a - first, wp.cross(b - a, c - a)) / 6.0)


@wp.kernel
def add_pressure(
    x: wp.array(dtype=wp.vec3), faces: wp.array2d(dtype=int), per_ball: int, volume: wp.array(dtype=float), nRT: float,
    force: wp.array(dtype=wp.vec3),
):  # fmt: skip
    f = wp.tid()
    a, b, c = x[faces[f, 0]], x[faces[f, 1]], x[faces[f, 2]]
    share = nRT / volume[f // per_ball] / 6.0 * wp.cross(b - a, c - a)
    for corner in range(3):
        wp.atomic_add(force, faces[f, corner], share)


def main() -> None:
    lines = iter(sys.stdin)

    def row(kind: type, width: int) -> np.ndarray:
        return np.array(next(lines).split(), kind).reshape(-1, width)

    balls, count, _, _, substeps = map(int, next(lines).split())
    mass, stiffness, damping, nRT, friction, gravity, fps = map(float, next(lines).split())
    places, vertices, edges, faces = row(float, 3), row(float, 3), row(int, 2), row(int, 3)
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, -gravity))
    for ball, place in enumerate(places):
        builder.add_particles(
            [wp.vec3(*p) for p in vertices + place], [wp.vec3()] * count, [mass / count] * count, [RADIUS] * count
        )
        for first, second in (edges + ball * count).tolist():
            builder.add_spring(first, second, stiffness, damping, 0.0)
    builder.add_ground_plane()
    model = builder.finalize(sys.argv[1])
    model.soft_contact_mu = friction
    solver = newton.solvers.SolverXPBD(model, iterations=1)
    pipeline = newton.CollisionPipeline(model, soft_contact_gap=GAP)
    contacts, control = pipeline.contacts(), model.control()
    states = [model.state(), model.state()]
    corners = (np.arange(balls)[:, None, None] * count + faces).reshape(-1, 3)
    triangles = wp.array(corners, dtype=int, device=model.device)
    volume = wp.zeros(balls, dtype=float, device=model.device)

    def frame() -> None:
        pipeline.collide(states[0], contacts)
        for _ in range(substeps):
            now, then = states
            now.clear_forces()
            volume.zero_()
            for kernel, rest in ((add_volumes, [volume]), (add_pressure, [volume, nRT, now.particle_f])):
                inputs = [now.particle_q, triangles, len(faces), *rest]
                wp.launch(kernel, len(corners), inputs, device=model.device)
            solver.step(now, then, control, contacts, 1.0 / fps / substeps)
            states.reverse()

    per_launch = 1 if substeps % 2 == 0 else 2  # frames until the states are in their old order, for the recording
    for _ in range(per_launch):
        frame()  # compiles
    with wp.ScopedCapture(device=model.device) as capture:
        for _ in range(per_launch):
            frame()
    print(json.dumps({"engine": f"Newton {newton.__version__} (XPBD), {model.device}"}), flush=True)
    for line in lines:
        launches = -(-int(line) // per_launch)
        wp.synchronize_device(model.device)
        begin, busy = time.perf_counter(), time.process_time()
        for _ in range(launches):
            wp.capture_launch(capture.graph)
        wp.synchronize_device(model.device)
        frames = launches * per_launch
        seconds, processor = (time.perf_counter() - begin) / frames, (time.process_time() - busy) / frames
        x = states[0].particle_q.numpy()[:count]
        a, b, c = x[faces].transpose(1, 0, 2)
        inside = float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0
        height, lowest = float(x[:, 2].mean()), float(x[:, 2].min())
        found = {"height": height, "lowest": lowest, "volume": inside}
        print(json.dumps({"seconds": seconds, "processor": processor, **found}), flush=True)


main()
