"""Checks of published figures and answer sentences that a schema cannot express, before anything runs."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from destage import engine, sql
from destage.errors import ConfigError, Issue, QueryError
from destage.spec.near_names import suggest
from destage.store.schemas.figure_places import LABEL, find_points
from destage.store.schemas.published_figures import Publication, Quantity


def find_figure_mistakes(publication: Publication) -> Iterator[Issue]:
    """Yield mistakes between the figures of a study that fits its schema."""
    names = [figure.name for figure in publication.figures]
    fitted = publication.fitted_figures
    for index, name in enumerate(fitted):
        if names and name not in names:
            message = f"not a published figure of this study{suggest(name, names)}"
            yield Issue("study.unknown-name", f"fitted.{index}.on", message, name)
    for index, figure in enumerate(publication.figures):
        place = f"published.{index}"
        if figure.name in names[:index]:
            message = "an earlier figure has this name"
            yield Issue("study.duplicate-name", f"{place}.figure", message, figure.name)
        if figure.kind == "inconsistent" and figure.compute is None and figure.note is None:
            message = "required without compute: state the contradiction"
            yield Issue("study.missing-note", f"{place}.note", message)
        is_in_words = figure.kind in {"property", "arithmetic"} and isinstance(figure.value, str)
        if is_in_words and figure.expect is None:
            yield Issue("study.missing-key", f"{place}.expect", "required where the value is words")
        for given in figure.given:
            if given not in fitted:
                message = f"nothing was fitted on a figure of this name{suggest(given, fitted)}"
                yield Issue("study.unknown-name", f"{place}.given", message, given)


def check_places(
    publication: Publication,
    points: Sequence[Mapping[str, object]],
    fields: Sequence[pa.Field],
    scenario: Mapping[str, object],
    metric: str | None,
) -> None:
    """Check that each place names points, and that each expression binds to the columns there will be.

    Args:
        points: Its points: `point_id`, `label` and the axis columns [base units].
        metric: What the answers are called, if the study seeks something.
    """
    quantities = list(_quantities(publication))
    axes = [field.name for field in fields]
    issues = list(_find_unknown_axes(publication, quantities, axes))
    issues += _find_unmatched_places(publication, quantities, points, scenario)
    if not issues:
        issues += _find_unbound_expressions(publication, quantities, fields, metric)
    if issues:
        raise ConfigError(issues)


def _quantities(publication: Publication) -> Iterator[tuple[str, Quantity]]:
    """Yield what figures and answers compute, and its place in the study."""
    for index, figure in enumerate(publication.figures):
        if figure.quantity is not None:
            yield f"published.{index}", figure.quantity
    for index, sentence in enumerate(publication.sentences):
        for quantity in sentence.quantities:
            yield f"answer.{index}", quantity


def _find_unknown_axes(
    publication: Publication, quantities: Sequence[tuple[str, Quantity]], axes: Sequence[str]
) -> Iterator[Issue]:
    named = {f"places.{name}": assignments for name, assignments in publication.places.items()}
    named |= {f"{place}.at": quantity.at for place, quantity in quantities}
    for place, assignments in named.items():
        for path, value in assignments.items():
            if path != LABEL and path not in axes:
                message = f"not an axis of this study{suggest(path, axes)}"
                yield Issue("study.unknown-key", f"{place}.{path}", message, value)


def _find_unmatched_places(
    publication: Publication,
    quantities: Sequence[tuple[str, Quantity]],
    points: Sequence[Mapping[str, object]],
    scenario: Mapping[str, object],
) -> Iterator[Issue]:
    """Yield places that match no point, or more points than a quantity can use."""
    for name, assignments in publication.places.items():
        if not find_points(points, scenario, assignments):
            message = "no point of this study matches"
            yield Issue("study.no-matching-point", f"places.{name}", message, assignments)
    by_id = {point["point_id"]: point for point in points}
    for place, quantity in quantities:
        for name in sql.find_qualifiers(quantity.expression, quantity.places):
            matches = find_points(points, scenario, quantity.places[name], quantity.at)
            combinations = {tuple(by_id[point].get(axis) for axis in quantity.for_each) for point in matches}
            if not matches:
                message = f"no point of the place {name!r} matches"
                yield Issue("study.no-matching-point", f"{place}.at", message, quantity.at)
            elif len(combinations) < len(matches):
                message = f"the place {name!r} matches {len(matches)} points: add the axes to for_each"
                yield Issue("study.ambiguous-place", f"{place}.compute", message, quantity.expression)


def _find_unbound_expressions(
    publication: Publication,
    quantities: Sequence[tuple[str, Quantity]],
    fields: Sequence[pa.Field],
    metric: str | None,
) -> Iterator[Issue]:
    answer = [] if metric is None else [pa.field(metric, pa.int64())]
    columns = pa.schema(
        [
            pa.field("replicate", pa.int64()),
            pa.field("label", pa.string()),
            *fields,
            *answer,
            *engine.results_schema(),
        ]
    )
    with sql.Database(dict.fromkeys(publication.places, columns.empty_table())) as database:
        for place, quantity in quantities:
            text = quantity.expression
            tables = {name: sql.quote(name) for name in sql.find_qualifiers(text, quantity.places)}
            try:
                database.query(sql.join_statement(text, tables, quantity.for_each))
            except QueryError as error:
                yield Issue("study.bad-sql", f"{place}.compute", error.message, text)
