"""Chunks on Ray: one task each, with CPU and GPU resources; lost workers are replaced, results come back as objects."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from turgor.errors import SceneError
from turgor.study.chunk import Outcome, Task, Tick, failed_rows
from turgor.study.local import ATTEMPTS, LOOK, performed

__all__ = ["LOCAL", "check_address", "on_ray"]

LOCAL = "ray"  # a Ray of our own on this machine, or the one that this program has started
CLIENT = "ray://"
REACH = 3.0  # s to reach an address
SETTINGS_FRAME = 4  # of HTTP/2
HINT = "its ports are 6379, and 10001 for ray://; all its machines need the same RAY_AUTH_MODE and token"
AHEAD = 2  # tasks per CPU that Ray knows of


def check_address(address: str) -> None:
    """SceneError where Ray is missing, or nobody answers at the address; without waiting long."""
    from importlib.util import find_spec

    if find_spec("ray") is None:
        remedy = "pip install 'turgor[cluster]', or use --on local"
        raise SceneError(f"--on {address} needs Ray, which is not installed: {remedy}")
    if address in (LOCAL, "auto"):
        return
    host, colon, port = address.removeprefix(CLIENT).rpartition(":")
    if not (host and colon and port.isdecimal() and 0 < int(port) < 65536):
        raise SceneError(f"--on {address}: not an address; use local, ray, ray://HOST:10001 or HOST:6379")
    if address.startswith(CLIENT) and find_spec("grpc") is None:
        raise SceneError(f"--on {address}: ray:// addresses need Ray's client: pip install 'ray[client]'")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), REACH) as line:
            known = bool(os.environ.get("RAY_USE_TLS")) or _speaks_grpc(line)
    except OSError as error:
        raise SceneError(
            f"--on {address}: nobody answers there ({error.strerror or error}); start Ray with `ray start --head`, and "
            "use ray://HOST:10001 from elsewhere"
        ) from None
    if not known:
        raise SceneError(f"--on {address}: who answers there is not Ray; its ports are 6379, and 10001 for ray://")


def _speaks_grpc(line: socket.socket) -> bool:
    """Whether the other end speaks HTTP/2, as Ray does: both sides begin with a frame of settings (RFC 9113, 3.4).

    Ray itself waits for minutes before it gives up on somebody else.
    """
    line.settimeout(REACH)
    try:
        line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, SETTINGS_FRAME, 0, 0, 0, 0, 0]))
        answer = line.recv(9)
    except OSError:
        return False
    return len(answer) > 3 and answer[3] == SETTINGS_FRAME


def has_token() -> bool:
    """Whether Ray has left a token on this machine, or was given one.

    `ray start` then asks for it, and so does a cluster that was started after any Ray of our own, as that makes one;
    who connects to an address has to say so, or is turned away.
    """
    given = os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"
    return bool(os.environ.get("RAY_AUTH_TOKEN")) or Path(given).is_file()


@contextlib.contextmanager
def _connected(address: str, workers: int | None) -> Iterator[Any]:
    """Ray, connected; what was started here is ended here."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address != LOCAL and "ray" not in sys.modules and has_token():  # it reads that once
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    import ray

    if ray.is_initialized():
        yield ray
        return
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    try:
        if address == LOCAL:
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the sentence below says it
                ray.init(address=address, **quiet)
    except Exception as error:  # Ray has many
        said = " ".join(str(error).split())[:200]
        hint = "" if address in (LOCAL, "auto") else f"; {HINT}"
        raise SceneError(f"--on {address}: Ray cannot be reached ({type(error).__name__}: {said}){hint}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def on_ray(tasks: Iterable[Task], address: str, workers: int | None, device: str, tick: Tick) -> Iterator[Outcome]:
    """As outcomes arrive. workers: most tasks at once; None: as many as the cluster has CPUs (or GPUs)."""
    check_address(address)
    with _connected(address, workers) as ray:
        kind = "CPU" if device == "cpu" else "GPU"
        found = ray.cluster_resources().get(kind, 0)
        if found < 1:
            raise SceneError(f"--device {device}: the cluster has no {kind}; use another device or cluster")
        options = {"num_cpus": 1, "num_gpus": 0 if kind == "CPU" else 1, "max_retries": ATTEMPTS - 1}
        remote = ray.remote(performed).options(**options)
        most = workers or int(found) * AHEAD
        waiting, running = iter(tasks), dict[Any, Task]()
        try:
            while True:
                while len(running) < most and (task := next(waiting, None)) is not None:
                    running[remote.remote(task)] = task
                if not running:
                    return
                ready, _ = ray.wait(list(running), num_returns=1, timeout=LOOK)
                tick()
                for reference in ready:
                    task = running.pop(reference)
                    yield _outcome(ray, reference, task)
        finally:
            for reference in running:
                with contextlib.suppress(Exception):
                    ray.cancel(reference, force=True)


def _outcome(ray: Any, reference: Any, task: Task) -> Outcome:
    try:
        outcome: Outcome = ray.get(reference)
    except Exception as error:  # the worker was lost too often
        said = " ".join(str(error).split())[:200]
        reason = f"its worker was lost {ATTEMPTS} times ({type(error).__name__}: {said})"
        return Outcome(task.number, failed_rows(task, reason))
    return outcome
