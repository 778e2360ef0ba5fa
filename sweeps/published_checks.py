"""Figures that others have published, as a study states them: the mistakes that no schema can tell.

A figure says what was printed and where, how the sweep's rows give the same quantity (`compute`, an SQL
expression over `places`), and by which rule the two are judged (`kind`). docs/published-experiments.md shows
what comes of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from destage.errors import Issue
from destage.spec.validation import suggest


def figure_name(figure: Mapping[str, Any]) -> str:
    """Return what a figure is called; one that only names a point is called by its metric and value.

    Args:
        figure: An entry of `published`.
    """
    return str(figure.get("figure") or f"{figure.get('metric')} {figure['value']}")


def figure_mistakes(document: Mapping[str, Any]) -> list[Issue]:
    """Return the mistakes in a study's published figures that its schema cannot tell.

    Args:
        document: A study that fits its schema.
    """
    figures = document.get("published", [])
    names = [figure_name(figure) for figure in figures]
    fitted = [entry["on"] for entry in document.get("fitted", [])]
    issues = [
        Issue(f"published.{at}.figure", name, "is the name of another figure too")
        for at, name in enumerate(names)
        if name in names[:at]
    ]
    issues += [
        Issue(f"fitted.{at}.on", name, f"is no published figure of this study{suggest(name, names)}")
        for at, name in enumerate(fitted)
        if name not in names
    ]
    for at, figure in enumerate(figures):
        issues += [
            Issue(f"published.{at}.{key}", figure.get(key), message)
            for key, message in _rule_mistakes(figure, fitted)
        ]
    return issues


def _rule_mistakes(figure: Mapping[str, Any], fitted: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the key and the message of each thing that a figure's kind does not allow."""
    yield from _computing_mistakes(figure)
    kind = figure["kind"]
    if "figure" not in figure and "point" not in figure:
        yield "figure", "is needed: a name"
    if (kind == "ordering") != ("expect" in figure):
        yield "expect", "is needed by an ordering, and by nothing else"
    if isinstance(figure["value"], str) and kind in {"exact", "predicted", "calibrated"}:
        yield "value", f"must be a number: the figure is {kind}"
    if "tolerance" in figure and kind not in {"predicted", "calibrated"}:
        yield "tolerance", "is for predicted and calibrated figures"
    for name in figure.get("given", []):
        if name not in fitted:
            yield "given", f"{name!r} is no figure that something was fitted on"


def _computing_mistakes(figure: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with how a figure's quantity is got from the rows."""
    kind = figure["kind"]
    if "compute" in figure and ("point" in figure or "metric" in figure):
        yield "compute", "says all; point and metric are its short form"
    if ("point" in figure) != ("metric" in figure):
        yield "point", "and metric go together"
    if "compute" not in figure and "point" not in figure:
        if kind not in {"inconsistent", "input"}:
            yield "compute", f"is needed: what is {kind} must be computed"
        elif kind == "inconsistent" and "note" not in figure:
            yield "note", "is needed: it says the contradiction where nothing is computed"
