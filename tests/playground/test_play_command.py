"""`turgor play` as a user meets it: the installed program, in a process of its own."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from support.play_helpers import page
from support.program import EXE, Here

pytestmark = pytest.mark.req("X8")


def test_help_of_play(here: Here) -> None:
    text = here.good("play", "--help")
    for word in ("--port", "--host", "--device", "--lesson", "--no-browser", "SCENE"):
        assert word in text


def test_without_viser_the_command_says_how_to_install_it() -> None:
    program = (
        "import sys; sys.modules['viser'] = None; from turgor.cli.app import execute; sys.exit(execute(sys.argv[1:]))"
    )
    for arguments, code in ((["play", "--help"], 0), (["play"], 2)):
        done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == code
        assert "Traceback" not in done.stderr
    assert done.stderr == "turgor: the playground needs viser, which is not installed: pip install 'turgor[play]'\n"


def test_a_lesson_that_does_not_exist_is_named_with_the_nearest(here: Here) -> None:
    done = here.command("play", "--lesson", "ballon", "--no-browser")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "turgor: there is no lesson 'ballon'; did you mean 'balloon'?\n"


def test_a_taken_port_ends_the_command() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [EXE, "play", "drop", "--no-browser", "--port", str(port)], capture_output=True, text=True, timeout=100
        )
    expected = f"turgor: port {port} is taken: choose another with --port\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


def test_ctrl_c_ends_it_at_once() -> None:
    process = subprocess.Popen(
        [EXE, "play", "drop", "--no-browser", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job ignores it
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"turgor play: http://127\.0\.0\.1:(\d+)  \(Ctrl-C ends\)\n", line)
        assert found, line
        port = int(found[1])
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", port), 5)
        with page(port) as link:
            assert link.recv(timeout=60)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            rest, errors = process.communicate(timeout=20)
            assert time.monotonic() - begin < 5.0  # 2 s, and what a loaded machine may add
        assert (process.returncode, rest, errors) == (0, "", "")
    finally:
        process.kill()
        process.wait()
