"""Distributions of sampled axes: uniform, log-uniform, integer and choice, by their quantile functions."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Protocol

import numpy as np

from destage.errors import ConfigError, Issue
from destage.spec.schema_tree import Node, as_word, node
from destage.sweeps.space.axes import exact, in_base_units
from destage.sweeps.space.parameters import Parameter

_STEP = "with a step only the first and whole steps above it"
SCHEMAS: Mapping[str, Node] = {
    form: node("array", f"[from, to] or [from, to, step]: sampled, {likely}{rest}.", minItems=2, maxItems=3)
    for form, likely, rest in (
        ("uniform", "every value as likely", f"; {_STEP}"),
        ("log_uniform", "every ratio as likely", f"; {_STEP}, each the nearest to a sampled value"),
        ("integer", "every whole number as likely, `to` included", f"; {_STEP}"),
    )
} | {
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

    @property
    def highest(self) -> float:
        """The largest of its values, of a distribution of numbers."""
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

    @property
    def highest(self) -> float:
        """The upper end."""
        return self.high

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
class Steps:
    """The values low, low + step, and so on: each as likely, or with a uniform logarithm.

    Attributes:
        low: The smallest [base unit].
        high: The largest, whole steps above the smallest.
        step: The distance of neighbours.
        is_log: Whether values are drawn with a uniform logarithm, and then rounded to the nearest step.
    """

    low: int | float
    high: int | float
    step: int | float = 1
    is_log: bool = False
    is_ordered: ClassVar[bool] = True

    @property
    def kinds(self) -> frozenset[type]:
        """The type of its values."""
        return frozenset({int if self.is_whole else float})

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers."""
        return isinstance(self.low, int) and isinstance(self.step, int)

    @property
    def highest(self) -> float:
        """The last step."""
        return self.high

    @property
    def _last(self) -> int:
        return int((exact(self.high) - exact(self.low)) / exact(self.step))

    def quantiles(self, levels: np.ndarray) -> list[object]:
        """Return the value at each level."""
        last = self._last
        if not self.is_log:
            return [self._find_value(min(int(level * (last + 1)), last)) for level in levels.tolist()]
        low, high = math.log(self.low), math.log(self.high)
        return [self.round(value) for value in np.exp(low + (high - low) * levels).tolist()]

    def round(self, value: float) -> object:
        """Return the nearest of the values."""
        return self._find_value(min(max(round((value - self.low) / self.step), 0), self._last))

    def _find_value(self, steps: int) -> object:
        if self.is_whole:
            return self.low + steps * self.step
        return float(exact(self.low) + steps * exact(self.step))


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
        return all(isinstance(value, int | float) and not isinstance(value, bool) for value in self.values)

    @property
    def kinds(self) -> frozenset[type]:
        """The types of its values."""
        return frozenset(type(value) for value in self.values)

    @property
    def highest(self) -> float:
        """The largest number among its values."""
        return max(float(value) for value in self.values if isinstance(value, int | float))

    def quantiles(self, levels: np.ndarray) -> list[object]:
        """Return the value at each level."""
        ends = list(accumulate(self.weights))
        last = len(self.values) - 1
        return [self.values[min(bisect_right(ends, level * ends[-1]), last)] for level in levels.tolist()]


def read_distribution(written: Mapping[str, Any], parameter: Parameter, place: str) -> Distribution:
    """Return the distribution of a sampled axis.

    Args:
        written: One of `uniform`, `log_uniform`, `integer` with [from, to] or [from, to, step], or `choice`
            with a list of values or a table of values and their weights.

    Raises:
        ConfigError: The numbers make no distribution of the parameter.
    """
    (form, arguments), *_ = written.items()
    if form == "choice":
        return _read_choice(arguments, parameter, place)
    numbers = [in_base_units(value, parameter.unit, place) for value in arguments]
    message = _explain_numbers(form, numbers, parameter)
    if message is not None:
        raise ConfigError([Issue("study.bad-axis", place, message, written)])
    low, high, *steps = (number for number in numbers if isinstance(number, int | float))
    is_log = form == "log_uniform"
    if steps or form == "integer":
        step = steps[0] if steps else 1
        last = exact(low) + (exact(high) - exact(low)) // exact(step) * exact(step)
        kind = int if form == "integer" or parameter.is_integer else float
        return Steps(kind(low), kind(last), kind(step), is_log)
    return Continuous(float(low), float(high), is_log, parameter.is_integer)


def list_quantities(written: Mapping[str, Any]) -> Sequence[object]:
    """Return the values in a sampled axis that are quantities of its parameter."""
    (_, arguments), *_ = written.items()
    return [] if isinstance(arguments, Mapping) else list(arguments)


def _explain_numbers(form: str, numbers: Sequence[object], parameter: Parameter) -> str | None:
    """Return why the numbers of a distribution make none; None if they do."""
    must_be_whole = form == "integer" or (parameter.is_integer and len(numbers) > 2)  # noqa: PLR2004 - a step
    numeric = [number for number in numbers if isinstance(number, int if must_be_whole else int | float)]
    if len(numeric) < len(numbers) or any(isinstance(number, bool) for number in numbers):
        return f"{form} requires {'whole ' if must_be_whole else ''}numbers"
    low, high, *steps = numeric
    if not low < high:
        return f"{form} requires its first number below its second"
    if form == "log_uniform" and low <= 0:
        return "log_uniform requires both numbers above 0"
    if steps and not 0 < steps[0] <= high - low:
        return f"{form} requires a step above 0 and at most the distance of its two ends"
    return None


def _read_choice(
    arguments: Sequence[object] | Mapping[str, Any], parameter: Parameter, place: str
) -> Distribution:
    weights = list(arguments.values()) if isinstance(arguments, Mapping) else [1.0 for _ in arguments]
    if any(
        isinstance(weight, bool) or not isinstance(weight, int | float) or not weight > 0
        for weight in weights
    ):
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
