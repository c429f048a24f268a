"""The package keeps to what Linux, macOS and Windows have, but for guarded places, which are all listed here.

CI runs on Linux. So the source is read for what other systems lack, and a process that lacks it as Windows does runs
the program for real: no fcntl, no pread and pwrite, no fork, files that cannot be renamed while they are open, and a
code page instead of UTF-8.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.scene_files import TINY
from turgor import record

SOURCE = Path(__file__).parents[2] / "src" / "turgor"


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MODULES = words("fcntl grp posix pty pwd resource syslog termios tty")
NAMES = words(
    """chown chroot confstr copy_file_range ctermid eventfd fchdir fchmod fchown fdatasync fork forkpty fstatvfs getegid
    geteuid getgid getgroups getloadavg getpgid getpgrp getpriority getresuid getsid getuid getxattr initgroups killpg
    lchown lockf login_tty major makedev memfd_create minor mkfifo mknod nice openpty pathconf pidfd_open posix_fadvise
    posix_fallocate posix_spawn posix_spawnp pread preadv pwrite pwritev register_at_fork sched_getaffinity
    sched_setaffinity sched_yield sendfile set_blocking setegid seteuid setgid setgroups setpgid setpriority setregid
    setresuid setsid setuid setxattr splice statvfs sync sysconf tcgetpgrp tcsetpgrp uname unshare wait wait3 wait4
    waitid O_ASYNC O_CLOEXEC O_DIRECT O_DIRECTORY O_DSYNC O_NDELAY O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH
    O_SYNC O_TMPFILE"""
)
SIGNALS = words(
    """SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGPROF SIGQUIT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGUSR1
    SIGUSR2 SIGWINCH alarm pause pthread_kill pthread_sigmask set_wakeup_fd setitimer siginterrupt sigpending sigwait
    sigtimedwait"""
)
FOLDERS = ("/bin/", "/dev/", "/etc/", "/proc/", "/sys/", "/tmp", "/usr/", "/var/")
#: (file, what it uses that some system lacks) -> the words in that file that guard it
GUARDED = {
    ("bench/machine.py", "os.getloadavg"): 'hasattr(os, "getloadavg")',
    ("bench/machine.py", "os.sysconf"): 'hasattr(os, "sysconf")',
    ("bench/peers/engines.py", "'/usr/include/bullet'"): "is_dir()",
    ("bench/peers/engines.py", "'/usr/local/include/bullet'"): "is_dir()",
    ("kernel/cores.py", "'/proc/cpuinfo'"): "except OSError",
    ("kernel/cores.py", "os.sched_getaffinity"): 'hasattr(os, "sched_getaffinity")',
    ("record/open_file.py", "fcntl"): "except ImportError",
    ("record/open_file.py", "os.pread"): 'hasattr(os, "pread")',
    ("record/open_file.py", "os.pwrite"): 'hasattr(os, "pwrite")',
    ("viewer/export/files.py", "os.nice"): 'hasattr(os, "nice")',
    ("viewer/export/two_painters.py", "os.fork"): 'hasattr(os, "fork")',
    ("viewer/export/two_painters.py", "os.set_blocking"): 'hasattr(os, "fork")',
}


def uses(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, what) of all that some system lacks, and of text that would be read in the system's code page."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            yield from ((node.lineno, name) for name in names if name.partition(".")[0] in MODULES)
            if isinstance(node, ast.ImportFrom) and node.module in ("os", "signal"):
                lacking = NAMES if node.module == "os" else SIGNALS
                yield from ((node.lineno, f"{node.module}.{a.name}") for a in node.names if a.name in lacking)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            lacking = {"os": NAMES, "signal": SIGNALS}.get(node.value.id, frozenset())
            if node.attr in lacking:
                yield node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(FOLDERS):
            yield node.lineno, repr(node.value)
        elif isinstance(node, ast.Call):
            yield from _code_page(node)


def _code_page(call: ast.Call) -> Iterator[tuple[int, str]]:
    """Text of a file or a program without an encoding: UTF-8 here, a code page on Windows."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    method = isinstance(call.func, ast.Attribute)
    if "encoding" in keywords or None in keywords:
        return
    if method and name in ("read_text", "write_text"):
        yield call.lineno, f"{name} without an encoding"
    if not method and name == "open":
        mode = call.args[1] if len(call.args) > 1 else keywords.get("mode")
        if not (isinstance(mode, ast.Constant) and "b" in str(mode.value)):
            yield call.lineno, "open without an encoding"
    if "text" in keywords and name in ("run", "Popen", "check_output"):
        yield call.lineno, f"subprocess.{name}: text without an encoding"


def test_what_some_system_lacks_is_used_in_guarded_places_only() -> None:
    seen = set()
    breaches = []
    for file in sorted(SOURCE.rglob("*.py")):
        path, text = file.relative_to(SOURCE).as_posix(), file.read_text(encoding="utf-8")
        for line, what in uses(ast.parse(text)):
            guard = GUARDED.get((path, what))
            if guard is None or guard not in text:
                breaches.append(f"{path}:{line}: {what} is not on every system")
            seen.add((path, what))
    assert breaches == []
    assert seen == set(GUARDED)  # no entry for what is gone


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import fcntl", "fcntl"),
        ("from os import fork", "os.fork"),
        ("import os\nos.pwrite(1, b'', 0)", "os.pwrite"),
        ("import signal\nsignal.SIGKILL", "signal.SIGKILL"),
        ("open('/proc/meminfo', 'rb')", "'/proc/meminfo'"),
        ("path.read_text()", "read_text without an encoding"),
        ("open(path)", "open without an encoding"),
        ("subprocess.run(x, text=True)", "subprocess.run: text without an encoding"),
    ],
)
def test_such_uses_are_found(code: str, what: str) -> None:
    assert what in [found for _, found in uses(ast.parse(code))]


#: Makes this process one that lacks what Windows lacks, and then runs `turgor`. What the packages that turgor needs do
#: on Linux is theirs: they are imported before.
AS_ON_WINDOWS = f"""
import asyncio, os, signal, subprocess, sys, tempfile
import fast_simplification, h5py, manifold3d, numpy, rich.console, rich.progress, rich.table, shapely, trimesh, typer
import warp

for module in {sorted(MODULES)}:
    sys.modules[module] = None
for name in {sorted(NAMES)}:
    if hasattr(os, name):
        delattr(os, name)
for name in {sorted(SIGNALS)}:
    if hasattr(signal, name):
        delattr(signal, name)

plain_replace = os.replace
listed = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"

def replace(source, target):
    '''Windows: neither of the two may be open, as Python opens files.'''
    for fd in os.listdir(listed):
        for path in (source, target):
            try:
                same = os.path.samestat(os.fstat(int(fd)), os.stat(path))
            except OSError:
                continue
            if same:
                raise PermissionError(13, "it is open", str(path))
    plain_replace(source, target)

os.replace = replace
import turgor.record.vtkhdf
turgor.record.vtkhdf.RENAMES_OPEN_FILES = False  # all that is asked of os.name

import turgor
sim = turgor.Simulation(turgor.Scene.load(sys.argv[1]))
with turgor.record.open_sink("grows.vtkhdf", sim.layout, frames=2) as sink:  # and has to be moved twice
    for _ in range(6):
        sink.add(sim.frame())
        sim.step()

sys.argv = ["turgor", "run", sys.argv[1], "-o", "run.vtkhdf", "-o", "run.npz", "--seconds", "0.1"]
from turgor.cli import main
main()
"""


@pytest.mark.process
@pytest.mark.req("X9")
def test_the_program_runs_and_records_where_windows_lacks_what_linux_has(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY, encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "cp1251:strict", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS, "tiny.toml"], cwd=tmp_path, env=environment, capture_output=True,
        encoding="cp1251", timeout=250,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote run.vtkhdf" in done.stdout
    assert len(record.read(tmp_path / "grows.vtkhdf")) == 6
    run = record.read(tmp_path / "run.vtkhdf")
    assert run.times[-1] == pytest.approx(0.1)
    assert not list(tmp_path.glob(".*"))  # nothing half-written
