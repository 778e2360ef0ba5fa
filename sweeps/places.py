"""What the published figures of a study speak of, checked against its points before anything runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from destage import engine, sql
from destage.errors import ConfigError, Issue, QueryError
from destage.spec.validation import suggest
from destage.store.places import LABEL, points_at
from destage.store.published_figures import read_answers, read_figures


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
    axes = [field.name for field in fields]
    issues = list(_stranger_mistakes(document, axes))
    issues += _matching_mistakes(document, points, scenario)
    if not issues:
        issues += _binding_mistakes(document, fields, sought)
    if issues:
        raise ConfigError(f"{document['name']}: mistakes in the published figures", tuple(issues))


def _stranger_mistakes(document: Mapping[str, Any], axes: Sequence[str]) -> Iterator[Issue]:
    """Yield the paths of places that are no axes of the study."""
    named = {f"places.{name}": place for name, place in document.get("places", {}).items()}
    named |= {f"{at}.at": quantity["at"] for at, quantity in _quantities(document) if "at" in quantity}
    for where, place in named.items():
        for path in place:
            if path != LABEL and path not in axes:
                yield Issue(f"{where}.{path}", path, f"is no axis of this study{suggest(path, axes)}")


def _matching_mistakes(
    document: Mapping[str, Any], points: Sequence[Mapping[str, object]], scenario: Mapping[str, object]
) -> Iterator[Issue]:
    """Yield the places that name no point, or more than their figure takes."""
    places = document.get("places", {})
    for name, place in places.items():
        if not points_at(points, scenario, place):
            yield Issue(f"places.{name}", place, "names no point of this study")
    by_id = {point["point_id"]: point for point in points}
    for at, quantity in _quantities(document):
        for_each = quantity.get("for_each", [])
        for name in sql.qualifiers(quantity["compute"], places):
            found = points_at(points, scenario, places[name], quantity.get("at", {}))
            combinations = {tuple(by_id[point].get(axis) for axis in for_each) for point in found}
            if not found:
                yield Issue(f"{at}.at", quantity.get("at"), f"leaves the place {name} no point")
            elif len(combinations) < len(found):
                message = f"the place {name} names {len(found)} points: for_each must say over which axes"
                yield Issue(f"{at}.compute", quantity["compute"], message)


def _binding_mistakes(
    document: Mapping[str, Any], fields: Sequence[pa.Field], sought: str | None
) -> Iterator[Issue]:
    """Yield the expressions that do not fit the columns there will be."""
    places = document.get("places", {})
    answer = [] if sought is None else [pa.field(sought, pa.int64())]
    columns = pa.schema([pa.field("replicate", pa.int64()), *fields, *answer, *engine.results_schema()])
    with sql.Database(dict.fromkeys(places, columns.empty_table())) as database:
        for at, quantity in _quantities(document):
            text = quantity["compute"]
            tables = {name: sql.quote(name) for name in sql.qualifiers(text, places)}
            try:
                database.query(sql.joined_statement(text, tables, quantity.get("for_each", [])))
            except QueryError as error:
                yield Issue(f"{at}.compute", text, str(error))


def _quantities(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what figures and answers compute, and where the study says it."""
    for at, figure in enumerate(document.get("published", [])):
        if "compute" in figure:
            yield f"published.{at}", figure
    for at, sentence in enumerate(document.get("answer", [])):
        for quantity in expressions(sentence):
            yield f"answer.{at}", quantity
