"""What a sweep studies: its axes, its kind, what answers it, and the named queries written for it.

The result columns that a study asks for come first in relations of hundreds of columns.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from destage.engine import configuration, results_schema
from destage.queries.named.column_meanings import find_units
from destage.queries.named.named_queries import NamedQuery, find_query, list_fitting, parse_query
from destage.queries.named.query_text import Subject, write_query
from destage.queries.named.study_kinds import find_kind
from destage.queries.tables.point_table import name_columns
from destage.queries.tables.stored_analyses import list_analysis_queries, read_analyses
from destage.queries.tables.views import list_measured_columns
from destage.sql import quote
from destage.store import Sweep


class StudiedSweep:
    """What is known of a sweep without its rows.

    Attributes:
        spec: The study as it was run.
        axes: The dotted paths of the axes, in the study's order.
        seek: The dotted path of the parameter that the study seeks, if any.
        metric: The name of its answers: `users_supported` where the most `workload.users` are sought.
        config: The canonical configuration of the first planned run; empty without a plan.
        probed: The sought parameter, whose values are columns beside the axes; empty if nothing is sought.
        names: The name in SQL of each axis and of the sought parameter, by dotted path.
    """

    def __init__(self, sweep: Sweep) -> None:
        """Read the study of a sweep."""
        self.sweep = sweep
        self.spec = sweep.spec()
        self.axes = sweep.axes
        self.seek = sweep.seek
        self.metric = sweep.answer
        self.config: dict[str, Any] = sweep.configuration()
        self.kind = find_kind(self.metric, self.config)
        self.probed = sweep.probed
        self.names = name_columns(self.axes, self.probed)

    def write_query(self, name: str, parameters: Mapping[str, str] | None = None) -> str:
        """Return the SQL of a named query for this sweep; errors as in `query`."""
        subject = Subject(
            {path: name for path, name in self.names.items() if path in self.axes},
            results_schema().names,
            self.result,
            self.answer,
            self.config,
        )
        query = self._stored.get(name) or find_query(name, self.kind)
        return write_query(query, parameters or {}, subject)

    def find_units(self, name: str, parameters: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the base unit of each column of a named query that has that of an axis."""
        return self.units | find_units(self.parse(name, self.write_query(name, parameters)), self.units)

    @property
    def probe(self) -> str:
        """The value of the sought parameter as SQL over the plan or `points`."""
        return "".join(map(quote, self.probed)) or "NULL"

    @property
    def has_published(self) -> bool:
        """Whether the study has published figures."""
        return bool(self.spec.get("published"))

    @cached_property
    def analyses(self) -> dict[str, pa.Table]:
        """The tables of the study's analyses by name, none until the sweep has finished."""
        return read_analyses(self.sweep, self.spec) if self.sweep.has_analyses else {}

    @cached_property
    def _stored(self) -> dict[str, NamedQuery]:
        return list_analysis_queries(self.analyses, self.names) if self.analyses else {}

    @property
    def queries(self) -> dict[str, NamedQuery]:
        """The named queries for the sweep: those for its kind of study, and its analysis tables."""
        return list_fitting(self.kind) | self._stored

    def parse(self, name: str, text: str) -> NamedQuery:
        """Return a named query whose parameters are filled in, from its text."""
        return self._stored.get(name) or parse_query(text)

    def name_paths(self, statement: str) -> str:
        """Return one of Destage's own statements as a user writes it, with the names of axes in SQL."""
        for path, name in self.names.items():
            statement = statement.replace(quote(path), name)
        return statement

    def name_columns(self, table: pa.Table) -> pa.Table:
        """Return a table with the names of axes in SQL in place of their dotted paths."""
        return table.rename_columns([self.names.get(name, name) for name in table.column_names])

    @property
    def answer(self) -> str:
        """The name of the answers in SQL, also where there are none."""
        return self.metric or "answer"

    @property
    def result(self) -> str:
        """The column that answers the study."""
        return self.kind.name_result(self.metric)

    @cached_property
    def units(self) -> dict[str, str]:
        """The base unit of each axis that has one, by dotted path and by its name in SQL."""
        unit_by_path = {path: configuration.find_unit(path, self.config) for path in self.axes}
        units = {path: unit for path, unit in unit_by_path.items() if unit is not None}
        return units | {self.names[path]: unit for path, unit in units.items()}


WIDE = ("points", "certified", "replicates", "runs")
"""The relations with all result columns."""
_OBJECTIVES = ("seek", "search", "refine", "sensitivity")
"""The keys of a study whose texts name results, perhaps without the unit: `response_p95 <= 30ms`."""
_BRACED = re.compile(r"\{([^{}]*)\}")
_UNITS = ("us", "s", "bytes", "byte_s", "bytes_per_s", "per_s", "iops", "fraction", "ratio", "percent")
_WORD = re.compile(r"[a-z]\w*")
_COUNTS = (
    *("replicate", "status", "n", "n_not_stationary", "n_overloaded", "n_array_failed", "n_failed"),
    "n_missing",
)
"""Columns that say whether a result can be used."""


def list_asked(study: StudiedSweep) -> tuple[str, ...]:
    """Return the columns that come first, by their names in the plan and the rows.

    They are labels, axes and the sought value, then the results of objectives, charts, answers and published
    figures, then those of the query `design_space`, then the counts of runs.
    """
    measured = list_measured_columns()
    bare = {column.removesuffix(f"_{unit}"): column for unit in _UNITS for column in measured}
    objectives = " ".join(text for key in _OBJECTIVES for text in _list_texts(study.spec.get(key)))
    expressions = " ".join([*_list_expressions(study.spec), study.write_query("design_space")])
    words = [bare.get(word, word) for word in _WORD.findall(objectives)] + _WORD.findall(expressions)
    results = [word for word in words if word in set(measured)]
    axes = [path for path in study.names if path in study.axes or path == study.seek]
    answer = [] if study.metric is None else [study.metric]
    return tuple(dict.fromkeys(["label", *axes, *answer, study.result, *results, *_COUNTS]))


def order_columns(columns: Sequence[str], asked: Iterable[str]) -> tuple[list[str], int]:
    """Return columns with those asked for first, each with the ends of its interval, and their number."""
    ends = dict.fromkeys(name for base in asked for name in (base, f"{base}_low", f"{base}_high"))
    present = set(columns)
    first = [name for name in ends if name in present]
    return [*first, *(name for name in columns if name not in ends)], len(first)


def _list_expressions(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield what charts draw, and the expressions of answers and published figures."""
    for chart in spec.get("charts", ()):
        yield from (chart[key] for key in ("y", "x", "by") if isinstance(chart.get(key), str))
    yield from _BRACED.findall(" ".join(_list_texts(spec.get("answer"))))
    yield from (figure["compute"] for figure in spec.get("published", ()) if "compute" in figure)


def _list_texts(value: Any) -> Iterator[str]:
    """Yield the texts within a part of a study; names of axes, which are keys, left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _list_texts(part)
    elif isinstance(value, Sequence):
        for part in value:
            yield from _list_texts(part)
