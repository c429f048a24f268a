"""Against other engines in one run: the same balls on the same floor, measured in turns, as ratios."""

from turgor.bench.peers.compare import peers

__all__ = ["peers"]
