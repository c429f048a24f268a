"""The explicit integrators as tables: one kernel runs them all (A6, B7, C3)."""

from dataclasses import dataclass

__all__ = ["SCHEMES", "Scheme"]


@dataclass(frozen=True)
class Scheme:
    """An explicit Runge-Kutta scheme whose stages depend only on the stage before.

    Stage s evaluates the acceleration at x0 + reach[s-1] dt (velocity of the stage before), weighted by weights[s].
    With `velocity_first` positions move with the new velocity instead of the old: in a stage, and in the final step.
    `imaginary` and `real` tell how far along these axes lambda*dt may reach; imaginary = 0: oscillations always grow,
    per unit time by `growth`(omega, dt) = omega (omega dt)^growth_power / growth_divisor.
    """

    weights: tuple[float, ...]
    reach: tuple[float, ...] = ()
    velocity_first: bool = False
    order: int = 1
    imaginary: float = 0.0
    real: float = 2.0
    growth_power: int = 0
    growth_divisor: float = 1.0

    @property
    def leapfrog(self) -> bool:
        """Whether velocities belong to the middle of a substep, and positions to its end."""
        return self.velocity_first and len(self.weights) == 1


SCHEMES: dict[str, Scheme] = {
    # |1 + iz| = 1 + z²/2: grows by omega * (omega dt)/2 per unit time
    "euler": Scheme((1.0,), growth_power=1, growth_divisor=2.0),
    # velocity first, then position: what Matyka 2004 codes under the name of Euler; stable up to omega dt = 2
    "symplectic": Scheme((1.0,), velocity_first=True, imaginary=2.0),
    # |1 + iz - z²/2| = 1 + z⁴/8
    "midpoint": Scheme((0.0, 1.0), (0.5,), order=2, growth_power=3, growth_divisor=8.0),
    "heun": Scheme((0.5, 0.5), (1.0,), order=2, growth_power=3, growth_divisor=8.0),
    "rk4": Scheme((1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.5, 0.5, 1.0), order=4, imaginary=2.82, real=2.78),
    # Martin 2009, 3.2: Runge-Kutta for the velocity, with stage positions from stage velocities; then the position;
    # its amplification matrix has a spectral radius below 1 up to omega dt = 2 (it damps), and -2 on the real axis
    "rk4-martin": Scheme((1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.5, 0.5, 1.0), velocity_first=True, imaginary=2.0),
}
