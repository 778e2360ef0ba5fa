"""A valid calibration: what is unknown, which figures are fitted and predicted, how many draws."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from destage.sweeps.keys.calibrate_schema import CEILING
from destage.sweeps.space.distributions import Distribution


@dataclass(frozen=True, slots=True)
class Reference:
    """The value of an unknown, in the `set` of a figure."""

    unknown: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement on a figure.

    Attributes:
        text: As written.
        is_above: Whether it says that the figure is at or above the bound.
        bound: The bound [base unit of the figure].
    """

    text: str
    is_above: bool
    bound: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that was measured, or is to be predicted.

    Attributes:
        set: The parameters of its configuration in base units, by dotted path.
        of: What it is: the name of the study's answer, or a result column without its unit.
        column: The result column; None if it is the study's answer.
        value: The measured value [base unit]; None if there is none.
        tolerance: The standard deviation of the measurement [base unit].
        discrepancy: The standard deviation of the model's error, as a share of the figure.
        against: The ends of a plain rule [base unit].
    """

    name: str
    set: Mapping[str, object]
    of: str
    column: str | None
    value: float | None
    tolerance: float
    discrepancy: float
    odds: tuple[Statement, ...]
    against: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """A valid calibration.

    Attributes:
        unknowns: The prior of each unknown.
        figures: The figures by name.
        fits: The names of the figures of each fit; the first one leads the waves.
        where: An SQL condition over the unknowns; the prior is restricted to it.
        points: Draws in a wave.
        most: The most waves.
        effective: The effective sample size that ends the waves.
        cutoff: The implausibility beyond which a draw is ruled out.
    """

    unknowns: Mapping[str, Distribution]
    figures: Mapping[str, Figure]
    fits: Mapping[str, tuple[str, ...]]
    where: str | None
    points: int
    most: int
    effective: float
    cutoff: float
    seed: int

    @property
    def leading(self) -> tuple[str, ...]:
        """The figures of the first fit, which every other fit has as well."""
        return next(iter(self.fits.values()))

    @property
    def others(self) -> tuple[str, ...]:
        """The other figures, which are simulated only for draws that are not ruled out."""
        return tuple(name for name in self.figures if name not in self.leading)

    @property
    def ceiling(self) -> float:
        """The largest answer that the rest of the system can allow; infinite without an unknown ceiling."""
        return self.unknowns[CEILING].highest if CEILING in self.unknowns else math.inf

    @property
    def columns(self) -> tuple[str, ...]:
        """The result columns that the figures need."""
        needed = [figure.column for figure in self.figures.values() if figure.column is not None]
        return tuple(dict.fromkeys(needed))
