"""Objectives: bounds on result columns, such as `response_p95 <= 30ms`."""

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
"""The ending that a column's name has for its unit."""
_WANTS_SUFFIX = ("us", "s", "bytes", "bytes/s")
"""Units in which a bare number would be a guess."""


@dataclass(frozen=True, slots=True)
class Objective:
    """A bound that a run must meet.

    Attributes:
        text: The objective as written.
        column: The result column that is bounded.
        comparison: How the column must compare with the bound.
        bound: The bound [the column's unit].
    """

    text: str
    column: str
    comparison: str
    bound: float

    def is_met(self, value: float) -> bool:
        """Return whether a value of the column meets the bound.

        Args:
            value: The column's value [the column's unit].
        """
        return _COMPARE[self.comparison](value, self.bound)

    def violation(self, value: float) -> float:
        """Return how far a value lies beyond the bound, as a fraction of the bound; negative when it is met.

        Args:
            value: The column's value [the column's unit].
        """
        excess = value - self.bound if self.comparison.startswith("<") else self.bound - value
        return excess / abs(self.bound) if self.bound else excess


@cache
def metric_columns() -> Mapping[str, Column]:
    """Return the numeric result columns by the name that objectives use.

    That is the column's name without its unit: `response_p95` for `response_p95_us`. Rates keep theirs, for
    they are called by it: `commits_per_s`, `throughput_iops`.
    """
    numeric = [column for column in engine.columns() if column.type in _NUMERIC]
    return {column.name.removesuffix(_SUFFIXES.get(column.unit, "")): column for column in numeric}


def parse_objective(text: str) -> Objective:
    """Read an objective.

    Args:
        text: A result column without its unit's suffix, a comparison, and a number with its unit.

    Raises:
        ConfigError: The text is no objective; its issue says what is allowed.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise _refusal(text, "an objective reads like 'response_p95 <= 30ms'")
    name, comparison, literal = match.groups()
    metrics = metric_columns()
    if name not in metrics:
        by_column = {column.name: metric for metric, column in metrics.items()}
        hint = f"; did you mean {by_column[name]!r}?" if name in by_column else suggest(name, metrics)
        raise _refusal(text, f"no result column {name!r}{hint}")
    column = metrics[name]
    return Objective(text, column.name, comparison, _bound(text, literal, column.unit))


def _bound(text: str, literal: str, unit: str) -> float:
    if unit not in quantities.UNITS:
        try:
            return float(literal)
        except ValueError:
            raise _refusal(text, f"the bound {literal!r} is not a number") from None
    if unit in _WANTS_SUFFIX and re.fullmatch(r"[\d._eE+-]+", literal):
        raise _refusal(
            text, f"the bound {literal!r} wants a unit, such as {quantities.UNITS[unit].example!r}"
        )
    try:
        return float(quantities.parse(literal, unit))
    except ConfigError as error:
        raise _refusal(text, f"the bound {literal!r} {error.issues[0].message}") from error


def _refusal(text: str, message: str) -> ConfigError:
    return ConfigError("a bad objective", (Issue("", text, message),))
