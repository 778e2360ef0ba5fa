"""The values of an axis: a list, or a range, linspace or logspace; quantities with their units."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.sweeps.identity import canonical_text
from destage.sweeps.parameters import Leaf

MOST_VALUES = 100_000
"""Values that one axis may have: more would be a slip of the unit or of the step."""


def values(written: Sequence[object] | Mapping[str, Sequence[Any]], leaf: Leaf) -> tuple[object, ...]:
    """Return an axis's values in base units, each once, in the order given.

    Args:
        written: A list of values, or one of `range: [from, to, step]`, `linspace: [from, to, how many]`,
            `logspace: [from, to, how many]`; all three include both ends (a range only where its step meets
            it).
        leaf: What the schema says of the parameter.

    Raises:
        ConfigError: A value is no quantity of the parameter's unit, or the numbers make no axis.
    """
    if not isinstance(written, Mapping):
        distinct: dict[object, object] = {}
        for value in written:
            found = in_base_units(value, leaf)
            distinct.setdefault(_distinguishing(found), found)
        return tuple(distinct.values())
    (form, arguments), *_ = written.items()
    numbers = [in_base_units(argument, leaf) for argument in arguments[:2]]
    third = in_base_units(arguments[2], leaf) if form == "range" else arguments[2]
    for value in (*numbers, third):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _refusal(written, f"{form} wants three numbers")
    first, last = (_exact(number) for number in numbers)
    if form == "range":
        return _range(written, first, last, _exact(third), leaf)
    if not isinstance(third, int) or third < 1 or (third == 1 and first != last):
        raise _refusal(written, f"{form} wants a whole number of values, at least 2")
    if third > MOST_VALUES:
        raise _too_many(written, third)
    if form == "linspace":
        spread = [first + (last - first) * index / max(third - 1, 1) for index in range(third)]
        return _numbers(spread, leaf)
    if first <= 0 or last <= 0:
        raise _refusal(written, "logspace wants both ends above 0")
    logs = [
        math.log(first) + (math.log(last) - math.log(first)) * index / max(third - 1, 1)
        for index in range(third)
    ]
    inner = [_exact(_tidy(math.exp(value))) for value in logs[1:-1]]
    return _numbers([first, *inner, last], leaf)


def in_base_units(value: object, leaf: Leaf) -> object:
    """Return a value with its unit parsed, if it is a text and the parameter is a quantity.

    Args:
        value: A value as written.
        leaf: What the schema says of the parameter.

    Raises:
        ConfigError: The text is no quantity of the parameter's unit.
    """
    if leaf.unit is not None and isinstance(value, str):
        return quantities.parse(value, leaf.unit)
    return value


def _distinguishing(value: object) -> object:
    """Return what tells a value from others: tables and lists by what they hold."""
    return canonical_text(value) if isinstance(value, Mapping | list) else value


def _range(
    written: object, first: Fraction, last: Fraction, step: Fraction, leaf: Leaf
) -> tuple[object, ...]:
    if step == 0 or (last - first) * step < 0:
        raise _refusal(written, "range wants a step that leads from its first number to its last")
    count = (last - first) // step + 1
    if count > MOST_VALUES:
        raise _too_many(written, int(count))
    return _numbers([first + step * index for index in range(int(count))], leaf)


def _numbers(spread: Sequence[Fraction], leaf: Leaf) -> tuple[object, ...]:
    if leaf.is_integer:
        return tuple(dict.fromkeys(round(value) for value in spread))
    return tuple(dict.fromkeys(float(value) for value in spread))


def _exact(value: Any) -> Fraction:
    # Through the shortest decimal text, so that a step of 0.1 is a tenth and not the nearest binary number.
    return Fraction(repr(value))


def _tidy(value: float) -> float:
    """Drop the last digits, which differ between mathematical libraries."""
    return float(f"{value:.12g}")


def _too_many(written: object, count: int) -> ConfigError:
    return _refusal(written, f"makes {count:,} values; at most {MOST_VALUES:,} are allowed")


def _refusal(written: object, message: str) -> ConfigError:
    return ConfigError("a bad axis", (Issue("", written, message),))
