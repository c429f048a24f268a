"""What the shell offers after TAB, through the program as bash calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from turgor import gallery
from turgor.cli import completion
from turgor.cli.app import execute
from turgor.record import ENDINGS
from turgor.scene import SOLVERS
from turgor.viewer import lessons


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    def ask(line: str) -> list[str]:
        monkeypatch.setenv("_TURGOR_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            execute([])
        assert end.value.code == 0
        return capfd.readouterr().out.split()

    return ask


def test_the_shell_completes_names_and_endings(offered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dream.toml").touch()
    assert offered("turgor run dr") == ["drop", "drop-2d", "dream.toml"]
    assert set(gallery.names()) < set(offered("turgor play "))
    assert offered("turgor run drop --solver ") == list(SOLVERS)
    assert offered("turgor run drop --solver rk") == ["rk4", "rk4-martin"]
    assert offered("turgor run drop -o film.") == [f"film{ending}" for ending in ENDINGS]
    assert offered("turgor run drop -o film.m") == ["film.mp4"]
    assert "validate" in offered("turgor v")


def test_lessons_are_those_of_the_playground() -> None:
    assert sorted(completion.lessons("")) == sorted(lessons.LESSONS)
