"""How the report draws: plots and line drawings as SVG, stills of scenes as JPEG."""
