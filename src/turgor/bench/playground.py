"""How interactive the playground is: what the server does with one client on the same machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any

from turgor import gallery
from turgor.bench.measure import ball_scene
from turgor.bench.suite import Options, Tables
from turgor.scene import Scene

__all__ = ["playground"]

SECONDS, WARM_UP = 4.0, 3.0
LARGE = "ball of 10,242 vertices"
IN_A_BROWSER = ("drop", "five-balls", "pile", "flag", "jelly-2d", LARGE)  # software draws slowly: some of them
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
# From the address of a playground to a picture with bodies in it: their colours are what is not grey.
FIRST_PICTURE = """
import io, sys
from PIL import Image
from playwright.sync_api import sync_playwright
with sync_playwright() as p:
    flags = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    page = p.chromium.launch(executable_path=sys.argv[2], args=flags).new_page(viewport={"width": 900, "height": 600})
    print("open", flush=True)
    sys.stdin.readline()
    page.goto(sys.argv[1])
    print("loaded", flush=True)
    while True:
        picture = Image.open(io.BytesIO(page.screenshot(clip={"x": 0, "y": 100, "width": 500, "height": 400})))
        _, saturation, _ = picture.convert("HSV").split()
        if sum(saturation.histogram()[80:]) > 1500:
            break
    print("seen", flush=True)
"""


def playground(options: Options) -> Tables:
    """Frames simulated and updates streamed per second with one client, for the gallery; how soon a picture is there.

    Clients: one that only reads, and for some scenes a real browser, which draws by software. The first picture: s
    from `turgor play drop` to the page and to a picture with bodies, without and with compiled kernels.
    """
    if not find_spec("viser"):
        return {"cpu": [{"missing": "the playground needs viser; install it with: pip install 'turgor[play]'"}]}
    lengths = (0.2, 0.2) if options.quick else (WARM_UP, SECONDS)
    names = ["five-balls"] if options.quick else gallery.names()
    scenes = {name: gallery.load(name) for name in names} | ({} if options.quick else {LARGE: ball_scene(5)})
    rows = [
        {"scene": name, "client": "reads", **_measured(scene, [READER], *lengths)} for name, scene in scenes.items()
    ]
    tables: Tables = {"cpu: one client": rows}
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if options.quick:
        return tables
    if not (chromium and find_spec("playwright")):
        tables["cpu: first picture"] = [{"missing": "a browser needs Chromium and: pip install playwright"}]
        return tables
    for name in IN_A_BROWSER:
        rows.append({"scene": name, "client": "browser", **_measured(scenes[name], [BROWSER, chromium], *lengths)})
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"WARP_CACHE_PATH": folder}
        tables["cpu: first picture"] = [
            {"kernel_cache": kind, **_first_picture(chromium, environment)} for kind in ("cold", "warm")
        ]
    return tables


def _first_picture(chromium: str, environment: dict[str, str]) -> dict[str, float]:
    with ExitStack() as stack:
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        visit = [sys.executable, "-c", FIRST_PICTURE, f"http://127.0.0.1:{port}", chromium]
        browser = stack.enter_context(subprocess.Popen(visit, **pipes))
        stack.callback(browser.kill)
        assert browser.stdin is not None
        assert browser.stdout is not None
        browser.stdout.readline()
        command = [sys.executable, "-m", "turgor", "play", "drop", "--no-browser", "--port", str(port)]
        start = time.perf_counter()
        server = stack.enter_context(subprocess.Popen(command, env=environment, **pipes))
        stack.callback(server.kill)
        assert server.stdout is not None
        if not server.stdout.readline():
            raise RuntimeError("the playground did not start")
        times = {"server_s": time.perf_counter() - start}
        print("go", file=browser.stdin, flush=True)
        for key in ("page_s", "bodies_s"):
            if not browser.stdout.readline():
                raise RuntimeError("the benchmark's browser ended")
            times[key] = time.perf_counter() - start
        return times


def _measured(scene: Scene, client: list[str], warm_up: float, seconds: float) -> dict[str, float]:
    from turgor.viewer.page.playground import Playground

    code, *arguments = client
    with ExitStack() as stack:
        page = stack.enter_context(Playground(scene, port=0))
        command = [sys.executable, "-c", code, str(page.port), *arguments]
        reader = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8"))
        stack.callback(reader.kill)
        assert reader.stdout is not None
        if not reader.stdout.readline():
            raise RuntimeError("the benchmark's client did not start")
        time.sleep(warm_up)
        rates, start, processor = page.rates, time.perf_counter(), time.process_time()
        frames, updates, begin = rates.all_frames, rates.all_updates, page.world.sim.time
        time.sleep(seconds)
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
