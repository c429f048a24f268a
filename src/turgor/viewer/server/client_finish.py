"""Small changes to viser's client, for which it has no setting: bodies shine, and a recording plays in slow motion.

viser's page carries its program packed; a loader unpacks it in the browser and runs it. We let the loader pass the
program through a function of ours that replaces a few of its words. Where another version of viser has other words, its
page stays as it is: tests/playground/test_play_viser.py then tells which are missing.
"""

from __future__ import annotations

import json

__all__ = ["CHANGES", "LOADED", "ROUGHNESS", "SPEEDS", "finished"]

ROUGHNESS = 0.42  # of bodies, 0 (mirror) to 1 (chalk, viser's); rubber has a wide, soft highlight
SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "4x")  # of the player in a standalone page
LOADED = "td.decode(heap.subarray(up+ss,up+sz))"  # what the loader runs

#: (regular expression of JavaScript, replacement): what is flat keeps viser's material.
CHANGES = (
    (
        r"flatShading:(\w+)\.flat_shading&&!\1\.wireframe\}",
        f"flatShading:$1.flat_shading&&!$1.wireframe,roughness:$1.flat_shading?1:{ROUGHNESS}}}",
    ),
    # Its own lights and reflections are off from the start: else a recording flashes when it begins again.
    (
        r"enableDefaultLights:!0,enableDefaultLightsShadows:!0,environmentMap:null",
        "enableDefaultLights:!1,enableDefaultLightsShadows:!1,environmentMap:{hdri_data:null}",
    ),
    (r"data:\[`0\.5x`,`1x`,`2x`,`4x`,`8x`\]", f"data:[{','.join(f'`{speed}`' for speed in SPEEDS)}]"),
)


def finished(page: str) -> str:
    """viser's page (or one that it made of a recording) with the changes."""
    if LOADED not in page or "<head>" not in page:
        return page
    table = json.dumps(CHANGES)
    script = (
        f"<script>function turgorFinish(code){{for(const [from,to] of {table})"
        "code=code.replace(new RegExp(from),to);return code}</script>"
    )
    return page.replace(LOADED, f"turgorFinish({LOADED})", 1).replace("<head>", f"<head>{script}", 1)
