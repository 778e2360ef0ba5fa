"""The key `calibrate` of a study: what is unknown, which figures are fitted and predicted, how many draws."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from destage.spec.schema_tree import node
from destage.spec.typed_tables import key, table
from destage.sweeps.space import distributions
from destage.sweeps.space.distributions import Distribution

LIMIT, CEILING = "limit", "ceiling"
"""Unknowns that are not parameters of a configuration."""
MEASURED, LINE = "measured", "line"
"""The keys of a measured set, and of a figure's line of it."""
_UNKNOWN = node(
    "object",
    "The prior of one unknown: one of uniform, log_uniform, integer, choice.",
    minProperties=1,
    maxProperties=1,
    additionalProperties=False,
    properties=dict(distributions.SCHEMAS),
)
DISCREPANCY = "10%"
"""The standard deviation of the model's own error, unless the study states it."""
_QUANTITY = ["number", "string"]


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


@table
class Figure:
    """A figure: somebody measured it, or it is to be predicted, or both.

    Attributes:
        set: In base units.
        of: Empty if it is not known before its measured line is.
        column: The result column; None if it is the study's answer.
        value: The measured value [base unit]; None if there is none.
        tolerance: Its standard deviation [base unit].
        discrepancy: As a share of the figure.
        against: The ends of the baseline [base unit].
    """

    name: str
    set: Mapping[str, object] = key(
        "The configuration of this figure: parameters by dotted path, in place of the scenario's and of "
        "the unknowns'. `{unknown: NAME}` is the value of an unknown that only some figures have."
    )
    of: str = key(
        "What the figure is: with `seek` its answer, such as users_supported (the default), otherwise a "
        "result column without its unit, such as response_mean.",
        optional=True,
    )
    column: str | None
    value: float | None = key("The measured or published value, with its unit.", type=_QUANTITY, default=None)
    line: int | str | None = key(
        "With `measured`: the line of the set that has the value, by its workload or number (default: "
        "the line whose workload is the name of the figure).",
        default=None,
    )
    tolerance: float = key(
        "The standard deviation of the measurement: a share of the value (`5%`) or a quantity. The "
        "default of a value from a measured set is 5 %.",
        type=_QUANTITY,
        optional=True,
    )
    discrepancy: float = key(
        "The standard deviation of the model's own error at this figure, as a share of the figure "
        "(default: that of all figures).",
        type=_QUANTITY,
        optional=True,
    )
    load_class: str = key(
        "A name for loads at which errors of the simulation are alike, such as reads (default: all figures "
        "are of one class). What no draw explains widens the predictions of its class.",
        name="class",
        default="",
    )
    odds: tuple[Statement, ...] = key(
        "Statements whose odds are printed, such as `users_supported >= 96`.",
        items={"type": "string"},
        default=(),
    )
    against: tuple[float, float] | None = key(
        "[from, to]: the baseline that the score of the prediction is compared with: a simple rule by which "
        "every value between is as likely.",
        type="array",
        minItems=2,
        maxItems=2,
        default=None,
    )
    source: str | None = key("Where the value is from.", default=None)


TOLERANCE = "5%"
"""The standard deviation of a measurement, unless the study states it."""


@table
class Candidate:
    """A measurement that could be made next.

    Attributes:
        set: In base units.
        column: The result column; None if it is the study's answer.
        tolerance: As a share of the measured figure.
        discrepancy: As a share of the figure.
    """

    name: str
    set: Mapping[str, object] = key("The configuration in which it would be made, as that of a figure.")
    of: str = key("What would be measured, as of a figure.", optional=True)
    column: str | None
    tolerance: float = key(
        "The standard deviation that the measurement would have, as a share of it.",
        type=_QUANTITY,
        optional=True,
        shown=TOLERANCE,
    )
    load_class: str = key("Its class of loads, as of a figure.", name="class", default="")
    discrepancy: float


@table
class Waves:
    """The draws of the unknowns."""

    points: int = key("Draws in a wave; a power of 2 is best.", minimum=8, default=128)
    most: int = key(
        "The most waves. Where no draw explains all figures, as many again learn from those that can be "
        "explained.",
        minimum=1,
        maximum=50,
        default=4,
    )
    effective: float = key(
        "Stop when the draws are worth this many of the posterior.", exclusiveMinimum=0, default=100
    )
    cutoff: float = key(
        "A draw is ruled out if it misses a figure by more than this many standard deviations "
        "of tolerance, discrepancy and simulation error together. Where all are, up to a third of the "
        "figures may be missed.",
        exclusiveMinimum=0,
        default=3,
    )
    seed: int = key("The seed of the draws.", minimum=0, default=1)


@table
class Calibration:
    """Learn what is unknown from measured figures, and predict others with odds.

    Attributes:
        fits: The names of the figures of each fit; the first one leads the waves.
        discrepancy: As written; that of each figure is a number.
        where: An SQL condition over the unknowns; the prior is restricted to it.
    """

    unknowns: Mapping[str, Distribution] = key(
        "What is not known, with its prior: parameters by dotted path, which apply to every figure whose "
        "`set` does not give them; names that a `set` refers to; `limit`, a choice of the names in "
        "`seek.limits`; `ceiling`, the largest answer that the rest of the system allows (processors, "
        "network): a figure is the smaller one of it and the simulated answer.",
        minProperties=1,
        additionalProperties=_UNKNOWN,
    )
    figures: Mapping[str, Figure] = key("The figures by name.", minProperties=1)
    measured: str | None = key(
        "A measured set of the store, as `destage measured import` names it: figures without `value` "
        "have that of their line of the set. A figure without a line is predicted.",
        default=None,
    )
    fits: Mapping[str, Annotated[tuple[str, ...], {"minItems": 1}]] = key(
        "Lists of figures to fit on, by name; each predicts the figures that it is not fitted on. Every "
        "list has the figures of the first one (default: one fit, on all figures with a value).",
        optional=True,
        minProperties=1,
    )
    candidates: Mapping[str, Candidate] = key(
        "Measurements that could be made next, by name. Each is simulated for a few draws of the posterior; "
        "the answer says which one would narrow the predictions most.",
        factory=dict,
    )
    discrepancy: float | str = key(
        "The standard deviation of the model's own error, as a share of each figure: stated, not fitted.",
        default=DISCREPANCY,
    )
    waves: Waves = key(default=Waves())
    where: str | None

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
        figures: list[Figure | Candidate] = [*self.figures.values(), *self.candidates.values()]
        needed = [figure.column for figure in figures if figure.column is not None]
        return tuple(dict.fromkeys(needed))
