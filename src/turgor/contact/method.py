"""What a contact method is to the step: stages of a substep, buffers that grow, and the contacts it found."""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt

__all__ = ["ContactMethod"]


class ContactMethod(Protocol):
    """Contact between soft bodies, cloths and rigid bodies. All stages can be recorded; none looks from the host.

    A method that subclasses this has only the stages that it needs: the others do nothing.
    """

    SAVED: tuple[str, ...] = ()  # arrays that later substeps rely on
    CHANGED: tuple[str, ...] = ()  # those of them that the rollback of a failed frame puts back
    overflow: Any  # (1 or more,) int: [0] is not 0 if a buffer was too small
    count: Any | None = None  # (1,) int: contacts of this substep; None: there are no rounds of impulses

    def begin_frame(self) -> None:
        """Once per frame."""

    def look(self, span: int) -> None:
        """Say in `scratch.may_self_touch` whether the only body of a scene could touch itself in the next substeps.

        In `scratch.any_near`: whether that must be looked at after each substep, not after every `span`.
        """

    def watch(self, every: int, span: int, *, last: bool) -> None:
        """After `every` substeps without contact: whether the only body of a scene needs it in the next.

        last: of the turn, so that the next look may be after `span` substeps.
        """

    def calm(self) -> None:
        """After a substep with contact: whether the only body of a scene needs none in the next."""

    def find(self) -> None:
        """The contacts of this substep, from positions, velocities and the displacement that forces ask for."""

    @property
    def at_once(self) -> bool:
        """Whether `solve_all` takes the place of all stages from `warm_start` to `finish`."""
        return False

    def solve_all(self, rounds: int) -> None:
        """So many rounds of impulses."""

    def warm_start(self) -> None:
        """Begin with the impulses of the substep before."""

    def solve(self, backwards: bool) -> None:
        """One round of impulses, over the contacts in their order or backwards."""

    def finish(self) -> None:
        """Displacements follow the impulses, and penetration is removed."""

    # whether displacements follow what rounds and sweep do to velocities when they meet walls, and when they are made
    follows_late: bool = False

    def sweep(self, kept: bool) -> None:
        """After the walls: no displacement may lead through a surface.

        kept: the velocities that displacements belong to now are in `scratch.v_free` already.
        """

    def moved(self) -> None:
        """After the displacements, as they were made."""

    def forget(self) -> None:
        """Positions were set from outside: lists no longer hold."""

    def forget_worlds(self, chosen: Any, mask: Any) -> None:
        """The same for some worlds, without any change for the others: their numbers, and a mask of all worlds."""

    def grow(self) -> None:
        """Larger buffers, after `overflow`; what was recorded must be recorded again."""

    def fit(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Buffers for saved arrays."""

    def hopeless(self) -> bool:
        """Whether larger buffers would not help: a surface is crumpled beyond contact."""
        return False

    def read_into(self, table: Any) -> None:
        """Before the frame is recorded: where impulses per pair of bodies are summed (`pair_sums.py`)."""

    def sum_pairs(self, table: Any) -> None:
        """Add the impulses of this substep to those of the frame, pair by pair (`contact.pair_sums`)."""

    def found(self) -> dict[str, npt.NDArray[Any]]:
        """Contacts of the last substep: pair, point (m), normal from second to first, depth (m), impulse (N s).

        Methods that know it add friction: (n, dim) N s on the first.
        """
        ...
