"""Warp starts, or says in one sentence what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.program import command
from support.scene_files import TINY


@pytest.mark.process
def test_a_cache_folder_that_cannot_be_written_is_named_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "file").write_text("in the way of a folder")
    done = command("run", "tiny.toml", "-o", "a.npz", cwd=tmp_path, WARP_CACHE_PATH=str(tmp_path / "file" / "cache"))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "compiled kernels cannot be kept" in line
    assert "set WARP_CACHE_PATH to a folder that can be written" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "tiny.toml"]
