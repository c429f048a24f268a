"""Running a scene."""

from turgor.simulation.simulation import Simulation

__all__ = ["Simulation"]
