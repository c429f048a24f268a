"""`turgor play`: the playground in the browser."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from turgor.cli import completion

if TYPE_CHECKING:
    from turgor.scene import Scene

__all__ = ["play"]

T = TypeVar("T")

DEFAULT_SCENE = "five-balls"
END_SECONDS = 1.5  # s that ending may take; a thread that is still busy then (a video being written) is left behind


def play(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            help="A scene of the gallery, or a scene file (.toml).",
            autocompletion=completion.scenes,
        ),
    ] = DEFAULT_SCENE,
    port: Annotated[int, typer.Option(help="Where to listen; 0 takes any free port.")] = 8080,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets others in who know the token that is printed.")
    ] = "127.0.0.1",
    device: Annotated[str, typer.Option(help="cpu, cuda (an NVIDIA GPU), cuda:1, or auto (a GPU if there is one).")] = (
        "cpu"
    ),
    lesson: Annotated[
        str | None,
        typer.Option(
            help="Open a guided experiment: boyle, bounce, gas-laws or balloon.", autocompletion=completion.lessons
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="Let the scene file name files outside its folder.")
    ] = False,
) -> None:
    """Play with a scene in the browser.

    Pull bodies, change parameters, record, share. SCENE is a name that `turgor scenes` lists, or a scene file, which is
    loaded again whenever it changes.

    \b
    turgor play                     five balls in a turning box
    turgor play flag --port 9000
    turgor play my.toml
    turgor play --lesson boyle      a guided experiment, of the tab Learn
    turgor play --host 0.0.0.0      for others too; the address with its token is printed

    Ctrl-C ends it. Needs the extra: pip install 'turgor[play]'
    """
    from importlib.util import find_spec

    from turgor.errors import SceneError

    if find_spec("viser") is None:
        raise SceneError("the playground needs viser, which is not installed: pip install 'turgor[play]'")
    from pathlib import Path

    from turgor import gallery
    from turgor.cli.run import load_scene

    chosen: Scene = load_scene(scene, allow_outside)
    path = None if scene in gallery.names() or lesson is not None else Path(scene)
    from turgor.viewer import lessons

    chosen_lesson = None if lesson is None else lessons.lesson(lesson)
    from turgor.viewer.page.playground import Playground
    from turgor.viewer.server.viser_server import silence_viser

    silence_viser()

    def announce(url: str) -> None:
        print(f"turgor play: {url}  (Ctrl-C ends)", flush=True)
        if not no_browser:
            open_browser(url)

    def build() -> Playground:
        return Playground(
            chosen,
            host=host,
            port=port,
            device=device,
            path=path,
            lesson=chosen_lesson,
            on_address=announce,
            allow_outside=allow_outside,
        )

    try:
        playground = beside(build)
    except KeyboardInterrupt:
        os._exit(0)  # the compiler of the kernels, which is at work now, would not be interrupted
    with playground:
        try:
            playground.wait()
        except KeyboardInterrupt:  # how it is meant to end: no failure
            leave_soon()
    sys.stdout.flush()
    os._exit(0)  # all is closed; the shutdown of Python and Warp would only take another second


def beside(function: Callable[[], T]) -> T:
    """What a function returns or raises, called in another thread: Ctrl-C reaches this one at any time."""
    pool = ThreadPoolExecutor(1, "turgor start")
    future = pool.submit(function)
    while not future.done():
        wait([future], 0.1)
    pool.shutdown()
    return future.result()


def open_browser(url: str) -> None:
    """Opens the system's browser where there is a screen; never fails, never waits."""
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return  # webbrowser would start one that takes over the terminal

    def attempt() -> None:
        with contextlib.suppress(Exception):
            webbrowser.open(url)

    threading.Thread(target=attempt, name="turgor browser", daemon=True).start()


def leave_soon() -> None:
    """Ends the program after END_SECONDS at the latest, whatever its threads do and however often Ctrl-C is pressed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    timer = threading.Timer(END_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()
