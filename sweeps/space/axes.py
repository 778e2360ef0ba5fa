"""The axes of a study: their values, and their columns in a plan.

Values are a list, or a range, linspace, logspace or log2; quantities have their units. Columns have the
values of canonical configurations or those written, in Arrow types that they share.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from destage import engine
from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.spec.schema_tree import as_word
from destage.sweeps.space.parameters import Parameter

MOST_VALUES = 100_000
"""Maximum values of one axis; more is a wrong unit or step."""


def axis_values(
    written: Sequence[object] | Mapping[str, Sequence[Any]],
    parameter: Parameter,
    place: str,
    *,
    repeats: bool = False,
) -> tuple[object, ...]:
    """Return an axis's values in base units, in the order given.

    Args:
        written: A list of values, or one of `range: [from, to, step]`, `linspace: [from, to, count]`,
            `logspace: [from, to, count]`, `log2: [from, to]`; all include both ends (a range only where its
            step meets it).
        repeats: Whether equal values stay; otherwise the first of them does.

    Raises:
        ConfigError: A value is not a quantity of the parameter's unit, or the numbers make no axis.
    """
    if not isinstance(written, Mapping):
        values: list[object] = []
        issues: list[Issue] = []
        for value in written:
            try:
                values.append(as_word(in_base_units(value, parameter.unit, place), parameter.words))
            except ConfigError as error:
                issues += error.issues
        if issues:
            raise ConfigError(issues)
        return tuple(values) if repeats else _drop_repeats(values)
    try:
        spread = _spread(written, parameter, place)
    except _AxisError as error:
        code, message = error.args
        raise ConfigError([Issue(code, place, message, written)]) from None
    numbers = [round(value) if parameter.is_integer else float(value) for value in spread]
    return tuple(numbers) if repeats else _drop_repeats(numbers)


def in_base_units(value: object, unit: str | None, place: str) -> object:
    """Return a value with its unit parsed, if it is a string and the parameter is a quantity."""
    if unit is None or not isinstance(value, str):
        return value
    try:
        return quantities.parse(value, unit)
    except ConfigError as error:
        raise ConfigError([Issue("study.bad-quantity", place, error.message, value)]) from error


def _drop_repeats(values: Sequence[object]) -> tuple[object, ...]:
    distinct: dict[object, object] = {}
    for value in values:
        key = engine.canonical_text(value) if isinstance(value, Mapping | list) else value
        distinct.setdefault(key, value)
    return tuple(distinct.values())


class _AxisError(Exception):
    """The numbers make no axis; code and message."""


def _spread(written: Mapping[str, Sequence[Any]], parameter: Parameter, place: str) -> list[Fraction]:
    """Return the values of a range, linspace, logspace or log2 in base units."""
    (form, arguments), *_ = written.items()
    numbers = [in_base_units(argument, parameter.unit, place) for argument in arguments[:2]]
    if form != "log2":
        numbers.append(
            in_base_units(arguments[2], parameter.unit, place) if form == "range" else arguments[2]
        )
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in numbers):
        count = "two" if form == "log2" else "three"
        raise _AxisError("study.bad-axis", f"{form} requires {count} numbers")
    first, last = map(exact, numbers[:2])
    if form == "log2":
        return _double(first, last, parameter)
    third = numbers[2]
    if form == "range":
        return _range(first, last, exact(third))
    if not isinstance(third, int) or third < 1 or (third == 1 and first != last):
        raise _AxisError("study.bad-axis", f"{form} requires a whole number of values, at least 2")
    _check_count(third)
    if form == "linspace":
        return [first + (last - first) * index / max(third - 1, 1) for index in range(third)]
    if first <= 0 or last <= 0:
        raise _AxisError("study.bad-axis", "logspace requires both ends above 0")
    logs = [
        math.log(first) + (math.log(last) - math.log(first)) * index / max(third - 1, 1)
        for index in range(third)
    ]
    return [first, *(exact(_round(math.exp(value))) for value in logs[1:-1]), last]


def _range(first: Fraction, last: Fraction, step: Fraction) -> list[Fraction]:
    if step == 0 or (last - first) * step < 0:
        message = "range requires a step that leads from its first number to its last"
        raise _AxisError("study.bad-axis", message)
    count = int((last - first) // step) + 1
    _check_count(count)
    return [first + step * index for index in range(count)]


def _double(first: Fraction, last: Fraction, parameter: Parameter) -> list[Fraction]:
    """Return the first number, doubled until the last; halved if that is smaller."""
    if first <= 0 or last <= 0:
        raise _AxisError("study.bad-axis", "log2 requires both ends above 0")
    factor = Fraction(2) if last >= first else Fraction(1, 2)
    values = [first]
    while (values[-1] - last) * (factor - 1) < 0:
        values.append(values[-1] * factor)
    if values[-1] != last or (parameter.is_integer and any(value.denominator > 1 for value in values)):
        last_ones = [float(value) for value in values[-2:]]
        unit = parameter.unit
        near = [f"{number:.15g}" if unit is None else quantities.render(number, unit) for number in last_ones]
        message = f"log2 doubles its first number up to its last, which may be {' or '.join(near)}"
        raise _AxisError("study.bad-axis", message)
    return values


def _check_count(count: int) -> None:
    if count > MOST_VALUES:
        message = f"{count:,} values; at most {MOST_VALUES:,} are allowed"
        raise _AxisError("study.too-many-values", message)


def exact(value: Any) -> Fraction:
    """Return a number by its shortest decimal text: 0.1 is a tenth, not the nearest binary number."""
    return Fraction(repr(value))


def _round(value: float) -> float:
    """Drop the last digits, which differ between mathematical libraries."""
    return float(f"{value:.12g}")


_LONGEST_INT = 2**63 - 1


def kind_of(value: object) -> type:
    """Return the type of a value as a column holds it: longer integers, such as large seeds, as text."""
    return str if isinstance(value, int) and abs(value) > _LONGEST_INT else type(value)


def find_type(kinds: Collection[type]) -> pa.DataType:
    """Return the Arrow type of a column that holds values of these types."""
    types = set(kinds) - {type(None)}
    if types == {bool}:
        return pa.bool_()
    if types == {int}:
        return pa.int64()
    if types and types <= {int, float}:
        return pa.float64()
    return pa.string()


def fit(value: object, kind: pa.DataType) -> object:
    """Return an axis's value in the type of its column."""
    if value is None or isinstance(value, str) or not pa.types.is_string(kind):
        return value
    return engine.canonical_text(value) if isinstance(value, Mapping | list) else str(value)


def read_values(texts: pa.Array) -> list[object]:
    """Return the values of JSON texts as a column holds them: tables and lists as text."""
    written = texts.to_pylist()
    # One text of all of them is read several times as fast as each by itself.
    values = json.loads(f"[{','.join(written)}]")
    return [
        text if isinstance(value, dict | list) else value for text, value in zip(written, values, strict=True)
    ]


def keep_written(
    column: pa.DictionaryArray, values: Sequence[object], codes: np.ndarray
) -> pa.DictionaryArray:
    """Return an axis with the written value where that of the configuration is another one.

    Args:
        column: The values of the configurations, as JSON texts.
        values: The written values.
        codes: By point, the position of its written value; negative where it has none.
    """
    indices = column.indices.fill_null(len(column.dictionary)).to_numpy()
    texts = [*column.dictionary.to_pylist(), None]
    resolved = [*read_values(column.dictionary), None]
    pairs, inverse = np.unique(np.stack([indices, codes]), axis=1, return_inverse=True)
    places, written = pairs.tolist()
    is_other = [
        code >= 0 and _is_rewritten(values[code], resolved[place], texts[place])
        for place, code in zip(places, written, strict=True)
    ]
    if not any(is_other):
        return column
    kept = [
        engine.canonical_text(values[code]) if other else texts[place]
        for place, code, other in zip(places, written, is_other, strict=True)
    ]
    return pa.array(kept, pa.string()).dictionary_encode().take(pa.array(inverse.ravel()))


def _is_rewritten(written: object, resolved: object, text: str | None) -> bool:
    """Return whether a configuration has another value than the written one; a table is never compared."""
    if written is None or isinstance(written, Mapping | list):
        return False
    if text is None or resolved is None:
        return True
    if isinstance(written, bool) or isinstance(resolved, bool | str):
        is_text = text.startswith('"')
        return (
            type(written) is type(resolved)
            and (is_text or isinstance(resolved, bool))
            and written != resolved
        )
    return isinstance(written, int | float) and written != resolved
