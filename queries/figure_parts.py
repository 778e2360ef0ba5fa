"""Which published figures follow from others of their study: ratios of figures, and figures printed twice."""

import ast
import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from types import MappingProxyType

from destage.store.published_figures import PublishedFigure, Quantity

_TERM = re.compile(r'(?<![\w."])"?(\w+)"?\s*\.\s*"?([A-Za-z_]\w*)"?')
_SCALED = re.compile(r"[\s(]*TERM\s*(?:([*/])\s*([\d.]+(?:e[+-]?\d+)?))?[\s)]*", re.IGNORECASE)
_OPERATORS: Mapping[type[ast.AST], Callable[[float, float], float]] = MappingProxyType(
    {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
)
_CLOSE = 0.05
"""How far, as a fraction, what the parts give may be from the figure that the paper computed from them."""
_MOST_TRIED = 200
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
        if len(terms) > 1 and (found := _choose(figure, [alone.get(term, []) for term in terms])) is not None:
            parts[figure.name] = found
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
        best, least = None, _CLOSE * abs(figure.value) + figure.rounding
        for chosen in islice(product(*candidates), _MOST_TRIED):
            value = _compute(figure, chosen)
            if value is not None and abs(value - figure.value) <= least:
                best, least = chosen, abs(value - figure.value)
        return None if best is None else Parts(tuple(one.name for one in best), is_complete=True)
    names = tuple(found[0].name for found in candidates if len(found) == 1)
    return Parts(names, is_complete=len(names) == len(candidates)) if names else None


def _compute(figure: PublishedFigure, parts: Sequence[PublishedFigure]) -> float | None:
    """Return what the published values of parts give; None where that is no arithmetic."""
    assert figure.quantity is not None  # noqa: S101 - it has terms
    values = [_read_column(part) for part in parts]
    by_term = dict(zip(_list_terms(figure.quantity), values, strict=True))
    if None in values:
        return None
    quantity = figure.quantity
    text = _TERM.sub(
        lambda found: (
            repr(by_term[_describe(quantity, found[1]), found[2]])
            if found[1] in quantity.places
            else found[0]
        ),
        quantity.expression,
    )
    try:
        return _evaluate(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _read_column(part: PublishedFigure) -> float | None:
    """Return the published value of a figure of one column [the column's unit]."""
    assert part.quantity is not None  # noqa: S101 - it has one term
    scaled = _SCALED.fullmatch(_TERM.sub("TERM", part.quantity.expression))
    if scaled is None or isinstance(part.value, str):
        return None
    factor = float(scaled[2] or 1)
    return part.value * factor if scaled[1] == "/" else part.value / factor


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
    found = [
        (_describe(quantity, place), column)
        for place, column in _TERM.findall(quantity.expression)
        if place in quantity.places
    ]
    return list(dict.fromkeys(found))


def _describe(quantity: Quantity, place: str) -> str:
    """Return what a place of a quantity selects, whatever the place is called."""
    return json.dumps([dict(quantity.places[place]) | dict(quantity.at), quantity.for_each], sort_keys=True)


def _write(quantity: Quantity, terms: Sequence[Term]) -> str:
    """Return a text that is equal for equal quantities."""
    shape = _TERM.sub(lambda found: f"?.{found[2]}", quantity.expression)
    return json.dumps(["".join(shape.split()), list(terms)])
