"""The simulated value of a published figure with its interval, from its parts in a sweep's rows.

An expression is evaluated within each replicate, whose points share their random streams, and the t-interval
is taken over replicates: what the points have in common cancels in a ratio or a difference. Some figures
follow from others of their study: ratios of them, and those printed twice. Others are of one point each, to
which they are joined.
"""

import ast
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from types import MappingProxyType
from typing import Any, Protocol

import pyarrow as pa

from destage.queries.tables.point_table import PointTable
from destage.sql import find_qualifiers, join_statement, quote_text
from destage.store.schemas.published_figures import PublishedFigure, Quantity, read_figures
from destage.student import half_width

_TERM = re.compile(r'(?<![\w."])"?(\w+)"?\s*\.\s*"?([A-Za-z_]\w*)"?')
_OPERATORS: Mapping[type[ast.AST], Callable[[float, float], float]] = MappingProxyType(
    {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
)
_CLOSE = 0.05
"""How far, as a fraction, what the parts give may be from the figure that the paper computed from them."""
_MOST_TRIED = 200
_ROUNDING = 1e-9
Term = tuple[str, str]
"""The points of a place and its common values, as text, and a column."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The other figures that a figure is computed from.

    Attributes:
        names: One for each column of a place that it uses and that is published.
        is_complete: Whether the figure follows from them.
        is_repeated: Whether the only part is the same figure, printed earlier.
    """

    names: tuple[str, ...]
    is_complete: bool
    is_repeated: bool = False


def find_parts(figures: Sequence[PublishedFigure]) -> Mapping[str, Parts]:
    """Return the parts of each figure that has some, by its name.

    The parts of a figure of several columns are figures of one column each whose published values give
    the figure's own. A figure that is computed as an earlier one, and is the same number as far as both are
    printed, repeats it.
    """
    alone: dict[Term, list[PublishedFigure]] = {}
    for figure in figures:
        terms = _list_terms(figure.quantity)
        if len(terms) == 1:
            alone.setdefault(terms[0], []).append(figure)
    parts: dict[str, Parts] = {}
    first: dict[str, PublishedFigure] = {}
    for figure in figures:
        terms = _list_terms(figure.quantity)
        if figure.quantity is None or not terms:
            continue
        if len(terms) > 1 and (given := _choose(figure, [alone.get(term, []) for term in terms])) is not None:
            parts[figure.name] = given
        earlier = first.setdefault(_write(figure.quantity, terms), figure)
        is_known = figure.name in parts and parts[figure.name].is_complete
        if earlier is not figure and not is_known and _are_equal(earlier, figure):
            parts[figure.name] = Parts((earlier.name,), is_complete=True, is_repeated=True)
    return parts


def _choose(figure: PublishedFigure, candidates: Sequence[Sequence[PublishedFigure]]) -> Parts | None:
    """Return the figures, one for each column, that give a figure; None if it has no parts.

    Where the values do not tell, only figures that are alone on their column are parts.
    """
    if all(candidates) and not isinstance(figure.value, str):
        distances = []
        for chosen in islice(product(*candidates), _MOST_TRIED):
            values = [value for part in chosen if (value := _read_column(part)) is not None]
            # None where it is not arithmetic.
            given = _substitute(figure.quantity, values) if len(values) == len(chosen) else None
            if given is not None:
                distances.append((abs(given - figure.value), chosen))
        if distances:
            distance, best = min(distances, key=lambda pair: pair[0])
            is_given = distance <= _CLOSE * abs(figure.value) + figure.rounding
            return Parts(tuple(part.name for part in best), is_complete=True) if is_given else None
    names = tuple(figures[0].name for figures in candidates if len(figures) == 1)
    return Parts(names, is_complete=len(names) == len(candidates)) if names else None


def _read_column(part: PublishedFigure) -> float | None:
    """Return the value of the column that a published figure states; None if it is not linear in it."""
    results = [_substitute(part.quantity, [float(value)]) for value in range(3)]
    if isinstance(part.value, str) or results[0] is None or results[1] is None or results[2] is None:
        return None
    slope = results[1] - results[0]
    is_linear = slope != 0 and abs(results[2] - results[1] - slope) <= _ROUNDING * abs(slope)
    return (part.value - results[0]) / slope if is_linear else None


def _substitute(quantity: Quantity | None, values: Sequence[float]) -> float | None:
    """Return a quantity with values for its columns; None where that is not arithmetic."""
    assert quantity is not None  # noqa: S101 - it has columns
    by_term = dict(zip(_list_terms(quantity), values, strict=True))
    places = quantity.places
    text = _TERM.sub(
        lambda match: (
            f"({by_term[_describe(quantity, match[1]), match[2]]!r})" if match[1] in places else match[0]
        ),
        quantity.expression,
    )
    try:
        return _evaluate(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _evaluate(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.left), _evaluate(node.right))
    raise ValueError(ast.dump(node))


def _are_equal(one: PublishedFigure, other: PublishedFigure) -> bool:
    """Return whether two figures are the same as far as they are printed."""
    if isinstance(one.value, str) or isinstance(other.value, str):
        return one.value == other.value
    return abs(one.value - other.value) <= one.rounding + other.rounding


def _list_terms(quantity: Quantity | None) -> list[Term]:
    """Return the columns of places that a quantity is computed from, each once, in order."""
    if quantity is None:
        return []
    terms = [
        (_describe(quantity, place), column)
        for place, column in _TERM.findall(quantity.expression)
        if place in quantity.places
    ]
    return list(dict.fromkeys(terms))


def _describe(quantity: Quantity, place: str) -> str:
    """Return what a place of a quantity selects, whatever the place is called."""
    return json.dumps([dict(quantity.places[place]) | dict(quantity.at), quantity.for_each], sort_keys=True)


def _write(quantity: Quantity, terms: Sequence[Term]) -> str:
    """Return a text that is equal for equal quantities."""
    shape = _TERM.sub(lambda match: f"?.{match[2]}", quantity.expression)
    return json.dumps(["".join(shape.split()), list(terms)])


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured quantity.

    Attributes:
        mean: Its mean over replicates; of a range, the mean of its ends.
        low: The lower end of its 95 % t-interval, or of the range; None for a single replicate.
        count: The number of replicates; 1 for plain arithmetic.
        predicted: The ends of the 95 % prediction interval of one more replicate, over all combinations of
            axes; the mean twice for a single replicate.
        is_range: Whether it is a range over combinations of axes rather than an interval.
    """

    mean: float
    low: float | None
    high: float | None
    count: int
    predicted: tuple[float, float]
    is_range: bool = False


class SweepRows(Protocol):
    """The rows of an open sweep, which figures are measured from."""

    spec: dict[str, Any]

    @property
    def points(self) -> PointTable:
        """The planned points."""

    def sql(self, statement: str) -> pa.Table:
        """Run a SELECT over the views of the sweep."""


def measure(session: SweepRows, quantity: Quantity | None) -> Measurement | None:
    """Measure a quantity; return None where there is none, or where rows that it needs are missing."""
    if quantity is None:
        return None
    rows = session.sql(write_statement(session, quantity)).to_pylist()
    if not rows or any(row["value"] is None or not math.isfinite(row["value"]) for row in rows):
        return None
    # The values of all replicates, a list for each combination of the axes.
    groups: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in quantity.for_each), []).append(row["value"])
    values = list(groups.values())
    means = [math.fsum(group) / len(group) for group in values]
    count = min(map(len, values))
    # A published figure is one measurement, which varies as much as one more replicate would.
    spreads = [half_width(group) * math.sqrt(len(group) + 1) for group in values]
    predicted = min(map(operator.sub, means, spreads)), max(map(operator.add, means, spreads))
    if quantity.for_each:
        low, high = min(means), max(means)
        return Measurement((low + high) / 2, low, high, count, predicted, is_range=True)
    if count == 1:
        return Measurement(means[0], None, None, count, predicted)
    spread = half_width(values[0])
    return Measurement(means[0], means[0] - spread, means[0] + spread, count, predicted)


def write_statement(session: SweepRows, quantity: Quantity) -> str:
    """Return the SQL statement of a quantity in each replicate."""
    tables = {}
    for name in find_qualifiers(quantity.expression, quantity.places):
        ids = ", ".join(map(quote_text, session.points.find(quantity.places[name], quantity.at))) or "NULL"
        tables[name] = f"(SELECT * FROM replicates WHERE point_id IN ({ids}))"  # noqa: S608 - digests of the plan
    return join_statement(quantity.expression, tables, quantity.for_each)


PUBLISHED_SCHEMA = pa.schema(
    [
        pa.field("point_id", pa.string()),
        pa.field("metric", pa.string()),
        pa.field("value", pa.float64()),
        pa.field("figure", pa.string()),
        pa.field("source", pa.string()),
    ]
)

_ONE_COLUMN = re.compile(
    r"""\s*"?(\w+)"?\s*\.\s*"?(\w+)"?\s*(?:([*/])\s*([\d.]+(?:e[+-]?\d+)?))?\s*""", re.IGNORECASE
)
"""A column of one place as an expression, perhaps times or over a number for its unit."""


def tabulate_published(study: Mapping[str, Any], metric: str | None, points: PointTable) -> pa.Table:
    """Return a row for each point whose answer was published; of several figures the first.

    Args:
        metric: The name of its answers, if it seeks something.
        points: The sweep's points.
    """
    rows: dict[str, dict[str, object]] = {}
    for figure, value, point_id in [] if metric is None else _figures_at(study, metric, points):
        row = {"metric": metric, "value": value, "figure": figure.name, "source": figure.source}
        rows.setdefault(point_id, {"point_id": point_id, **row})
    return pa.Table.from_pylist(list(rows.values()), PUBLISHED_SCHEMA)


def find_published_values(
    study: Mapping[str, Any], column: str, points: PointTable
) -> dict[str, list[float]]:
    """Return the numbers published for a result column or the sought value [base unit], by point id."""
    by_point: dict[str, list[float]] = {}
    for _, value, point_id in _figures_at(study, column, points):
        by_point.setdefault(point_id, []).append(value)
    return by_point


def _figures_at(
    study: Mapping[str, Any], column: str, points: PointTable
) -> Iterator[tuple[PublishedFigure, float, str]]:
    """Yield each figure that is a column of one place, with its value [the column's unit] and its points."""
    for figure in read_figures(study):
        quantity, value = figure.quantity, figure.value
        if quantity is None or quantity.for_each or isinstance(value, str):
            continue
        match = _ONE_COLUMN.fullmatch(quantity.expression)
        if match is None or match[2] != column or match[1] not in quantity.places:
            continue
        factor = float(match[4] or 1)
        base = float(value) * factor if match[3] == "/" else float(value) / factor
        for point_id in points.find(quantity.places[match[1]], quantity.at):
            yield figure, base, point_id
