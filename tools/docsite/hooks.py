"""Hooks of mkdocs: adds the pages that are made from the program, and leads links out of docs/ to pages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOOLS))
sys.path.insert(0, str(TOOLS.parent / "src"))

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docsite import commands, gallery_page, lessons, notebooks, scene_reference, sources
from turgor import gallery


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Pages beside those in docs/."""
    pages: dict[str, str | bytes] = {
        "reference/scene-file.md": scene_reference.page(),
        "reference/command-line.md": commands.page(),
        "gallery.md": gallery_page.page(),
        "tutorial/experiments.md": sources.relinked(
            lessons.experiments_page(), "docs/tutorial/experiments.md", "tutorial/experiments.md"
        ),
    }
    links = sources.linked_sources(lessons.experiments_page(), "docs/tutorial/experiments.md")
    pages |= {lessons.uri(script): lessons.lesson_page(script) for script in lessons.SCRIPTS}
    for notebook in notebooks.NOTEBOOKS:
        text, pictures = notebooks.page(notebook)
        pages[f"notebooks/{notebook.stem}.md"] = text
        pages |= {f"notebooks/{name}": data for name, data in pictures.items()}
    for name in gallery.names():
        pages[f"images/scenes/{name}.webp"] = gallery.picture(name) or b""
    for origin, uri in sources.PAGES.items():
        if uri not in {file.src_uri for file in files} | set(pages):
            text = (sources.ROOT / origin).read_text(encoding="utf-8")
            pages[uri] = sources.relinked(text, origin, uri)
            links |= sources.linked_sources(text, origin)
    for file in files.documentation_pages():
        links |= sources.linked_sources(file.content_string, f"docs/{file.src_uri}")
    pages |= {f"source/{path}.md": sources.source_page(path) for path in links}
    for uri, content in pages.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links out of docs/, of pages that are written by hand."""
    uri = page.file.src_uri
    return markdown if page.file.generated_by else sources.relinked(markdown, f"docs/{uri}", uri)
