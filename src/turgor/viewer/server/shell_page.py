"""viser's page with our shell around it: what is on the screen before viser's program has run, and over its picture.

The page is put together once, in memory. The shell is shell/shell.css, shell/shell.html and shell/shell.js.
"""

from __future__ import annotations

import html
import re
from functools import cache
from importlib.resources import files

from turgor.viewer.server.admission import Answer
from turgor.viewer.server.client_finish import finished
from turgor.viewer.server.viser_private import client_page

__all__ = ["TITLE", "shell_page"]

TITLE = "turgor"


@cache
def shell_page() -> Answer:
    """The page as the gate sends it. The style and the script come first, so that they need not wait for viser's."""
    folder = files("turgor.viewer.server") / "shell"
    style, body, script = ((folder / f"shell.{ending}").read_text(encoding="utf-8") for ending in ("css", "html", "js"))
    page = finished(client_page())
    assert "<head>" in page
    assert "<body>" in page
    page = page.replace("<head>", f"<head>\n<style>\n{style}</style>\n<script>\n{script}</script>", 1)
    page = page.replace("<body>", f"<body>\n{body}", 1)
    page = re.sub("<title>.*?</title>", f"<title>{html.escape(TITLE)}</title>", page, count=1)
    return Answer("200 OK", page=page.encode("utf-8"))
