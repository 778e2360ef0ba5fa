"""Figures that others have published, as a study states them: the mistakes that no schema can tell.

A figure says what was printed and where, how the sweep's rows give the same quantity (`compute`, an SQL
expression over `places`), and by which rule the two are judged (`kind`). docs/published-experiments.md shows
what comes of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from destage import engine
from destage.engine.validation import nearest
from destage.errors import ConfigError, Issue, QueryError
from destage.store.places import LABEL, points_at


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
        Issue(f"fitted.{at}.on", name, f"is no published figure of this study{nearest(name, names)}")
        for at, name in enumerate(fitted)
        if name not in names
    ]
    issues += [
        Issue(f"places.{name}", name, "is no text as YAML reads it: choose another name")
        for name in document.get("places", {})
        if not isinstance(name, str)
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


def check_places(
    document: Mapping[str, Any],
    points: Sequence[Mapping[str, object]],
    fields: Sequence[pa.Field],
    scenario: Mapping[str, object],
    sought: str | None,
) -> None:
    """Check, before anything runs, that each figure's expression binds and speaks of points there are.

    Args:
        document: The study.
        points: Its points: `point_id`, `label` and the axis columns [base units].
        fields: The axis columns.
        scenario: A resolved configuration.
        sought: What the answers are called, where the study seeks something.

    Raises:
        ConfigError: Some place or expression does not fit; all mistakes are in its issues.
    """
    places = document.get("places", {})
    figures = [(at, figure) for at, figure in enumerate(document.get("published", [])) if "compute" in figure]
    axes = [field.name for field in fields]
    issues: list[Issue] = []
    counts = {}
    for name, named in places.items():
        strangers = [path for path in named if path != LABEL and path not in axes]
        issues += [
            Issue(f"places.{name}.{path}", path, f"is no axis of this study{nearest(path, axes)}")
            for path in strangers
        ]
        counts[name] = len(points_at(named, points, scenario))
        if not counts[name] and not strangers:
            issues.append(Issue(f"places.{name}", named, "names no point of this study"))
    if figures and not issues:
        issues += _binding_mistakes(figures, counts, fields, sought)
    if issues:
        raise ConfigError(f"{document['name']}: mistakes in the published figures", tuple(issues))


def _binding_mistakes(
    figures: Sequence[tuple[int, Mapping[str, Any]]],
    counts: Mapping[str, int],
    fields: Sequence[pa.Field],
    sought: str | None,
) -> Iterator[Issue]:
    # It loads duckdb, which a study without figures can do without.
    from destage import sql  # noqa: PLC0415

    answer = [] if sought is None else [pa.field(sought, pa.int64())]
    columns = pa.schema([pa.field("replicate", pa.int64()), *fields, *answer, *engine.results_schema()])
    with sql.Database(dict.fromkeys(counts, columns.empty_table())) as database:
        for at, figure in figures:
            text = figure["compute"]
            used = sql.qualifiers(text, counts)
            for_each = figure.get("for_each", [])
            try:
                database.query(sql.joined_statement(text, {name: sql.quote(name) for name in used}, for_each))
            except QueryError as error:
                yield Issue(f"published.{at}.compute", text, str(error))
                continue
            if not for_each:
                yield from (
                    Issue(
                        f"published.{at}.compute",
                        text,
                        f"the place {name} names {counts[name]} points: for_each must say over which axes",
                    )
                    for name in used
                    if counts[name] > 1
                )
