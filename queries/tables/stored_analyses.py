"""The tables of a sweep's analyses, checked: a store may come from elsewhere, and readers rely on them.

They are named queries as well, so that all commands read them as they read these.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import pyarrow as pa

from destage.queries.named.named_queries import NamedQuery, QueryColumn
from destage.sensitivity.sensitivity_table import INTERACTIONS_SCHEMA, SENSITIVITY_SCHEMA
from destage.spec import quantities
from destage.sql import quote
from destage.store import Sweep
from destage.store.schemas.analysis_schema import (
    CALIBRATION,
    DRAWS,
    MISSED,
    NEXT,
    ODDS,
    PREDICTIVE,
    TRIALS,
    UNIT_OF,
    UNKNOWNS,
    WORTH,
    find_purpose,
    list_meanings,
)

_MISSED = "missed_figures"
_ADDED: Mapping[str, pa.Schema] = {"next_measurements": NEXT, _MISSED: MISSED}
"""The tables that calibrations of earlier versions lack."""
_SCHEMAS: Mapping[str, pa.Schema] = {
    "sensitivity": SENSITIVITY_SCHEMA,
    "interactions": INTERACTIONS_SCHEMA,
    "trials": TRIALS,
    "calibration": CALIBRATION,
    "posterior": DRAWS,
    "unknowns": UNKNOWNS,
    "predictive": PREDICTIVE,
    "odds": ODDS,
    "worth_knowing": WORTH,
    **_ADDED,
}
_OF_CALIBRATIONS = ("calibration", "posterior", "unknowns", "predictive", "odds", "worth_knowing")
_Faults = Iterator[tuple[str, str]]


def name_table(analysis: str) -> str:
    """Return the name of the table of an analysis; the view that users read has the analysis' own."""
    return f"stored_{analysis}"


def list_analysis_queries(
    analyses: Mapping[str, pa.Table], names: Mapping[str, str]
) -> dict[str, NamedQuery]:
    """Return the query for all rows of each analysis table, by name.

    Args:
        names: The name in SQL of each axis, for units such as `unit of array.disks`.
    """
    return {
        name: NamedQuery(
            name=name,
            studies="any",
            purpose=find_purpose(table.schema),
            parameters=(),
            row="see purpose",
            sql=f"SELECT * FROM {quote(name_table(name))}",  # noqa: S608 - a table of the sweep
            columns=tuple(
                QueryColumn(column, _name_unit(unit, names), meaning)
                for column, (unit, meaning) in list_meanings(table.schema).items()
            ),
        )
        for name, table in analyses.items()
    }


def _name_unit(unit: str | None, names: Mapping[str, str]) -> str | None:
    path = (unit or "").removeprefix(UNIT_OF)
    return unit if unit is None or path == unit else f"{UNIT_OF}{names.get(path, path)}"


def read_analyses(sweep: Sweep, spec: Mapping[str, Any]) -> dict[str, pa.Table]:
    """Return the tables by name, none until the sweep has finished.

    Args:
        spec: The study.

    Raises:
        StoreError: A table has other columns than those of its analysis, or does not fit the others.
    """

    def find_fault(tables: Mapping[str, pa.Table]) -> tuple[str, str] | None:
        return next(chain(_check_trials(tables, spec), _check_calibration(tables)), None)

    return sweep.analyses(_SCHEMAS, find_fault)


def _check_trials(tables: Mapping[str, pa.Table], spec: Mapping[str, Any]) -> _Faults:
    """Yield what is wrong with the trials: the objectives are the numbers between their other columns."""
    table = tables.get("trials")
    if table is None:
        return
    before = len(TRIALS) - 1
    goals = [goal for written in spec.get("search", {}).get("objectives", ()) for goal in written]
    objectives = list(table.schema)[before:-1]
    names = [*TRIALS.names[:before], *(field.name for field in objectives), TRIALS.names[-1]]
    if table.column_names != names:
        yield "trials", "has other columns than the trials of a search"
    elif not objectives or len(objectives) != len(goals):
        yield "trials", "must have a column for each objective of the study"
    elif any(field.type != pa.float64() for field in objectives):
        yield "trials", "objectives must be numbers"


def _check_calibration(tables: Mapping[str, pa.Table]) -> _Faults:
    """Yield what is wrong with the tables of a calibration: what they name is in the others."""
    names = [name for name in _OF_CALIBRATIONS if name in tables]
    if not names:
        return
    if len(names) < len(_OF_CALIBRATIONS):
        yield names[0], "must be beside the other tables of a calibration"
        return
    fits = set(tables["calibration"]["fit"].to_pylist())
    for name in [*names, *sorted(_ADDED.keys() & tables.keys())]:
        if not fits.issuperset(tables[name]["fit"].to_pylist()):
            yield name, "names a fit that the calibration does not have"
    yield from _check_figures(tables)
    expected = {(fit, *of) for fit in fits for of in _list(tables["unknowns"], "unknown", "value")}
    if _list(tables["unknowns"], "fit", "unknown", "value") != expected:
        yield "unknowns", "must have each unknown for each fit"
    rows = tables["unknowns"].to_pylist()
    described = {(row["unknown"], row["column"], row["unit"], row["value"] is None) for row in rows}
    if len(described) > len({row["unknown"] for row in rows}):
        yield "unknowns", "must describe each unknown once"
    for row in rows:
        if (fault := _find_fault(row, tables["posterior"])) is not None:
            yield "unknowns", f"{row['unknown']!r} {fault}"


def _check_figures(tables: Mapping[str, pa.Table]) -> _Faults:
    """Yield the tables that name a figure which no fit predicts."""
    predicted = _list(tables["predictive"], "fit", "figure")
    for name in ("odds", _MISSED):
        if name in tables and not predicted.issuperset(_list(tables[name], "fit", "figure")):
            yield name, "names a figure that is not predicted"


def _find_fault(row: Mapping[str, Any], draws: pa.Table) -> str | None:
    """Return what is wrong with an unknown, whose values are a column of the draws."""
    if row["column"] not in draws.column_names:
        return "is not a column of the draws"
    column = draws[row["column"]]
    if row["value"] is None and (column.null_count or column.type not in {pa.float64(), pa.int64()}):
        return "must have a number in each draw"
    if row["value"] is None and row["unit"] not in {None, *quantities.UNITS}:
        return "has a unit that no parameter has"
    # A choice has the share of its value, a number all quantiles or none: a fit ruled out has none.
    quantiles = [
        [row[f"{name}_{key}"] is None for key in ("q05", "median", "q95")] for name in ("prior", "posterior")
    ]
    is_whole = (
        all(len({*of}) == 1 for of in quantiles) if row["value"] is None else row["prior_share"] is not None
    )
    return None if is_whole else "lacks a quantile or a share"


def _list(table: pa.Table, *columns: str) -> set[tuple[Any, ...]]:
    return set(zip(*(table[name].to_pylist() for name in columns), strict=True))
