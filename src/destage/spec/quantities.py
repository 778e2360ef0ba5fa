"""Quantities with units (`256MiB`, `8ms`, `533MB/s`) and their values in base units.

The schema of a quantity has `x-unit`, the name of its base unit. A text is parsed exactly (integers
without floating point), and a value is rendered as the shortest text that parses to it.

Binary prefixes (`KiB`, `MiB`, ...) are powers of 2^10, decimal ones (`kB` or `KB`, `MB`, ...) powers of
10^3; `B` is a byte, `b` or `bit` a bit (only in rates, as links are specified in bits).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from destage.errors import ConfigError, Issue

_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_SIZES = {f"{prefix}B": Fraction(factor) for prefix, factor in {**_DECIMAL, "K": 10**3, **_BINARY}.items()}
_BIT_RATES = {
    f"{prefix}{bit}/s": Fraction(factor, 8)
    for prefix, factor in _DECIMAL.items()
    for bit in ("b", "bit")
    if prefix
}


@dataclass(frozen=True)
class Unit:
    """A base unit and its suffixes.

    Attributes:
        name: The `x-unit` of the schema.
        phrase: Its name in messages.
        suffixes: Base units per suffix.
    """

    name: str
    phrase: str
    suffixes: Mapping[str, Fraction]
    whole: bool
    example: str


_DURATIONS = {
    "ns": Fraction(1),
    "us": Fraction(10**3),
    "µs": Fraction(10**3),
    "ms": Fraction(10**6),
    "s": Fraction(10**9),
    "min": Fraction(60 * 10**9),
    "h": Fraction(3600 * 10**9),
    "d": Fraction(86400 * 10**9),
}
_RATES = {"/s": Fraction(1), "/min": Fraction(1, 60), "/h": Fraction(1, 3600)}
_BANDWIDTHS = {f"{size}/s": factor for size, factor in _SIZES.items()} | _BIT_RATES


def _durations(base: str) -> dict[str, Fraction]:
    return {suffix: factor / _DURATIONS[base] for suffix, factor in _DURATIONS.items()}


UNITS: Mapping[str, Unit] = MappingProxyType(
    {
        unit.name: unit
        for unit in (
            Unit("bytes", "a size", _SIZES, whole=True, example="64MiB"),
            Unit("ns", "a duration", _DURATIONS, whole=True, example="8ms"),
            Unit("us", "a duration", _durations("us"), whole=False, example="8ms"),
            Unit("s", "a duration", _durations("s"), whole=False, example="8s"),
            Unit("per_s", "a rate", _RATES, whole=False, example="400/s"),
            Unit("1/s", "a rate", _RATES, whole=False, example="400/s"),
            Unit("bytes_per_s", "a bandwidth", _BANDWIDTHS, whole=True, example="533MB/s"),
            Unit("bytes/s", "a bandwidth", _BANDWIDTHS, whole=False, example="533MB/s"),
            Unit("rpm", "a rotation speed", {"rpm": Fraction(1)}, whole=False, example="15000rpm"),
            Unit("fraction", "a fraction", {"%": Fraction(1, 100)}, whole=False, example="0.3"),
        )
    }
)
"""The base units of the schema and of result columns, by name."""

_QUANTITY = re.compile(r"\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(.*?)\s*")
_COMMA = re.compile(r"([+-]?\d+),(\d+)(\D*)")
_THOUSANDS = 3
"""Digits after a comma that may separate thousands."""
_LIMIT = 2**64
_NANOSECONDS = {"us": 10**3, "s": 10**9}
_SUFFIX = {"us": "us", "s": "s", "per_s": "/s", "1/s": "/s", "bytes/s": "B/s", "rpm": "rpm"}
_ZERO = {"bytes": "B", "ns": "s", "bytes_per_s": "B/s"}
_RENDERED = {
    "bytes": ("TiB", "GiB", "MiB", "KiB", "TB", "GB", "MB", "kB", "B"),
    "ns": ("h", "min", "s", "ms", "us", "ns"),
    "bytes_per_s": ("GB/s", "MB/s", "kB/s", "B/s"),
}


def parse(value: object, unit: str) -> int | float:
    """Convert a quantity to base units.

    Args:
        value: A number of base units, or a text: a number with or without a suffix.
        unit: The base unit's name, a key of `UNITS`.

    Returns:
        The value [base units]: an integer if the unit is whole, else a float.
    """
    kind = UNITS[unit]
    text = str(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _error(text, f"is not {kind.phrase}; write it like {kind.example!r}")
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise _error(text, f"is not {kind.phrase}; write it like {kind.example!r}")
    number, suffix = match.groups()
    if comma := _COMMA.fullmatch(text.strip()):
        raise _error(text, f"has a comma; write {_list_without_comma(*comma.groups())}")
    factor = Fraction(1) if suffix == "" else kind.suffixes.get(suffix)
    if factor is None:
        allowed = ", ".join(kind.suffixes)
        raise _error(text, f"has an unknown unit {suffix!r}; {kind.phrase} ends in one of {allowed}")
    amount = Fraction(Decimal(number.replace("_", ""))) * factor
    if abs(amount) >= _LIMIT:
        raise _error(text, "is too large")
    if not kind.whole:
        return float(amount)
    if amount.denominator != 1:
        base = next(name for name, size in kind.suffixes.items() if size == 1)
        raise _error(text, f"is not a whole number of {base}")
    return amount.numerator


def render(value: float, unit: str) -> str:
    """Return a short text that parses to exactly `value`."""
    kind = UNITS[unit]
    if unit in _NANOSECONDS and (Fraction(value) * _NANOSECONDS[unit]).denominator == 1:
        return render(int(Fraction(value) * _NANOSECONDS[unit]), "ns")
    if not kind.whole:
        number = int(value) if float(value).is_integer() else value
        return f"{number!r}{_SUFFIX.get(unit, '')}"
    if not value:
        return f"0{_ZERO[unit]}"
    amounts = ((Fraction(int(value)) / kind.suffixes[suffix], suffix) for suffix in _RENDERED[unit])
    return min(
        (f"{_format_amount(amount)}{suffix}" for amount, suffix in amounts if _is_short(amount)), key=len
    )


def _list_without_comma(whole: str, decimals: str, suffix: str) -> str:
    """Return what a number with a comma may mean."""
    joined = [f"{whole}{decimals}{suffix}"] * (len(decimals) == _THOUSANDS)
    return " or ".join(map(repr, [*joined, f"{whole}.{decimals}{suffix}"]))


def _is_short(amount: Fraction) -> bool:
    """Return whether an amount is whole, or above one with at most three decimals."""
    return amount.denominator == 1 or (abs(amount) > 1 and (amount * 1000).denominator == 1)


def _format_amount(amount: Fraction) -> str:
    if amount.denominator == 1:
        return str(amount.numerator)
    whole, thousandths = divmod(abs(amount.numerator) * 1000 // amount.denominator, 1000)
    return f"{'-' if amount < 0 else ''}{whole}.{thousandths:03}".rstrip("0")


def _error(text: str, message: str) -> ConfigError:
    return ConfigError([Issue("usage.bad-quantity", "", message, text)])
