"""Distributions of sampled axes: uniform, log-uniform, integer and choice, by their quantile functions."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Protocol

import numpy as np

from destage.errors import ConfigError, Issue
from destage.spec.base_units import as_word
from destage.spec.schema_nodes import node
from destage.spec.schema_tree import Node
from destage.sweeps.axes import in_base_units
from destage.sweeps.parameters import Parameter

SCHEMAS: Mapping[str, Node] = {
    "uniform": node("array", "[from, to]: sampled, every value as likely.", minItems=2, maxItems=2),
    "log_uniform": node("array", "[from, to]: sampled, every ratio as likely.", minItems=2, maxItems=2),
    "integer": node(
        "array", "[from, to (included)]: sampled, every whole number as likely.", minItems=2, maxItems=2
    ),
    "choice": node(
        ["array", "object"],
        "Sampled from these values, or from values with weights.",
        minItems=1,
        minProperties=1,
    ),
}
"""The forms of a sampled axis in a study."""


class Distribution(Protocol):
    """The distribution of one axis."""

    @property
    def is_ordered(self) -> bool:
        """Whether its values are numbers."""
        ...

    @property
    def kinds(self) -> frozenset[type]:
        """The types of its values."""
        ...

    def quantiles(self, levels: np.ndarray) -> list[object]:
        """Return the value at each level, a number of [0, 1)."""
        ...


@dataclass(frozen=True, slots=True)
class Continuous:
    """A uniform or log-uniform distribution.

    Attributes:
        low: The lower end [base unit].
        high: The upper end [base unit].
        is_log: Whether the logarithm is uniform.
        is_whole: Whether values are rounded to whole numbers.
    """

    low: float
    high: float
    is_log: bool
    is_whole: bool
    is_ordered: ClassVar[bool] = True

    @property
    def kinds(self) -> frozenset[type]:
        """The type of its values."""
        return frozenset({int if self.is_whole else float})

    def quantiles(self, levels: np.ndarray) -> list[object]:
        """Return the value at each level."""
        low, high = (math.log(end) if self.is_log else end for end in (self.low, self.high))
        values = low + (high - low) * levels
        if self.is_log:
            values = np.exp(values)
        if self.is_whole:
            return [min(max(round(value), round(self.low)), round(self.high)) for value in values.tolist()]
        # The last digits differ between mathematical libraries.
        return [float(f"{value:.12g}") for value in values.tolist()]


@dataclass(frozen=True, slots=True)
class Integers:
    """Whole numbers, every one as likely.

    Attributes:
        low: The smallest.
        high: The largest.
    """

    low: int
    high: int
    is_ordered: ClassVar[bool] = True
    kinds: ClassVar[frozenset[type]] = frozenset({int})

    def quantiles(self, levels: np.ndarray) -> list[object]:
        """Return the value at each level."""
        count = self.high - self.low + 1
        return [self.low + min(int(level * count), count - 1) for level in levels.tolist()]


@dataclass(frozen=True, slots=True)
class Choice:
    """Some values with weights.

    Attributes:
        weights: The weight of each value; only their ratios count.
    """

    values: tuple[object, ...]
    weights: tuple[float, ...]

    @property
    def is_ordered(self) -> bool:
        """Whether its values are numbers."""
        return all(isinstance(one, int | float) and not isinstance(one, bool) for one in self.values)

    @property
    def kinds(self) -> frozenset[type]:
        """The types of its values."""
        return frozenset(type(one) for one in self.values)

    def quantiles(self, levels: np.ndarray) -> list[object]:
        """Return the value at each level."""
        ends = list(accumulate(self.weights))
        last = len(self.values) - 1
        return [self.values[min(bisect_right(ends, level * ends[-1]), last)] for level in levels.tolist()]


def is_distribution(written: object) -> bool:
    """Whether an axis of a study is sampled."""
    return isinstance(written, Mapping) and bool(written.keys() & SCHEMAS.keys())


def read_distribution(written: Mapping[str, Any], parameter: Parameter, place: str) -> Distribution:
    """Return the distribution of a sampled axis.

    Args:
        written: One of `uniform`, `log_uniform`, `integer` with [from, to], or `choice` with a list of values
            or a table of values and their weights.

    Raises:
        ConfigError: The numbers make no distribution of the parameter.
    """
    (form, arguments), *_ = written.items()
    if form == "choice":
        return _read_choice(arguments, parameter, place)
    low, high = (in_base_units(value, parameter.unit, place) for value in arguments)
    message = _explain_ends(form, low, high)
    if message is not None:
        raise ConfigError([Issue("study.bad-axis", place, message, written)])
    if form == "integer":
        return Integers(int(low), int(high))  # type: ignore[call-overload]
    return Continuous(float(low), float(high), form == "log_uniform", parameter.is_integer)  # type: ignore[arg-type]


def list_quantities(written: Mapping[str, Any]) -> Sequence[object]:
    """Return the values in a sampled axis that are quantities of its parameter."""
    (_, arguments), *_ = written.items()
    return [] if isinstance(arguments, Mapping) else list(arguments)


def _explain_ends(form: str, low: object, high: object) -> str | None:
    """Return why two numbers are no ends of a distribution; None if they are."""
    kinds = int if form == "integer" else (int, float)
    if any(isinstance(end, bool) or not isinstance(end, kinds) for end in (low, high)):
        return f"{form} requires two {'whole ' if form == 'integer' else ''}numbers"
    if not low < high:  # type: ignore[operator]
        return f"{form} requires its first number below its second"
    if form == "log_uniform" and low <= 0:  # type: ignore[operator]
        return "log_uniform requires both numbers above 0"
    return None


def _read_choice(
    arguments: Sequence[object] | Mapping[str, Any], parameter: Parameter, place: str
) -> Distribution:
    weights = list(arguments.values()) if isinstance(arguments, Mapping) else [1.0 for _ in arguments]
    if any(isinstance(one, bool) or not isinstance(one, int | float) or not one > 0 for one in weights):
        message = "choice requires a weight above 0 for each value"
        raise ConfigError([Issue("study.bad-axis", place, message, arguments)])
    written = (
        [_read_key(key, parameter) for key in arguments] if isinstance(arguments, Mapping) else arguments
    )
    values = [as_word(in_base_units(value, parameter.unit, place), parameter.words) for value in written]
    if len({repr(value) for value in values}) < len(values):
        raise ConfigError([Issue("study.bad-axis", place, "choice has a value twice", arguments)])
    return Choice(tuple(values), tuple(map(float, weights)))


def _read_key(key: object, parameter: Parameter) -> object:
    """Return a value that is the key of a table: a text in JSON and TOML, also where it means a number."""
    if not isinstance(key, str) or parameter.unit is not None or key in parameter.words:
        return key
    for kind in (int, float):
        try:
            return kind(key)
        except ValueError:
            continue
    return key
