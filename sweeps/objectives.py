"""Objectives: bounds on result columns, such as `response_p95 <= 30ms`."""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from destage import engine
from destage.engine import Column
from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.spec.validation import suggest
from destage.sweeps.axes import in_base_units

_FORM = re.compile(r"\s*([A-Za-z_]\w*)\s*(<=|>=|<|>)\s*(\S.*?)\s*")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_NUMERIC = ("int", "float")
_SUFFIXES = {
    "us": "_us",
    "s": "_s",
    "bytes": "_bytes",
    "sectors": "_sectors",
    "fraction": "_fraction",
    "%": "_percent",
}
"""The suffix of a column's name by its unit."""
_REQUIRES_UNIT = ("us", "s", "bytes", "bytes/s")
"""Units in which a bare number would be a guess."""


@dataclass(frozen=True, slots=True)
class Objective:
    """A bound that a run must meet.

    Attributes:
        column: The result column that is bounded.
        bound: The bound [the column's unit].
    """

    text: str
    column: str
    comparison: str
    bound: float

    def is_met(self, value: float) -> bool:
        """Whether a value of the column meets the bound."""
        return _COMPARE[self.comparison](value, self.bound)

    def margin(self, value: float) -> float:
        """Return the log of value over bound, its sign such that it is positive when missed.

        It is infinite where there is no log: a bound or a value of zero.
        """
        if self.bound > 0 and value > 0:
            ratio = math.log(value / self.bound)
            return ratio if self.comparison.startswith("<") else -ratio
        return -math.inf if self.is_met(value) else math.inf

    def violation(self, value: float) -> float:
        """Return how far a value is beyond the bound, as a fraction of the bound; negative when met."""
        excess = value - self.bound if self.comparison.startswith("<") else self.bound - value
        return excess / abs(self.bound) if self.bound else excess


@cache
def metric_columns() -> Mapping[str, Column]:
    """Return the numeric result columns by the name that objectives use.

    That is the column's name without its unit: `response_p95` for `response_p95_us`. Rates keep their unit:
    `commits_per_s`, `throughput_iops`.
    """
    numeric = [column for column in engine.columns() if column.type in _NUMERIC]
    return {column.name.removesuffix(_SUFFIXES.get(column.unit, "")): column for column in numeric}


def parse_objective(text: str, place: str) -> Objective:
    """Parse an objective.

    Args:
        text: A result column without its unit's suffix, a comparison, and a number with its unit.
    """

    def mistake(code: str, message: str, value: str = text) -> ConfigError:
        return ConfigError([Issue(code, place, message, value)])

    match = _FORM.fullmatch(text)
    if match is None:
        raise mistake("study.bad-objective", "must have the form 'response_p95 <= 30ms'")
    name, comparison, literal = match.groups()
    metrics = metric_columns()
    if name not in metrics:
        by_column = {column.name: metric for metric, column in metrics.items()}
        hint = f"; did you mean {by_column[name]!r}?" if name in by_column else suggest(name, metrics)
        raise mistake("study.unknown-name", f"no result column has this name{hint}", name)
    column = metrics[name]
    unit = quantities.UNITS.get(column.unit)
    if column.unit in _REQUIRES_UNIT and unit and re.fullmatch(r"[\d._eE+-]+", literal):
        raise mistake("study.bad-quantity", f"the bound needs a unit, as in {unit.example!r}", literal)
    try:
        bound = float(in_base_units(literal, column.unit if unit else None, place))  # type: ignore[arg-type]
    except ValueError:
        raise mistake("study.bad-quantity", "the bound must be a number", literal) from None
    return Objective(text, column.name, comparison, bound)
