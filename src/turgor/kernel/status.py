"""What `status[0]` says of a simulation on the device; `status[1]` is the body that caused it."""

__all__ = ["FINE", "NOT_FINITE", "OVERFLOW", "TOO_STIFF"]

FINE, NOT_FINITE, TOO_STIFF, OVERFLOW = range(4)
