"""The browser playground: a world that runs (`world`), its picture (`draw`), its controls (`page`) and its server."""
