"""Rows for human eyes: short headings with units, quantities in the unit people use, intervals in one cell.

Only the table and markdown formats and the report pass through here; csv, json and parquet keep names and
base units.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from destage.objects import locate
from destage.spec import quantities

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
_SIGNIFICANT = 4
_DECIMALS = 9
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
"""Columns that are there to warn, and the value that warns of nothing."""
_VAGUE = frozenset(
    {"state", "kind", "mode", "policy", "name", "mean", "times", "usable", "latency", "exponent"}
)
_CENSORED = {"at_least": "≥ ", "below": "≤ "}


@dataclass(frozen=True, slots=True)
class Heading:
    """One column as shown.

    Attributes:
        column: The column's name.
        title: Its heading, with the unit.
        is_number: Whether its cells are numbers, set to the right.
    """

    column: str
    title: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class Presentation:
    """A table as shown.

    Attributes:
        headings: Its columns.
        rows: Its cells.
    """

    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]


def present(table: pa.Table, units: Mapping[str, str]) -> Presentation:
    """Return a table as people read it; columns without a value, or with nothing to warn of, are left out.

    Args:
        table: The rows, in base units; `x_low` and `x_high` beside an `x` are shown in its cell.
        units: The base unit of each axis that has one, by dotted path.
    """
    names = table.column_names
    folded = {name for name in names if _is_end_of_interval(name, names)} | {"censored", "published_kind"}
    values = {name: table[name].to_pylist() for name in names}
    shown = [name for name in names if name not in folded and not _is_silent(name, values[name])]
    titles = _titles(shown)
    columns = [_cells(name, values, units.get(name)) for name in shown]
    headings = tuple(Heading(name, titles[name], _is_number(table.schema.field(name))) for name in shown)
    return Presentation(headings, tuple(zip(*columns, strict=True)) if table.num_rows else ())


def title_of(name: str) -> str:
    """Return a result column's heading: words, then the unit shown.

    Args:
        name: The column's name.
    """
    for suffix, (_, unit) in _SCALES.items():
        if name.endswith(suffix):
            return f"{_words(name.removesuffix(suffix))} [{unit}]"
    return _words(name)


def scale_of(name: str) -> float:
    """Return the factor from a result column's base unit to the unit shown.

    Args:
        name: The column's name.
    """
    return next((scale for suffix, (scale, _) in _SCALES.items() if name.endswith(suffix)), 1.0)


def number(value: float) -> str:
    """Return a number in four significant digits, without an exponent.

    Args:
        value: The number.
    """
    if float(value).is_integer() and abs(value) < 10**15:
        return f"{int(value):d}" if abs(value) < 10**4 else f"{int(value):,d}".replace(",", "\u202f")
    if abs(value) >= 10**_SIGNIFICANT:
        return number(round(value))
    rounded = float(f"{value:.{_SIGNIFICANT}g}")
    if rounded.is_integer():
        return number(rounded)
    digits = f"{rounded:.{_DECIMALS}f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def quantity(value: object, unit: str | None) -> str:
    """Return a value of an axis as people write it.

    Args:
        value: The value [base unit].
        unit: Its base unit, if it has one.
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if unit is None or unit == "fraction":
            return number(value)
        text = quantities.render(value, unit)
        split = next((at for at, letter in enumerate(text) if letter.isalpha()), len(text))
        return f"{text[:split]} {text[split:]}".strip()
    return str(value)


def axis_value(path: str, value: object, unit: str | None) -> str:
    """Return a value of an axis as people write it.

    Args:
        path: The axis' dotted path.
        value: The value [base unit].
        unit: Its base unit, if it has one.
    """
    if path.endswith(".raid") and value == "10":
        return "1+0"
    if path.endswith(".file") and isinstance(value, str):
        return locate(value).name
    if isinstance(value, str) and value.startswith(("[", "{")):
        return _script(value)
    return quantity(value, unit)


def _script(text: str) -> str:
    """Return a table or a list of them in words: `battery fails at 60 s, mains lost at 2 min for 1 h`."""
    try:
        steps = json.loads(text)
    except json.JSONDecodeError:
        return text
    if isinstance(steps, dict):
        return ", ".join(
            f"{_words(key)} {quantity(value, 'ns') if key == 'duration' else value}"
            for key, value in steps.items()
        )
    if not all(isinstance(step, dict) and "kind" in step for step in steps):
        return text
    return ", ".join(_step(step) for step in steps) or "none"


def _step(step: Mapping[str, Any]) -> str:
    words = [_words(step["kind"])]
    for key, value in step.items():
        if key in {"at", "duration"}:
            words.append(f"{'at' if key == 'at' else 'for'} {quantity(value, 'ns')}")
        elif key != "kind":
            words.append(f"{_words(key)} {value}")
    return " ".join(words)


def interval(name: str, row: Mapping[str, Any]) -> str:
    """Return a result with its unit and, where it has one, its interval.

    Args:
        name: The result column.
        row: A row with it and perhaps its `_low` and `_high`.
    """
    text = _cell(name, row[name], None)
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if low is not None and high is not None:
        text += f" ({_cell(name, low, None)} .. {_cell(name, high, None)})"
    return f"{title_of(name)} {text}"


def _cells(name: str, values: Mapping[str, Sequence[object]], unit: str | None) -> list[str]:
    lows, highs = values.get(f"{name}_low"), values.get(f"{name}_high")
    censored = values.get("censored") if name.endswith("_supported") else None
    cells = []
    for index, value in enumerate(values[name]):
        text = _cell(name, value, unit)
        if censored is not None and censored[index] is not None:
            text = _CENSORED.get(str(censored[index]), "") + text
        elif isinstance(value, float) and lows is not None and highs is not None:
            text += _spread(value, lows[index], highs[index], scale_of(name))
        cells.append(text)
    return cells


def _spread(mean: float, low: object, high: object, scale: float) -> str:
    if not isinstance(low, float) or not isinstance(high, float):
        return ""
    if math.isclose(high - mean, mean - low, rel_tol=1e-6, abs_tol=1e-12):
        return f" ± {number(float(f'{(high - mean) * scale:.2g}'))}"
    return f" ({number(low * scale)} .. {number(high * scale)})"


def _cell(name: str, value: object, unit: str | None) -> str:
    if "." not in name and isinstance(value, int | float) and not isinstance(value, bool):
        if name.endswith(("_ratio", "_fraction")):
            return f"{value:.3f}"
        return number(value * scale_of(name))
    return axis_value(name, value, unit)


def _titles(names: Sequence[str]) -> dict[str, str]:
    short = {name: axis_title(name) if "." in name else title_of(name) for name in names}
    shorts = list(short.values())
    return {name: title if shorts.count(title) == 1 else name for name, title in short.items()}


def axis_title(path: str) -> str:
    """Return what an axis is called where there is little room.

    Args:
        path: Its dotted path.
    """
    segments = path.split(".")
    last = segments[-1]
    if last == "use":
        return _words(segments[-2])
    if last == "raid":
        return "RAID"
    return _words(" ".join(segments[-2:]) if last in _VAGUE else last)


def name_value(path: str, value: object, units: Mapping[str, str]) -> str:
    """Return a value of an axis with the axis' name; an entry of the catalogue or a file needs none."""
    text = axis_value(path, value, units.get(path))
    return text if path.endswith((".use", ".file")) else f"{axis_title(path)} {text}"


def _is_silent(name: str, values: Sequence[object]) -> bool:
    if not values:
        return False
    return all(value is None or (name in _QUIET and value == _QUIET[name]) for value in values)


def _words(name: str) -> str:
    return name.replace("_", " ").strip()


def _is_end_of_interval(name: str, names: Sequence[str]) -> bool:
    return name.endswith(("_low", "_high")) and name.rpartition("_")[0] in names


def _is_number(field: pa.Field) -> bool:
    return bool(pa.types.is_integer(field.type) or pa.types.is_floating(field.type))
