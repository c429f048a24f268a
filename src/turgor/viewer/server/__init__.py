"""The viser server, and the gate that stands between it and the network."""
