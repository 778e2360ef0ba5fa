"""The result columns that a study asks for, which come first in relations of hundreds of columns."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from destage.queries.opening.studied_sweep import StudiedSweep
from destage.queries.tables.views import list_measured_columns

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


def order_columns(columns: Sequence[str], asked: Iterable[str]) -> list[str]:
    """Return columns with those asked for first, each followed by the ends of its interval."""
    known = set(columns)
    ends = (name for base in asked for name in (base, f"{base}_low", f"{base}_high"))
    first = [name for name in ends if name in known]
    return [*first, *(name for name in columns if name not in set(first))]


def count_asked(columns: Sequence[str], asked: Iterable[str]) -> int:
    """Return how many of the columns that `order_columns` returns are asked for."""
    known = set(columns)
    return sum(name in known for base in asked for name in (base, f"{base}_low", f"{base}_high"))


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
        for each in value.values():
            yield from _list_texts(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _list_texts(each)
