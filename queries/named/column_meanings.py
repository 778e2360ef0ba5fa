"""The columns of tables, and what each column of a result means.

DuckDB's column comments are not used: DESCRIBE does not show them, views and subqueries do not inherit them,
and a sweep would need two thousand COMMENT statements when it is opened. Instead, unit and meaning are looked
up by column name after DESCRIBE, and replace its columns null, key, default and extra.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from destage import engine
from destage.queries.named.named_queries import NamedQuery

Meaning = tuple[str | None, str]
"""The unit of a column, if it has one, and what it holds."""

MEASURED = "measured"
"""The relation of the measured sets of the sweep's store."""
MEASURED_UNITS: Mapping[str, str] = MappingProxyType({"request_bytes": "bytes"})
"""Its columns that are shown as axes are: 8 KiB, not 0.008 MiB."""
RELATIONS: Mapping[str, str] = MappingProxyType(
    {
        "points": "one row per point (for a seek, per point and probed value): means over replicates",
        "answers": "one row per point: the answer of the study's seek",
        "certified": "one row per point: means at the largest value below its answer that all replicates ran",
        "replicates": "one row per point and replicate: the results of its run; for a seek, of its run at "
        "the largest value below the answer, and its own answer",
        "runs": "one row per point and stored run: its results",
        "configurations": "one row per point: its axes, null where an axis has no effect",
        "grid": "one row per combination of the axes as written, with the point that it is",
        "plan": "one row per point and planned run",
        "timeline": "one row per transition of a run: of battery, mains, disks, rebuilds and the window",
        "published_figures": "one row per published figure: its value, the simulated one, and its class",
        "measured": "one row per measured line in the store: a result of a load test, or a device in a log",
        "axes": "one row per axis: its name in SQL, its path in the study, its unit and meaning",
    }
)
"""The relations that users read, and what a row of each is."""

FIXED: Mapping[str, Meaning] = MappingProxyType(
    {
        "point_id": (None, "identifies the point"),
        "written_id": (None, "identifies the combination of the axes as written"),
        "label": (None, "name of a point that the study lists by itself"),
        "plan_row": (None, "place in the plan"),
        "replicate": ("count", "number of the replicate, from 0"),
        "run_id": (None, "identifies the run: its configuration, seed and replicate"),
        "round": ("count", "planning round that added the run, from 0"),
        "estimated_events": ("count", "estimated number of events"),
        "n": ("count", "replicates with a result"),
        "n_not_stationary": ("count", "runs that did not become steady"),
        "n_overloaded": ("count", "runs whose load exceeds the capacity of the array"),
        "n_array_failed": ("count", "runs in which an array failed"),
        "n_failed": ("count", "runs that failed"),
        "n_missing": ("count", "planned runs without a row"),
        "metric": (None, "name of the answers"),
        "passing": (
            None,
            "nearest value, run by every replicate, on the side of the answer that meets the objectives",
        ),
        "failing": (
            None,
            "nearest value, run by every replicate, on the side of the answer that misses an objective",
        ),
        "failing_verdict": (
            None,
            "what all replicates show at failing: misses, undecided, not_stationary or not_measured",
        ),
        "answers": (None, "answer of each replicate"),
        "censored": (
            None,
            "at_least, below or above: the answer is only a bound; more_expensive: other points are cheaper",
        ),
        "price": ("currency", "price at the answer"),
        "monotone": (
            None,
            "false if a run met the objectives well above the answer, or missed them well below it",
        ),
        "binding": (None, "objective that is missed just above the answer (binding objective)"),
        "limiting": (None, "limiting resource: just above the answer of a seek, otherwise at the point"),
        "interval_met": (None, "whether the interval has the width that the study asks for"),
        "undecided": ("count", "replicates excluded because a run near the answer gave no verdict"),
        "failed": ("count", "replicates excluded because a run failed"),
        "published": (None, "published value of the answer"),
        "published_figure": (None, "figure that the published value is from"),
        "published_source": (None, "place of the figure in the publication"),
        "step": ("count", "number of the transition in its run, from 1"),
        "at_s": ("s", "time from the start of the run"),
        "event": (None, "name of the transition"),
        "subject": (None, "array, or disk as array/index; empty for the controller"),
        "value": (None, "battery charge or rebuild progress as a fraction, or dirty data in bytes"),
        "figure": (None, "name of the published figure"),
        "source": (None, "place of the figure in the publication"),
        "kind": (None, "how the figure is compared"),
        "published_value": (None, "published value as a number"),
        "unit": (None, "unit"),
        "simulated": (None, "simulated value, mean over replicates"),
        "simulated_low": (None, "lower end of its 95 % interval, or of its range"),
        "simulated_high": (None, "upper end of its 95 % interval, or of its range"),
        "is_range": (None, "whether the simulated value is a range over points rather than an interval"),
        "predicted_low": (None, "lower end of the 95 % prediction interval"),
        "predicted_high": (None, "upper end of the 95 % prediction interval"),
        "predicted_width": (None, "upper end of the prediction interval divided by the lower end"),
        "replicates": ("count", "replicates that the simulated value is from"),
        "error_fraction": ("fraction", "simulated value divided by published value, minus 1"),
        "class": (None, "class of the comparison, such as reproduced blind or not reproduced"),
        "why": (None, "reason for the class"),
        "follows_from": (None, "figures that this one is computed from, so that it is not counted again"),
        "headline": (None, "what the comparison rests on, if the figure is a headline of its document"),
        "note": (None, "remark of the study"),
        "place": ("count", "place in the study, from 0"),
        "name": (None, "name in SQL"),
        "path": (None, "dotted path in the study"),
        "meaning": (None, "what it is"),
        "prov_engine_s": ("s", "elapsed time of the run in the engine"),
        "prov_host": (None, "machine that executed the run"),
        "prov_attempt": ("count", "earlier attempts to execute the run"),
        "prov_time": (None, "time at which the run was stored"),
    }
)
"""Columns that are neither axes, nor results, nor those of a named query."""


_UNIT_OF = re.compile(r"unit of (\S+)(.*)")
_ENDS = {"low": "lower", "high": "upper"}


def collect_meanings(axes: pa.Table, answer: str, sought: str | None) -> dict[str, Meaning]:
    """Return the unit and meaning of each column of a sweep's relations.

    Args:
        sought: The dotted path of the parameter that the study seeks, if any.
    """
    meanings: dict[str, Meaning] = dict(FIXED)
    meanings |= {column.name: (column.unit, column.meaning) for column in engine.columns()}
    value = "value" if sought is None else sought
    meanings[answer] = (None, f"{value} at which the first objective reaches its bound, mean over replicates")
    meanings[f"{answer}_half_width"] = (None, f"half of the width of the 95 % interval of {answer}")
    return meanings | {row["name"]: (row["unit"], row["meaning"] or row["path"]) for row in axes.to_pylist()}


def explain_columns(described: pa.Table, meanings: Mapping[str, Meaning]) -> pa.Table:
    """Return the rows of a DESCRIBE with the unit and the meaning of each column."""
    explained = [find_meaning(name, meanings) for name in described["column_name"].to_pylist()]
    rows = described.select(["column_name", "column_type"])
    for place, heading in enumerate(("unit", "meaning")):
        rows = rows.append_column(heading, pa.array([of[place] for of in explained], pa.string()))
    return rows


def find_units(query: NamedQuery, units: Mapping[str, str]) -> dict[str, str]:
    """Return the base unit of each column of a named query that has that of an axis."""
    matches = {column.name: _UNIT_OF.fullmatch(column.unit or "") for column in query.columns}
    return {name: units[of[1]] for name, of in matches.items() if of is not None and of[1] in units}


def find_meaning(name: str, meanings: Mapping[str, Meaning]) -> tuple[str | None, str | None]:
    """Return the unit and meaning of a column; the end of an interval has those of its middle."""
    if name not in meanings:
        base, _, end = name.rpartition("_")
        if end not in _ENDS or base not in meanings:
            return None, None
        unit, _ = find_meaning(base, meanings)
        return unit, f"{_ENDS[end]} end of the 95 % interval of {base}"
    unit, meaning = meanings[name]
    of = _UNIT_OF.fullmatch(unit or "")
    if of is not None:
        unit = find_meaning(of[1], meanings)[0]
        unit = f"{unit}{of[2]}" if unit else of[2].strip() or None
    return unit, meaning
