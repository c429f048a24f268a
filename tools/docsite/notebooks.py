"""Notebooks as pages: their text, their code and the outputs that they were saved with."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "NOTEBOOKS", "code_cells", "page"]

FOLDER = Path(__file__).resolve().parents[2] / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def _cells(notebook: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return cells


def code_cells(notebook: Path) -> list[str]:
    """The code of a notebook, cell by cell."""
    return ["".join(cell["source"]) for cell in _cells(notebook) if cell["cell_type"] == "code"]


def page(notebook: Path) -> tuple[str, dict[str, bytes]]:
    """Markdown, and its pictures by name."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in _cells(notebook):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            text = "".join(output.get("text", data.get("text/plain", [])))
            if "image/png" in data:
                name = f"{notebook.stem}-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode("".join(data["image/png"]))
                parts.append(f"![]({name})")
            elif text.strip():
                parts.append(f"```text\n{text.rstrip()}\n```")
    parts.insert(1, f"*This page is a notebook with its outputs: [{notebook.name}]({notebook.name})*")
    return "\n\n".join(parts) + "\n", pictures
