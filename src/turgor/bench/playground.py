"""How interactive the playground is: what the server does with one client on the same machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from typing import Any

from turgor import gallery
from turgor.bench.measure import ball_scene
from turgor.scene import Scene

__all__ = ["playground"]

SECONDS = 6.0
WARM_UP = 4.0
# A client without a screen: it greets like a page, and reads all that it is sent. In a process of its own.
READER = """
import sys, msgspec, viser
from websockets.sync.client import connect
port = int(sys.argv[1])
camera = {"type": "ViewerCameraMessage", "wxyz": [1, 0, 0, 0], "position": [0, 0, 0], "fov": 1.0, "near": 0.1,
          "far": 10.0, "image_height": 720, "image_width": 1280, "look_at": [0, 1, 0], "up_direction": [0, 0, 1]}
with connect(f"ws://127.0.0.1:{port}", subprotocols=[f"viser-v{viser.__version__}"], max_size=None,
             origin=f"http://127.0.0.1:{port}", compression=None) as link:
    link.send(msgspec.msgpack.encode(camera))
    total = 0
    print("reading", flush=True)
    while True:
        total += len(link.recv())
        print(total, flush=True)
"""
BROWSER = """
import sys
from playwright.sync_api import sync_playwright
with sync_playwright() as p:
    flags = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    page = p.chromium.launch(executable_path=sys.argv[2], args=flags).new_page(viewport={"width": 1280, "height": 760})
    page.goto(f"http://127.0.0.1:{sys.argv[1]}")
    page.wait_for_selector("canvas")
    print("reading", flush=True)
    page.wait_for_timeout(1e9)
"""


def playground() -> dict[str, Any]:
    """Frames simulated and updates streamed per second with one client: one that only reads, and a real browser."""
    scenes = {"five-balls": gallery.load("five-balls"), "ball of 10,242 vertices": ball_scene(5)}
    clients: dict[str, list[str]] = {"reader": [READER]}
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with suppress(ImportError):
        import playwright  # noqa: F401

        if chromium:
            clients["browser, rendering in software"] = [BROWSER, chromium]
    return {
        name: {client: _measured(scene, code) for client, code in clients.items()} for name, scene in scenes.items()
    }


def _measured(scene: Scene, client: list[str]) -> dict[str, float]:
    from turgor.viewer.page.playground import Playground

    code, *arguments = client
    with ExitStack() as stack:
        page = stack.enter_context(Playground(scene, port=0))
        command = [sys.executable, "-c", code, str(page.port), *arguments]
        reader = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        stack.callback(reader.kill)
        assert reader.stdout is not None
        if not reader.stdout.readline():
            raise RuntimeError("the benchmark's client did not start")
        time.sleep(WARM_UP)
        rates, start, processor = page.rates, time.perf_counter(), time.process_time()
        frames, updates, begin = rates.all_frames, rates.all_updates, page.world.sim.time
        time.sleep(SECONDS)
        wall = time.perf_counter() - start
        frames, updates = rates.all_frames - frames, rates.all_updates - updates
        used = time.process_time() - processor
        return {
            "vertices": page.world.sim.vertices,
            "frames_per_s": frames / wall,
            "realtime_factor": (page.world.sim.time - begin) / wall,
            "updates_per_s": updates / wall,
            "server_cores": used / wall,
        }
