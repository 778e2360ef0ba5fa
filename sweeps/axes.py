"""The values of an axis: a list, or a range, linspace or logspace; quantities with their units."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.sweeps.identity import canonical_text
from destage.sweeps.parameters import Parameter

MOST_VALUES = 100_000
"""Maximum values of one axis; more is a wrong unit or step."""


def axis_values(
    written: Sequence[object] | Mapping[str, Sequence[Any]], parameter: Parameter, place: str
) -> tuple[object, ...]:
    """Return an axis's distinct values in base units, in the order given.

    Args:
        written: A list of values, or one of `range: [from, to, step]`, `linspace: [from, to, count]`,
            `logspace: [from, to, count]`; all three include both ends (a range only where its step meets
            it).
        parameter: The parameter as the schema describes it.
        place: Where the axis is in the study.

    Raises:
        ConfigError: A value is not a quantity of the parameter's unit, or the numbers make no axis.
    """
    if not isinstance(written, Mapping):
        distinct: dict[object, object] = {}
        for value in written:
            found = in_base_units(value, parameter.unit, place)
            key = canonical_text(found) if isinstance(found, Mapping | list) else found
            distinct.setdefault(key, found)
        return tuple(distinct.values())
    (form, arguments), *_ = written.items()
    numbers = [in_base_units(argument, parameter.unit, place) for argument in arguments[:2]]
    third = in_base_units(arguments[2], parameter.unit, place) if form == "range" else arguments[2]

    def mistake(message: str, code: str = "study.bad-axis") -> ConfigError:
        return ConfigError([Issue(code, place, message, written)])

    def too_many(count: int) -> ConfigError:
        message = f"{count:,} values; at most {MOST_VALUES:,} are allowed"
        return mistake(message, "study.too-many-values")

    for value in (*numbers, third):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise mistake(f"{form} requires three numbers")
    first, last = (_exact(number) for number in numbers)
    if form == "range":
        step = _exact(third)
        if step == 0 or (last - first) * step < 0:
            raise mistake("range requires a step that leads from its first number to its last")
        count = int((last - first) // step) + 1
        if count > MOST_VALUES:
            raise too_many(count)
        return _numbers([first + step * index for index in range(count)], parameter)
    if not isinstance(third, int) or third < 1 or (third == 1 and first != last):
        raise mistake(f"{form} requires a whole number of values, at least 2")
    if third > MOST_VALUES:
        raise too_many(third)
    if form == "linspace":
        spread = [first + (last - first) * index / max(third - 1, 1) for index in range(third)]
        return _numbers(spread, parameter)
    if first <= 0 or last <= 0:
        raise mistake("logspace requires both ends above 0")
    logs = [
        math.log(first) + (math.log(last) - math.log(first)) * index / max(third - 1, 1)
        for index in range(third)
    ]
    inner = [_exact(_rounded(math.exp(value))) for value in logs[1:-1]]
    return _numbers([first, *inner, last], parameter)


def in_base_units(value: object, unit: str | None, place: str) -> object:
    """Return a value with its unit parsed, if it is a string and the parameter is a quantity.

    Args:
        value: A value as written.
        unit: The parameter's base unit, if it has one.
        place: Where the value is in the study.

    Raises:
        ConfigError: The string is not a quantity of this unit.
    """
    if unit is None or not isinstance(value, str):
        return value
    try:
        return quantities.parse(value, unit)
    except ConfigError as error:
        raise ConfigError([Issue("study.bad-quantity", place, error.message, value)]) from error


def _numbers(spread: Sequence[Fraction], parameter: Parameter) -> tuple[object, ...]:
    if parameter.is_integer:
        return tuple(dict.fromkeys(round(value) for value in spread))
    return tuple(dict.fromkeys(float(value) for value in spread))


def _exact(value: Any) -> Fraction:
    # Through the shortest decimal text, so that a step of 0.1 is a tenth and not the nearest binary number.
    return Fraction(repr(value))


def _rounded(value: float) -> float:
    """Drop the last digits, which differ between mathematical libraries."""
    return float(f"{value:.12g}")
