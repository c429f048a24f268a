"""The errors a user can meet. Each message says what is wrong, where, and what to do."""

__all__ = ["MeshError", "SceneError", "TurgorError", "UnstableError"]


class TurgorError(Exception):
    """Base of all errors that turgor raises on purpose."""


class MeshError(TurgorError):
    """A shape cannot be simulated: it is open, self-crossing, degenerate, not finite, ..."""


class SceneError(TurgorError):
    """A scene, or a parameter of it, is not valid."""


class UnstableError(TurgorError):
    """The simulation diverged, or would need more substeps than allowed."""
