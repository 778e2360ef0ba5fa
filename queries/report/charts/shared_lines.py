"""Merging of lines with equal values, because one would hide the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from destage.queries.report.drawing.chart import Series

_JOINED = {"line", "reference"}
_NAMED = 2
"""Panels above which they are counted rather than named."""
_MOST_REMARKS = 3


@dataclass(frozen=True, slots=True)
class Plots:
    """The series of each panel and of the strip below it.

    Attributes:
        panels: The title of each panel, its series, and those of its strip.
        remarks: Which lines stand for several, in sentences.
    """

    panels: tuple[tuple[str, tuple[Series, ...], tuple[Series, ...]], ...]
    remarks: tuple[str, ...] = ()


def share_lines(plots: Plots) -> Plots:
    """Return plots in which equal lines are one, with all names in the legend if they are always equal."""
    renamed: dict[str, str] = {}
    for names in _find_equal([[*above, *below] for _, above, below in plots.panels]):
        renamed |= dict.fromkeys(names, join_names(names))
    remarks = [
        f"One line is drawn for {name}, whose results are equal." for name in dict.fromkeys(renamed.values())
    ]
    equal: dict[str, list[str]] = {}
    panels = []
    for title, *both in plots.panels:
        rows = [_rename(series, renamed) for series in both]
        hidden: set[str] = set()
        for names in _find_equal([[*rows[0], *rows[1]]]):
            hidden.update(names[1:])
            equal.setdefault(join_names(names), []).append(title)
        above, below = (tuple(series for series in row if series.name not in hidden) for row in rows)
        panels.append((title, above, below))
    if len(equal) > _MOST_REMARKS:
        count = len({title for titles in equal.values() for title in titles})
        remarks.append(f"Equal lines are drawn as one in {count} of {len(panels)} panels.")
    else:
        for name, titles in equal.items():
            named = "; ".join(titles) if len(titles) <= _NAMED else f"{len(titles)} of {len(panels)} panels"
            remarks.append(f"One line is drawn for {name} in {named}, whose results are equal there.")
    return Plots(tuple(panels), (*plots.remarks, *remarks))


def join_names(names: Sequence[str]) -> str:
    """Return one name for several, with what they have in common once: `write fraction 0.5 and 1`."""
    parts = [name.split(", ") for name in names]
    if len({len(one) for one in parts}) == 1:
        columns = list(zip(*parts, strict=True))
        differing = [at for at, column in enumerate(columns) if len(set(column)) > 1]
        if len(differing) == 1:
            joined = [column[0] for column in columns]
            joined[differing[0]] = _list_values(columns[differing[0]])
            return ", ".join(joined)
    return _list_values(names)


def _list_values(names: Sequence[str]) -> str:
    words = [name.split() for name in names]
    common = 0
    while all(len(one) > common + 1 and one[common] == words[0][common] for one in words):
        common += 1
    *first, last = (" ".join(one[common:]) for one in words)
    return " ".join([*words[0][:common], f"{', '.join(first)} and {last}"])


def _find_equal(panels: Sequence[Sequence[Series]]) -> list[list[str]]:
    """Return the names of lines whose marks are equal in all of some panels, in groups of several."""
    values: dict[str, list[Any]] = {}
    for at, every in enumerate(panels):
        for series in every:
            if series.style in _JOINED and series.marks:
                marks = tuple((mark.x, mark.y, mark.low, mark.high, mark.bound) for mark in series.marks)
                values.setdefault(series.name, []).append((at, series.style, marks))
    groups: dict[Any, list[str]] = {}
    for name, found in values.items():
        groups.setdefault(tuple(found), []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def _rename(every: Sequence[Series], renamed: dict[str, str]) -> list[Series]:
    first: dict[str, Series] = {}
    for series in every:
        name = renamed.get(series.name, series.name)
        marks = tuple(replace(mark, line=renamed.get(mark.line or "", mark.line)) for mark in series.marks)
        like = renamed.get(series.like, series.like)
        first.setdefault(name, Series(name, series.style, marks, like))
    return list(first.values())
