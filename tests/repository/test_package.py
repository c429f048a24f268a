"""What goes into the package: data with its licence, a citation of this version, a container that can be built."""

from __future__ import annotations

import json
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import typer

from turgor.cli.app import app

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCE = ROOT / "src"


def data_files() -> set[str]:
    """Files of the source tree that are no Python code, as the package has them."""
    found = (path for path in (SOURCE / "turgor").rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc"))
    return {path.relative_to(SOURCE).as_posix() for path in found}


def test_all_data_is_in_the_package() -> None:
    patterns = [f"turgor/{pattern}" for pattern in PROJECT["tool"]["setuptools"]["package-data"]["turgor"]]
    assert {path for path in data_files() if not any(fnmatch(path, pattern) for pattern in patterns)} == set()


def test_the_notice_names_the_licence_of_every_data_file() -> None:
    lines = [line for line in (ROOT / "NOTICE").read_text(encoding="utf-8").splitlines() if line.startswith("turgor/")]
    entries = [re.split(r"\s{2,}", line) for line in lines]
    licences = set(PROJECT["project"]["license"].split(" AND "))
    assert all(len(entry) == 3 and entry[2] in licences for entry in entries)
    for path in data_files():
        assert sum(fnmatch(path, entry[0]) for entry in entries) == 1, path
    for entry in entries:
        assert any(fnmatch(path, entry[0]) for path in data_files()), entry[0]
    for file in PROJECT["project"]["license-files"]:
        assert (ROOT / file).is_file()


@pytest.mark.parametrize("file", ["src/turgor/version.py", "CITATION.cff", "extras/blender/blender_manifest.toml"])
def test_versions_agree(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    (version,) = re.findall(r"^(?:__)?version(?:__)?\s*[:=]\s*\"?([\d.]+)", text, re.MULTILINE)
    assert version == PROJECT["project"]["version"]


def test_the_dockerfile_copies_what_exists_and_starts_what_exists() -> None:
    text = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    steps = [line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    allowed = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    copied = [name for word, rest in steps if word == "COPY" for name in rest.split()[:-1]]
    assert sorted(copied) == sorted(allowed)
    assert all((ROOT / name).exists() for name in copied)
    needed = {PROJECT["project"]["readme"], *PROJECT["project"]["license-files"], "pyproject.toml"}
    assert all(any(file == name or file.startswith(f"{name}/") for name in copied) for file in needed)
    found = dict(step for step in steps if step[0] in ("ENTRYPOINT", "CMD", "EXPOSE", "USER", "FROM"))
    assert found["USER"] != "root"
    command, *arguments = json.loads(found["CMD"])
    assert json.loads(found["ENTRYPOINT"]) == ["turgor"]
    group = typer.main.get_command(app)
    context = group.commands[command].make_context(command, list(arguments))  # type: ignore[attr-defined]
    assert context.params["host"] == "0.0.0.0"
    assert str(context.params["port"]) == found["EXPOSE"]
    assert found["FROM"].split(":")[1].split("-")[0] in ("3.11", "3.12", "3.13")
    graphics = (ROOT / "tools" / "graphics").read_text(encoding="utf-8")
    (packages,) = re.findall(r'^packages="([^"]+)"', graphics, re.MULTILINE)
    assert packages in text
