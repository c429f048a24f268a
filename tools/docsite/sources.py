"""Links from pages into the repository: what lies outside of docs/ gets a page of its own, with its source."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

__all__ = ["PAGES", "linked_sources", "relinked", "site_uri", "source_page"]

ROOT = Path(__file__).resolve().parents[2]
#: files of the repository that are pages of the site under another name
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "tutorial/index.md",
}
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
LANGUAGES = {".py": "python", ".toml": "toml", ".cpp": "cpp", ".md": "markdown"}


def site_uri(path: str) -> str | None:
    """Where a file of the repository is on the site; None: it does not exist."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path in PAGES:
        return PAGES[path]
    lesson = re.fullmatch(r"examples/(\d\d_\w+)\.py", path)
    if lesson:
        return f"tutorial/{lesson[1].replace('_', '-')}.md"
    if path.startswith("..") or not (ROOT / path).is_file():
        return None
    return f"source/{path}.md"


def relinked(text: str, origin: str, uri: str) -> str:
    """The text of the file `origin` of the repository as the page `uri`: links out of docs/ go to their pages."""

    def change(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), match[2]))
        found = site_uri(target)
        if found is None or (target.startswith("docs/") and origin.startswith("docs/")):
            return match[0]
        return match[1] + posixpath.relpath(found, posixpath.dirname(uri) or ".") + match[3]

    return LINK.sub(change, text)


def linked_sources(text: str, origin: str) -> set[str]:
    """The source files of the repository that a page links to."""
    targets = {posixpath.normpath(posixpath.join(posixpath.dirname(origin), match[2])) for match in LINK.finditer(text)}
    return {target for target in targets if (site_uri(target) or "").startswith("source/")}


def source_page(path: str) -> str:
    """A file of the repository as a page. It is not searched: the references name what is in it."""
    language = LANGUAGES.get(Path(path).suffix, "text")
    text = (ROOT / path).read_text(encoding="utf-8")
    return f"---\nsearch: {{ exclude: true }}\n---\n# {path}\n\n~~~~~~{language}\n{text.rstrip()}\n~~~~~~\n"
