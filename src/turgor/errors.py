"""The errors and warnings a user can meet. Each message says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["MeshError", "RecordError", "SceneError", "TurgorError", "TurgorWarning", "UnstableError", "did_you_mean"]


class TurgorError(Exception):
    """Base of all errors that turgor raises on purpose."""


class TurgorWarning(UserWarning):
    """A simulation runs, but probably not as it was meant; `Simulation.warnings` lists all of them."""


class MeshError(TurgorError):
    """A shape cannot be simulated: it is open, self-crossing, degenerate, not finite, ..."""


class RecordError(TurgorError):
    """A recording or a checkpoint cannot be written: the disk is full, the folder is gone, ..."""


class SceneError(TurgorError):
    """A scene, or a parameter of it, is not valid."""


class UnstableError(TurgorError):
    """The simulation diverged, or would need more substeps than allowed.

    `worlds` are those that failed, and `reasons` says why, a sentence for each. The others are fine: after a `restart`
    of those that failed, the simulation goes on.
    """

    def __init__(self, message: str = "", reasons: Mapping[int, str] | None = None) -> None:
        super().__init__(message)
        self.reasons = dict(reasons) if reasons is not None else {0: message}

    @property
    def worlds(self) -> tuple[int, ...]:
        """The numbers of the worlds that failed, in order."""
        return tuple(sorted(self.reasons))


def did_you_mean(word: object, known: Iterable[str], otherwise: str | None = None) -> str:
    """`did you mean 'stiffness'?`; where no name is close: `otherwise`, by default the list of the known names."""
    from difflib import get_close_matches

    names = list(known)
    if close := get_close_matches(str(word), names, n=1):
        return f"did you mean {close[0]!r}?"
    if otherwise is not None:
        return otherwise
    return f"known: {', '.join(names)}" if names else "there is none"
