"""The integrators as tables: one kernel runs all that are explicit (A6, B7, C3); the implicit one (X2)."""

import math
from dataclasses import dataclass

__all__ = ["IMPLICIT", "SCHEMES", "Scheme", "scheme_of"]


@dataclass(frozen=True)
class Scheme:
    """A Runge-Kutta scheme whose stages depend only on the stage before.

    Stage s evaluates the acceleration at x0 + reach[s-1] dt (velocity of the stage before), weighted by weights[s].
    With `velocity_first` positions move with the new velocity instead of the old: in a stage, and in the final step.
    `imaginary` and `real` tell how far along these axes lambda*dt may reach; imaginary = 0: oscillations always grow.
    With z = omega dt, the energy of an oscillation changes per unit time by omega z^error_power / error_divisor of it;
    with an even power it only swings, by z^error_power / error_divisor. `accuracy` limits that over a minute, unless
    the user says otherwise (`accuracy.py`).
    """

    weights: tuple[float, ...]
    reach: tuple[float, ...] = ()
    velocity_first: bool = False
    order: int = 1
    imaginary: float = 0.0
    real: float = 2.0
    error_power: int = 1
    error_divisor: float = 1.0
    accuracy: float = math.inf
    implicit: bool = False  # a step is an equation for the velocities at its end (`solvers/implicit`)

    @property
    def leapfrog(self) -> bool:
        """Whether velocities belong to the middle of a substep, and positions to its end."""
        return self.velocity_first and len(self.weights) == 1 and not self.implicit

    @property
    def drifts(self) -> bool:
        """Whether errors of the energy add up; else it swings."""
        return self.error_power % 2 == 1


RUNGE_KUTTA = (1 / 6, 1 / 3, 1 / 3, 1 / 6)

SCHEMES: dict[str, Scheme] = {
    # |1 + iz|² = 1 + z²
    "euler": Scheme((1.0,), error_power=1, error_divisor=1.0),
    # velocity first, then position: what Matyka 2004 codes under the name of Euler; stable up to omega dt = 2. With
    # the velocities at the time of the positions, ½ m v² + ½ k x² - (z²/8) k x² is constant: at full stretch k x² = 2 E
    "symplectic": Scheme((1.0,), velocity_first=True, imaginary=2.0, error_power=2, error_divisor=4.0),
    # |1 + iz - z²/2|² = 1 + z⁴/4
    "midpoint": Scheme((0.0, 1.0), (0.5,), order=2, error_power=3, error_divisor=4.0, accuracy=0.1),
    "heun": Scheme((0.5, 0.5), (1.0,), order=2, error_power=3, error_divisor=4.0, accuracy=0.1),
    # |1 + iz - z²/2 - iz³/6 + z⁴/24|² = 1 - z⁶/72 + z⁸/576
    "rk4": Scheme(RUNGE_KUTTA, (0.5, 0.5, 1.0), order=4, imaginary=2.82, real=2.78, error_power=5, error_divisor=-72.0),
    # Martin 2009, 3.2: Runge-Kutta for the velocity, with stage positions from stage velocities; then the position;
    # its amplification matrix has a spectral radius below 1 up to omega dt = 2 (it damps), and -2 on the real axis;
    # its determinant is 1 - z²/2 + z⁴/8 - z⁶/48
    "rk4-martin": Scheme(
        RUNGE_KUTTA, (0.5, 0.5, 1.0), velocity_first=True, imaginary=2.0, error_power=1, error_divisor=-2.0
    ),
}

# BDF2: its principal root has |.|² = 1 - z⁴/2 + ...; stable for any step
IMPLICIT = Scheme(
    (1.0,), velocity_first=True, order=2, imaginary=math.inf, real=math.inf, error_power=3, error_divisor=-2.0,
    implicit=True,
)  # fmt: skip


def scheme_of(solver: str) -> Scheme:
    """By its name."""
    return IMPLICIT if solver == "implicit" else SCHEMES[solver]
