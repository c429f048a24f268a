"""A recording as a file: video, trajectory, model, page. A child process does the work, so the simulation runs on.

The child, `python -m turgor.viewer.export.files FOLDER`, finds its job in a private temporary folder, leaves the file
there, and writes one line of JSON per event to its standard output: {"done": 3, "total": 90} or {"error": "A
sentence."}.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from turgor.errors import SceneError, TurgorError
from turgor.record import check_path, open_sink
from turgor.viewer.export.two_painters import can_share, write_video
from turgor.viewer.world.recording import Recording

__all__ = ["KINDS", "VIDEO_FPS", "CancelledError", "Progress", "export"]

KINDS = ("mp4", "gif", "vtkhdf", "html", "glb", "usdc", "usdz")
FILMS = ("mp4", "gif")  # those at a steady rate; the others have the frames as they were recorded
VIDEO_FPS = 30.0  # pictures per simulated second
NICE = 5  # the child stands back behind the simulation
PATIENCE = 3.0  # s: for the child to close its encoder when it is cancelled
JOB, RESULT, COMPLAINTS = "job.pickle", "recording", "errors.txt"  # files in the child's folder

#: Called with (frames done, frames in all), on a helper of the exporting thread.
Progress = Callable[[int, int], None]


class CancelledError(TurgorError):
    """The export was stopped on request; nothing is left of it."""


def export(
    recording: Recording,
    kind: str,
    *,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> bytes:
    """The recording as a file of `kind` (see KINDS): a video in real time, the exact frames, a model, or a page.

    options: those of `turgor.record.open_sink` (size, timestamp, ...) and `fps` for mp4 and gif; `title` for html.
    Blocks until the child is done. Raises SceneError if it fails, CancelledError after `cancel` was set.
    """
    if kind not in KINDS:
        raise SceneError(f"cannot export a recording as {kind!r}; use {', '.join(KINDS)}.")
    if len(recording) == 0:
        raise SceneError("Nothing has been recorded yet; press Record first.")
    cancel = cancel or threading.Event()
    folder = Path(tempfile.mkdtemp(prefix="turgor-export-"))  # readable by this user only
    try:
        if kind != "html":
            check_path(folder / f"{RESULT}.{kind}")  # a missing package is known at once
        with (folder / JOB).open("wb") as file:
            pickle.dump((recording.snapshot(), kind, dict(options or {})), file, protocol=5)
        _run_child(folder, kind, progress, cancel)
        return (folder / f"{RESULT}.{kind}").read_bytes()
    except SceneError as error:
        raise SceneError(str(error).replace(f"{folder}{os.sep}", "")) from error  # our folder means nothing to users
    except OSError as error:
        raise SceneError(f"The .{kind} file could not be made: {error}; is the disk full?") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_child(folder: Path, kind: str, progress: Progress | None, cancel: threading.Event) -> None:
    root = str(Path(__file__).parents[3])  # the child finds this very turgor, wherever the parent got it from
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    with (folder / COMPLAINTS).open("wb") as complaints:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "turgor.viewer.export.files", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C is for the playground, which then stops the child
        )
    sentences: list[str] = []
    assert child.stdout is not None
    listener = threading.Thread(target=_listen, args=(child.stdout, sentences, progress), daemon=True)
    listener.start()
    try:
        while child.poll() is None:
            if cancel.wait(0.05):
                raise CancelledError(f"The export of the .{kind} file was cancelled.")
    finally:
        _stop(child)
        listener.join()
        child.stdout.close()
    if child.returncode:
        raise SceneError(sentences[-1] if sentences else _guess(folder, kind, child.returncode))


def _listen(stream: IO[str], sentences: list[str], progress: Progress | None) -> None:
    """Reads what the child says until it ends; a bar that fails (its page is gone) does not stop that."""
    for line in stream:
        said = json.loads(line)
        if "error" in said:
            sentences.append(str(said["error"]))
        elif "done" in said and progress is not None:
            with suppress(Exception):
                progress(said["done"], said["total"])


def _stop(child: subprocess.Popen[str]) -> None:
    """Ends the child, if it runs: it closes its encoder, or has to go without."""
    child.terminate()
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()  # its encoder ends by itself when nothing comes any more
        child.wait()


def _guess(folder: Path, kind: str, status: int) -> str:
    """What to say of a child that died without a word of its own."""
    lines = (folder / COMPLAINTS).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    why = lines[-1].strip()[:300] if lines else f"the program ended with status {status}"
    return f"The .{kind} file could not be made: {why}; try a shorter recording, or another format."


# the child ---------------------------------------------------------------------------------------------------------


def _work(folder: Path, say: Callable[[dict[str, Any]], None]) -> None:
    """Makes the file that the job in `folder` asks for."""
    with (folder / JOB).open("rb") as file:
        recording, kind, options = pickle.load(file)  # written by our parent into a folder that only we can read

    def progress(done: int, total: int) -> None:
        say({"done": done, "total": total})

    target = folder / f"{RESULT}.{kind}"
    if kind == "html":
        from turgor.viewer.export.standalone import standalone_html

        target.write_bytes(standalone_html(recording, progress=progress, **options))
    else:
        _write_frames(recording, target, options, progress)


def _write_frames(recording: Recording, target: Path, options: dict[str, Any], progress: Progress) -> None:
    """Through the sinks of turgor.record: videos at a steady rate, all others frame by frame."""
    if target.suffix[1:] in FILMS:
        options = {"fps": VIDEO_FPS, **options}
        total = int(np.floor(recording.duration * options["fps"] + 1e-6)) + 1
        share = target.suffix == ".mp4" and can_share(recording, total)
        write_video(recording, target, options, total, progress, share)
        return
    total = len(recording)
    if target.suffix == ".vtkhdf":
        options = {"frames": total, "precision": "float32", **options}
    with open_sink(target, recording.layout, **options) as sink:
        for number in range(total):
            sink.add(recording.frame(number))
            progress(number + 1, total)


def _main(folder: Path) -> int:
    speech = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is not for the parent

    def say(event: dict[str, Any]) -> None:
        print(json.dumps(event), file=speech, flush=True)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # cancelled: sinks are closed on the way out
    if hasattr(os, "nice"):
        os.nice(NICE)
    try:
        _work(folder, say)
        say({"finished": True})
    except BrokenPipeError:  # the parent is gone, and cannot tidy up any more
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)
    except TurgorError as error:
        say({"error": str(error)})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1])))
