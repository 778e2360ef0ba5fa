"""Vdbench's values: sizes, times, percentages, lists with ranges."""

import re

from destage.tools.values import OptionValueError, check_percentage, parse_count

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d+)?)([kmgt]?)b?", re.IGNORECASE | re.ASCII)
_TIME = re.compile(r"(\d{1,9})([smh]?)", re.IGNORECASE | re.ASCII)
_RANGE = re.compile(r"(\d[\w.]*)-(\d[\w.]*)", re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_LARGEST, _SECTOR = 2**63, 512
_MOST_VALUES = 1_000


def parse_size(text: str) -> int:
    """Return a size [bytes]."""
    match = _SIZE.fullmatch(text)
    size = -1 if match is None else int(float(match[1]) * 1024 ** _POWERS[match[2].lower()])
    if not 0 <= size < _LARGEST:
        raise OptionValueError("must be a size such as 4k, 64m or 10g")
    return size


def parse_sectors(text: str) -> int:
    """Return a positive multiple of a sector [bytes]."""
    size = parse_size(text)
    if not size or size % _SECTOR:
        raise OptionValueError(f"is {size} bytes; must be a positive multiple of {_SECTOR}")
    return size


def parse_percentage(text: str) -> float:
    """Return a percentage, 0 to 100."""
    return check_percentage(parse_number(text.removesuffix("%")))


def parse_number(text: str) -> float:
    """Return a number that is not negative."""
    if not re.fullmatch(r"\d{1,12}(\.\d{1,9})?", text, re.ASCII):
        raise OptionValueError("must be a number")
    return float(text)


def parse_positive(text: str) -> int:
    """Return a positive whole number."""
    return parse_count(text, least=1)


def parse_seconds(text: str) -> int:
    """Return a time [s]."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise OptionValueError("must be a number of seconds, or with m or h")
    return int(match[1]) * _SECONDS[match[2].lower()]


def expand_range(texts: list[str]) -> list[str]:
    """Return the values of a list: `1-64,d` doubles, `10-100,10` counts, other lists are their values."""
    values: list[str] = []
    index = 0
    while index < len(texts):
        match = _RANGE.fullmatch(texts[index])
        index += 1
        if match is None:
            values.append(texts[index - 1])
            continue
        step = texts[index] if index < len(texts) else "1"
        index += 1
        values += _count(parse_size(match[1]), parse_size(match[2]), step)
    return values


def _count(first: int, last: int, step: str) -> list[str]:
    is_doubling = step.lower() == "d"
    by = 0 if is_doubling else parse_size(step)
    if (is_doubling and not min(first, last)) or (not is_doubling and not by):
        raise OptionValueError("must have the form (from-to,step) with a step above 0, or d to double")
    values, value = [], first
    while (value <= last if first <= last else value >= last) and value > 0:
        values.append(str(value))
        if len(values) > _MOST_VALUES:
            raise OptionValueError(f"has more than {_MOST_VALUES} values")
        if is_doubling:
            value = value * 2 if first <= last else value // 2
        else:
            value += by if first <= last else -by
    return values
