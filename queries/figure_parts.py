"""Which published figures follow from others of their study: ratios of figures, and figures printed twice."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from destage.store.published_figures import PublishedFigure, Quantity

_TERM = re.compile(r'(?<![\w."])"?(\w+)"?\s*\.\s*"?([A-Za-z_]\w*)"?')
Term = tuple[str, str]
"""The points of a place and its common values, as text, and a column."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The other figures that a figure is computed from.

    Attributes:
        names: For each column of a place that it uses and that is published, the figures of it.
        is_complete: Whether the figure follows from them.
    """

    names: tuple[tuple[str, ...], ...]
    is_complete: bool


def find_parts(figures: Sequence[PublishedFigure]) -> Mapping[str, Parts]:
    """Return the parts of each figure that has some, by its name.

    A figure of several columns has those figures as its parts that are of one of the columns each. A figure
    that is computed as an earlier one is has that one as its part.
    """
    terms = {figure.name: _list_terms(figure.quantity) for figure in figures}
    alone: dict[Term, list[str]] = {}
    for name, found in terms.items():
        if len(found) == 1:
            alone.setdefault(next(iter(found)), []).append(name)
    parts: dict[str, Parts] = {}
    first: dict[str, str] = {}
    for figure in figures:
        found = terms[figure.name]
        covered = [tuple(alone[term]) for term in found if term in alone]
        if len(found) > 1 and covered:
            parts[figure.name] = Parts(tuple(covered), len(covered) == len(found))
        if figure.quantity is None or not found:
            continue
        same = first.setdefault(_write(figure.quantity, found), figure.name)
        if same != figure.name and not (figure.name in parts and parts[figure.name].is_complete):
            parts[figure.name] = Parts(((same,),), is_complete=True)
    return parts


def _list_terms(quantity: Quantity | None) -> dict[Term, None]:
    """Return the columns of places that a quantity is computed from, in order."""
    if quantity is None:
        return {}
    return {
        (_describe(quantity, place), column): None
        for place, column in _TERM.findall(quantity.expression)
        if place in quantity.places
    }


def _describe(quantity: Quantity, place: str) -> str:
    """Return what a place of a quantity selects, whatever the place is called."""
    return json.dumps([dict(quantity.places[place]) | dict(quantity.at), quantity.for_each], sort_keys=True)


def _write(quantity: Quantity, terms: Mapping[Term, None]) -> str:
    """Return a text that is equal for equal quantities."""
    shape = _TERM.sub(lambda found: f"?.{found[2]}", quantity.expression)
    return json.dumps(["".join(shape.split()), list(terms)])
