"""The objectives of a study, as they are written: `response_p95 <= 30ms`."""

import re
from collections.abc import Mapping
from functools import cache

from destage import engine
from destage.engine import Column
from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.spec.near_names import suggest
from destage.spec.objective import Objective
from destage.sweeps.space.axes import in_base_units

FORM = re.compile(r"\s*([A-Za-z_]\w*)\s*(<=|>=|<|>)\s*(\S.*?)\s*")
"""A name, a comparison and a bound."""
_NUMERIC = ("int", "float")
_SUFFIXES = {
    "us": "_us",
    "s": "_s",
    "bytes": "_bytes",
    "sectors": "_sectors",
    "fraction": "_fraction",
    "%": "_percent",
}
"""The suffix of a column's name by its unit."""
REQUIRES_UNIT = ("us", "s", "bytes", "bytes/s")
"""Units in which a bare number would be a guess."""


@cache
def metric_columns() -> Mapping[str, Column]:
    """Return the numeric result columns by the name that objectives use.

    That is the column's name without its unit: `response_p95` for `response_p95_us`. Rates keep their unit:
    `commits_per_s`, `throughput_iops`.
    """
    numeric = [column for column in engine.columns() if column.type in _NUMERIC]
    return {column.name.removesuffix(_SUFFIXES.get(column.unit, "")): column for column in numeric}


def is_bare(literal: str) -> bool:
    """Return whether a bound is a number without a unit."""
    return re.fullmatch(r"[\d._eE+-]+", literal) is not None


def parse_objective(text: str, place: str) -> Objective:
    """Parse an objective.

    Args:
        text: A result column without its unit's suffix, a comparison, and a number with its unit.
    """

    def mistake(code: str, message: str, value: str = text) -> ConfigError:
        return ConfigError([Issue(code, place, message, value)])

    match = FORM.fullmatch(text)
    if match is None:
        raise mistake("study.bad-objective", "must have the form 'response_p95 <= 30ms'")
    name, comparison, literal = match.groups()
    metrics = metric_columns()
    if name not in metrics:
        by_column = {column.name: metric for metric, column in metrics.items()}
        hint = f"; did you mean {by_column[name]!r}?" if name in by_column else suggest(name, metrics)
        raise mistake("study.unknown-name", f"no result column has this name{hint}", name)
    column = metrics[name]
    unit = quantities.UNITS.get(column.unit)
    if column.unit in REQUIRES_UNIT and unit and is_bare(literal):
        raise mistake("study.bad-quantity", f"the bound needs a unit, as in {unit.example!r}", literal)
    try:
        bound = float(in_base_units(literal, column.unit if unit else None, place))  # type: ignore[arg-type]
    except ValueError:
        raise mistake("study.bad-quantity", "the bound must be a number", literal) from None
    return Objective(text, column.name, comparison, bound)
