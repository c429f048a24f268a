"""A scene that runs and can be changed while it runs: no browser in here."""
