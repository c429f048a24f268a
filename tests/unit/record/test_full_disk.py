"""A full disk while a recording is exported: one sentence that names the file, and nothing under its name.

A limit on the size of files does what a full disk does, to ffmpeg too.
"""

from __future__ import annotations

import importlib.util
import resource

import pytest

from support.recordings import record_mixed
from turgor import RecordError
from turgor.record import export, read

pytestmark = pytest.mark.req("X9")
LIMIT = 4000  # bytes: less than any of these files
SMALL = {"size": (320, 180)}
MODELS = ("a.glb", "a.usdc", "a.usda", "a.usdz", "a.obj", "a.ply", "a.npz", "a.vtkhdf", "a.html", "frame_%d.obj")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    return record_mixed(tmp_path_factory.mktemp("full"), frames=4)


def fails_on_a_full_disk(mixed, folder, name, **options):
    folder.mkdir()
    before, limits = sorted(mixed.parent.iterdir()), resource.getrlimit(resource.RLIMIT_FSIZE)
    with read(mixed) as run:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, limits[1]))
        try:
            with pytest.raises(RecordError) as caught:
                export(run, folder / name, **options)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    sentence = str(caught.value)
    assert sentence.startswith(f"{folder / name}: cannot be written (")
    assert sentence.endswith("; free some space or choose another folder")
    assert len(sentence.splitlines()) == 1
    left = {path.name for path in folder.iterdir()}
    if name.endswith(".obj"):  # its materials are files of their own, and whole
        left -= {f"{stem}{end}" for stem in ("a", "frame") for end in (".mtl", ".body1.png", ".body2.png")}
    assert left == set()
    assert sorted(mixed.parent.iterdir()) == before
    return sentence


@pytest.mark.parametrize("name", MODELS)
def test_models_and_numbers(mixed, tmp_path, name):
    if name.startswith("a.usd") and importlib.util.find_spec("pxr") is None:
        pytest.skip("usd-core is not installed")
    fails_on_a_full_disk(mixed, tmp_path / "out", name)


@pytest.mark.picture
@pytest.mark.parametrize("name", ["a.mp4", "a.webm", "a.gif", "a.png", "frame_%d.png"])
def test_videos_and_pictures(mixed, tmp_path, name):
    said = fails_on_a_full_disk(mixed, tmp_path / "out", name, **SMALL)
    assert ("File too large" if name.endswith(".png") else "ffmpeg") in said
