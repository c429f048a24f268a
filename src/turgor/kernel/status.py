"""What `status[0]` says of a simulation on the device; `status[1]` is the body that caused it."""

__all__ = ["FINE", "NOT_FINITE", "OVERFLOW", "RUNAWAY", "TOO_STIFF"]

FINE, NOT_FINITE, TOO_STIFF, OVERFLOW, RUNAWAY = range(5)
