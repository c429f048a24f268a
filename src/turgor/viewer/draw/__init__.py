"""Bodies, walls and overlays as viser nodes: no controls in here, so the same code writes the standalone page."""
