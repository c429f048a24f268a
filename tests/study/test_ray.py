"""Studies on a real Ray cluster of two nodes: the same table, a killed worker, a killed driver."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.studies import counting, finished, made, release, study, table, without_count
from support.waiting import until
from turgor import Results, SceneError

pytestmark = [pytest.mark.process, pytest.mark.timeout(280), pytest.mark.req("X10")]

ray = pytest.importorskip("ray")

# four sets in each of eight simulations, long enough to be killed in between
LONGER = {
    "vary": {"ball.mass": [0.5, 1.0, 1.5, 2.0], "ground.friction": [round(0.1 * n, 1) for n in range(8)]},
    "seconds": 1.0,
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of two nodes with a CPU each; its processes end with the tests."""
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
    nodes = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        nodes.add_node(**node)
        nodes.wait_for_nodes()
        yield nodes.address
    finally:
        if ray.is_initialized():
            ray.shutdown()
        nodes.shutdown()


def test_the_table_is_that_of_one_process(cluster: str) -> None:
    assert table(study().run(cluster)) == table(study().run(workers=1))
    assert not ray.is_initialized()  # what was connected is not any more


def test_a_killed_worker_loses_nothing(cluster: str, tmp_path: Path) -> None:
    measure = counting(tmp_path / "count", kill=True)
    found = study(measure=measure).run(cluster, out=tmp_path / "out")
    assert (tmp_path / "count" / "killed").exists()
    assert without_count(found) == table(study().run(workers=1))
    assert made(tmp_path / "count") == 3 + 1  # three chunks, and the one whose worker was killed once more
    assert sorted(finished(tmp_path / "out")) == [0, 1, 2]


DRIVER = """
from support.studies import release, study
study(measure={measure!r}, **{options!r}).run({cluster!r}, out={out!r})
"""


def test_a_killed_driver_goes_on(cluster: str, tmp_path: Path) -> None:
    measure = counting(tmp_path / "count", hold=True)
    out = tmp_path / "out"
    code = DRIVER.format(measure=measure, options=LONGER, cluster=cluster, out=str(out))
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    driver = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})
    until(lambda: len(finished(out)) >= 2 or driver.poll() is not None, 120.0)
    driver.kill()
    driver.wait()
    release(tmp_path / "count")
    before = finished(out)
    kept = {file.name: file.read_bytes() for file in (out / "runs").glob("*.json")}
    assert 2 <= len(before) < 8
    begun = made(tmp_path / "count")
    found = study(measure=measure, **LONGER).run(cluster, out=out, resume=True)
    assert sorted(finished(out)) == list(range(8))  # each once
    assert finished(out)[: len(before)] == before
    assert all((out / "runs" / name).read_bytes() == content for name, content in kept.items())
    # Ray ends the tasks of the lost driver; those that it had are begun again, finished ones are not
    assert made(tmp_path / "count") - begun <= 8 - len(before) + 2
    assert table(found) == table(Results.read(out)) == table(study(measure=measure, **LONGER).run(workers=1))


def test_a_cluster_without_a_gpu_says_so(cluster: str) -> None:
    with pytest.raises(SceneError, match="--device cuda: the cluster has no GPU"):
        study(device="cuda").run(cluster)


def test_somebody_else_answers() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(SceneError, match="who answers there is not Ray"):
            study().run(address)
