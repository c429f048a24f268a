"""The README opens with what it is and the two commands, and stays short. That it works is in test_pages.py."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCREENS = 90  # lines: two screens
PICTURE = 1_500_000  # bytes of the moving picture


def test_it_opens_with_one_sentence_and_the_two_commands() -> None:
    title, sentence, fence, *commands = [line for line in README.splitlines() if line][:5]
    assert title == "# turgor"
    assert sentence.endswith(".")
    assert len(sentence) <= 120
    assert fence == "```bash"
    assert [line.split("#")[0].strip() for line in commands] == ["make demo", "make test"]


def test_it_is_two_screens_with_ten_lines_of_python() -> None:
    assert len(README.splitlines()) <= SCREENS
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 10


def test_one_picture_moves() -> None:
    (picture,) = re.findall(r"\]\((\S+\.gif)\)", README)
    data = (ROOT / picture).read_bytes()
    assert data.startswith(b"GIF89a")
    assert len(data) <= PICTURE


def test_the_lock_has_names_versions_and_hashes_only() -> None:
    text = (ROOT / "requirements.lock").read_text()
    assert not re.search(r"https?:|file:|://|^-|\.whl|\.tar", text, re.MULTILINE)
    for entry in text.replace("\\\n", " ").splitlines():
        if entry and not entry.startswith("#"):
            assert re.fullmatch(r"[\w.-]+==[\w.+!]+( ; [\w ='\".<>]+?)?(\s+--hash=sha256:[0-9a-f]{64})+", entry), entry
