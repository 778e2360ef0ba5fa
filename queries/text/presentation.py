"""Rows as people read them: short headings with units, quantities in usual units, intervals in one cell.

Used by the table and markdown formats and the report; csv, json and parquet keep names and base units.
"""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from destage import allowance
from destage.engine.result_columns import is_share
from destage.objects import locate
from destage.spec import quantities
from destage.spec.axis_names import is_answer, name_axes, name_axis
from destage.spec.printed_text import escape_controls

if TYPE_CHECKING:
    import pyarrow as pa

_SCALES = {
    "_us": (1e-3, "ms"),
    "_bytes": (2.0**-20, "MiB"),
    "_byte_s": (2.0**-20, "MiB s"),
    "_bytes_per_s": (1e-6, "MB/s"),
    "_iops": (1.0, "IO/s"),
    "_per_s": (1.0, "1/s"),
    "_s": (1.0, "s"),
    "_percent": (1.0, "%"),
}
CONFIDENCE = "95 % CI"
_KEPT = 4096
"""Columns whose title and scale are kept: every cell and every mark asks for them."""
_SIGNIFICANT = 4
_DECIMALS = 9
_LONGEST = 10**15
"""Numbers from which a shorter form is more readable."""
_QUIET: Mapping[str, object] = MappingProxyType(
    {
        "monotone": True,
        "undecided": 0,
        "n_not_stationary": 0,
        "n_overloaded": 0,
        "n_array_failed": 0,
        "n_failed": 0,
        "n_missing": 0,
    }
)
"""Columns that only warn, and their value when there is nothing to warn about."""
_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "n": "replicates",
        "n_not_stationary": "runs not stationary",
        "n_overloaded": "overloaded runs",
        "n_array_failed": "runs with a failed array",
        "n_failed": "failed runs",
        "n_missing": "missing runs",
        "limiting": "limiting resource",
        "binding": "binding objective",
        "monotone": "monotonic",
        "passing": "passes at",
        "failing": "fails at",
        "interval_met": "target width met",
        "engine_s": "engine time [s]",
        "raid": "RAID",
        "request_bytes": "request size",
    }
)
"""Headings of columns whose names say too little."""
_CENSORED = {"at_least": "≥ ", "below": "≤ ", "above": "> "}
_MORE_EXPENSIVE = "more_expensive"
_AXIS_VALUE = frozenset({"axis", "value"})
"""The columns of rows about a value of one of several axes, as in `marginals`: texts in base units."""


@dataclass(frozen=True, slots=True)
class Heading:
    """One column as shown; `title` has the unit, numbers are aligned to the right."""

    column: str
    title: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class Presentation:
    """A table as shown."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]


def present(table: "pa.Table", units: Mapping[str, str]) -> Presentation:
    """Return a table [base units] as people read it.

    Columns without a value, or with nothing to warn about, are hidden. The interval of an `x`, from `x_low`
    to `x_high`, is in its cell. A column that a user's statement computes is always shown, with its own name
    and value. `units` has the base unit of an axis by its dotted path.
    """
    # They import pyarrow, which a number does not need.
    from destage.queries.text import plain_values  # noqa: PLC0415
    from destage.queries.text.plain_values import list_computed  # noqa: PLC0415

    computed = list_computed(table)
    numbers = {field.name for field in table.schema if plain_values.is_number(field.type)}
    table = plain_values.flatten_unusual(table)
    values = {name: _list_values(table[name]) for name in table.column_names}
    taken = [name for name in values if name not in computed]
    folded = {name for name in taken if _is_end_of_interval(name, taken)} | {"censored", "published_figure"}
    hidden = {name for name in taken if name in folded or _is_hidden(name, values[name])}
    shown = [name for name in values if name not in hidden]
    titles = _titles([name for name in shown if name not in computed])
    ends = {name: values[name] for name in taken}
    if _AXIS_VALUE.isdisjoint(numbers) and _AXIS_VALUE.issubset(taken):
        pairs = zip(values["axis"], values["value"], strict=True)
        ends["value"] = [_format_axis_text(axis, value, units.get(axis)) for axis, value in pairs]
    columns = [
        [_keep(format_quantity(value, None)) for value in allowance.watch(values[name])]
        if name in computed
        else _cells(name, ends, units.get(name))
        for name in shown
    ]
    lows = [name for name in folded if name.endswith("_low") and any(end is not None for end in values[name])]
    bounded = {name.removesuffix("_low") for name in lows}
    titles |= {name: f"{titles[name]} ({CONFIDENCE})" for name in bounded & titles.keys()}
    headings = tuple(
        Heading(name, titles.get(name, escape_controls(name)), name in numbers) for name in shown
    )
    return Presentation(headings, tuple(zip(*columns, strict=True)) if table.num_rows else ())


def _list_values(column: "pa.ChunkedArray") -> list[Any]:
    parts = (column.slice(start, allowance.STEP) for start in range(0, len(column), allowance.STEP))
    return [value for part in parts for value in allowance.watch(part.to_pylist())]


def fold_constants(shown: Presentation, kept: Sequence[str]) -> tuple[Presentation, tuple[str, ...]]:
    """Return a table without the columns that have one value, and these in words: `RAID 5`.

    Args:
        kept: Columns that stay, such as the result that the table is about.
    """
    if len(shown.rows) < 2:  # noqa: PLR2004 - one row has only constant columns
        return shown, ()
    columns = list(zip(*shown.rows, strict=True))
    stays = [
        heading.column in kept or len(set(cells)) > 1
        for heading, cells in zip(shown.headings, columns, strict=True)
    ]
    words = [
        f"{heading.title} {cells[0]}"
        for heading, cells, stay in zip(shown.headings, columns, stays, strict=True)
        if not stay
    ]
    rows = tuple(tuple(compress(row, stays)) for row in shown.rows)
    return Presentation(tuple(compress(shown.headings, stays)), rows), tuple(words)


@lru_cache(_KEPT)
def title_column(name: str) -> str:
    """Return a result column's heading: words, then the unit shown."""
    if name in _TITLES:
        return _TITLES[name]
    for suffix, (_, unit) in _SCALES.items():
        if name.endswith(suffix):
            return f"{_words(name.removesuffix(suffix))} [{unit}]"
    return _words(name)


def split_title(name: str) -> tuple[str, str]:
    """Return a result column in words, and the unit shown; empty if it has none."""
    words, _, unit = title_column(name).partition(" [")
    return words, unit.rstrip("]")


@lru_cache(_KEPT)
def find_scale(name: str) -> float:
    """Return the factor from a result column's base unit to the unit shown."""
    return next((scale for suffix, (scale, _) in _SCALES.items() if name.endswith(suffix)), 1.0)


def scale_interval(name: str, row: Mapping[str, Any]) -> tuple[float, float | None, float | None]:
    """Return a result column of a row and the ends of its interval, if it has one [unit shown]."""
    scale = find_scale(name)
    ends = row.get(f"{name}_low"), row.get(f"{name}_high")
    low, high = (None if end is None else end * scale for end in ends)
    return row[name] * scale, low, high


def begin_sentence(text: str) -> str:
    """Return a text with a capital at its start; RAID stays RAID."""
    return f"{text[:1].upper()}{text[1:]}"


def format_number(value: float) -> str:
    """Return a number in four significant digits, or all of a whole one; with an exponent only from 10^15."""
    if not math.isfinite(value):
        return str(float(value))
    if abs(value) >= _LONGEST:
        return f"{value:.{_SIGNIFICANT}g}"
    if float(value).is_integer():
        return f"{int(value):d}" if abs(value) < 10**4 else f"{int(value):,d}".replace(",", "\u202f")
    if abs(value) >= 10**_SIGNIFICANT:
        return format_number(round(value))
    rounded = float(f"{value:.{_SIGNIFICANT}g}")
    if rounded.is_integer():
        return format_number(rounded)
    digits = f"{rounded:.{_DECIMALS}f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def format_rounded(value: float, digits: int = 3) -> str:
    """Return a number rounded to some significant digits."""
    return format_number(float(f"{value:.{digits}g}"))


def format_amount(value: float) -> str:
    """Return an amount of money: to the cent, if it is not whole."""
    text = f"{value:,.2f}".removesuffix(".00")
    return text.replace(",", "" if abs(value) < 10**_SIGNIFICANT else "\u202f")


def format_count(count: int, noun: str) -> str:
    """Return a number with its noun, as in `1 point` or `22 points`."""
    return f"{format_number(count)} {noun}{'' if count == 1 else 's'}"


def format_estimate(
    mean: float,
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    digits: int | None = None,
) -> str:
    """Return a mean with its interval, as in `129 users (95 % CI 125 to 133)`.

    The interval is left out where it is too narrow for the digits shown, those of `format_number` by default.
    """

    def text(value: float) -> str:
        return format_number(value) if digits is None else format_rounded(value, digits)

    estimate = f"{text(mean)} {unit}".rstrip()
    if low is None or high is None or text(low) == text(high):
        return estimate
    return f"{estimate} ({CONFIDENCE} {text(low)} to {text(high)})"


def format_quantity(value: object, unit: str | None) -> str:
    """Return a value of an axis [its base unit] as people write it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if unit is None or unit == "fraction":
            return format_number(value)
        text = quantities.render(value, unit)
        split = next((index for index, letter in enumerate(text) if letter.isalpha()), len(text))
        return f"{text[:split]} {text[split:]}".strip()
    return escape_controls(str(value))


def format_axis_value(path: str, value: object, unit: str | None) -> str:
    """Return a value of the axis at a dotted path [its base unit] as people write it.

    A catalogue entry (`use`) is shown by the name of the product.
    """
    if path.endswith(".use") and isinstance(value, str):
        from destage.engine.catalog import find_product  # noqa: PLC0415 - few callers need the catalogue

        return find_product(value) or escape_controls(value)
    if name_axis(path) == "raid" and value == "10":
        return "1+0"
    if name_axis(path) == "file" and isinstance(value, str):
        return escape_controls(locate(value).name)
    if isinstance(value, str) and value.startswith(("[", "{")):
        return escape_controls(_script(value))
    return format_quantity(value, unit)


def _format_axis_text(axis: str, text: str | None, unit: str | None) -> str:
    """Return a value of an axis, of which a column of many axes has the text."""
    if text in {"true", "false"}:
        return format_quantity(text == "true", None)
    try:
        value = text if text is None or name_axis(axis) == "raid" else float(text)
    except ValueError:
        from destage.engine.catalog import find_product  # noqa: PLC0415 - few callers need the catalogue

        return find_product(str(text)) or format_axis_value(axis, text, None)
    return format_axis_value(axis, value, unit)


def _script(text: str) -> str:
    """Return a JSON table or list in words, as in `battery fails at 60 s, mains lost at 2 min for 1 h`."""
    try:
        steps = json.loads(text)
    except json.JSONDecodeError:
        return text
    if isinstance(steps, dict):
        return ", ".join(
            f"{_words(key)} {format_quantity(value, 'ns') if key == 'duration' else value}"
            for key, value in steps.items()
        )
    if not all(isinstance(step, dict) and "kind" in step for step in steps):
        return text
    return ", ".join(_step(step) for step in steps) or "none"


def _step(step: Mapping[str, Any]) -> str:
    words = [_words(step["kind"])]
    for key, value in step.items():
        if key in {"at", "duration"}:
            words.append(f"{'at' if key == 'at' else 'for'} {format_quantity(value, 'ns')}")
        elif key != "kind":
            words.append(f"{_words(key)} {value}")
    return " ".join(words)


def format_interval(name: str, row: Mapping[str, Any]) -> str:
    """Return a result column of a row in words: its name, its value with any interval, and its unit."""
    text = _cell(name, row[name], None)
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if low is not None and high is not None:
        text += f" ({CONFIDENCE} {_cell(name, low, None)} to {_cell(name, high, None)})"
    words, unit = split_title(name)
    return f"{words} {text} {unit}".rstrip()


def _cells(name: str, values: Mapping[str, Sequence[object]], unit: str | None) -> list[str]:
    lows, highs = values.get(f"{name}_low"), values.get(f"{name}_high")
    censored = values.get("censored") if is_answer(name) else None
    cells = []
    for index, value in enumerate(allowance.watch(values[name])):
        text = _cell(name, value, unit)
        if value is None and censored is not None and censored[index] == _MORE_EXPENSIVE:
            text = "more expensive"
        elif censored is not None and censored[index] is not None:
            text = _CENSORED.get(str(censored[index]), "") + text
        elif isinstance(value, float) and lows is not None and highs is not None:
            low, high = lows[index], highs[index]
            if low is not None and high is not None:
                text += f" ({_cell(name, low, None)} to {_cell(name, high, None)})"
        cells.append(_keep(text))
    return cells


def _keep(text: str) -> str:
    allowance.take(sys.getsizeof(text))
    return text


def _cell(name: str, value: object, unit: str | None) -> str:
    is_axis = "." in name or unit is not None
    if not is_axis and isinstance(value, int | float) and not isinstance(value, bool):
        if is_share(name):
            return f"{value:.3f}"
        return format_number(value * find_scale(name))
    return format_axis_value(name, value, unit)


def _titles(names: Sequence[str]) -> dict[str, str]:
    axes = name_axes([name for name in names if "." in name])
    short = {name: _axis_words(axes[name]) if name in axes else title_column(name) for name in names}
    shorts = list(short.values())
    return {name: title if shorts.count(title) == 1 else name for name, title in short.items()}


def title_axis(path: str) -> str:
    """Return the short name of the axis at a dotted path."""
    return _axis_words(name_axis(path))


def _axis_words(name: str) -> str:
    return "RAID" if name == "raid" else _words(name)


def name_value(path: str, value: object, units: Mapping[str, str]) -> str:
    """Return a value of an axis with the axis' name; an entry of the catalogue or a file needs none."""
    text = format_axis_value(path, value, units.get(path))
    if path.endswith(".users"):
        return f"{text} user{'' if value == 1 else 's'}"
    return text if path.endswith((".use", ".file")) else f"{title_axis(path)} {text}"


def _is_hidden(name: str, values: Sequence[object]) -> bool:
    quiet = _QUIET.get(name)
    return bool(values) and all(value is None or (quiet is not None and value == quiet) for value in values)


def _words(name: str) -> str:
    return name.replace("_", " ").strip()


def _is_end_of_interval(name: str, names: Sequence[str]) -> bool:
    base, _, end = name.rpartition("_")
    return end in {"low", "high"} and {base, f"{base}_low", f"{base}_high"}.issubset(names)
