"""Figures from elsewhere: their table, their places and their classes.

The one reader of `published`, `answer` and `places`: `destage.sweeps` checks them before a run, and
`destage.queries` evaluates them afterwards.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from destage.engine import scenario_schema
from destage.errors import ConfigError
from destage.spec import quantities

LABEL = "label"
"""The key of a point's label; all other keys are dotted paths."""


def find_points(
    points: Sequence[Mapping[str, object]],
    scenario: Mapping[str, object],
    *named: Mapping[str, object],
) -> list[str]:
    """Return the ids of the points that a place selects, in order.

    Args:
        points: The points: `point_id`, `label` and the axis columns [base units].
        scenario: A resolved configuration of the sweep, for the units of the axes.
        named: Values by dotted path, with or without units, and perhaps a `label`; all of them must hold.
    """
    wanted = [
        (path, _in_base_units(path, written, scenario)) for each in named for path, written in each.items()
    ]
    return [
        str(point["point_id"])
        for point in points
        if all(_is_equal(point.get(path), value) for path, value in wanted)
    ]


def _in_base_units(path: str, written: object, scenario: Mapping[str, object]) -> object:
    """Return a value in the unit of its axis; None, which equals no value, if it cannot be read."""
    unit = (
        None if path == LABEL or not isinstance(written, str) else scenario_schema.find_unit(path, scenario)
    )
    if unit is None:
        return written
    try:
        return quantities.parse(str(written), unit)
    except ConfigError:
        return None


def _is_equal(here: object, value: object) -> bool:
    if isinstance(here, int | float) and isinstance(value, int | float):
        return math.isclose(here, value)
    return here is not None and str(here) == str(value)


class FigureClass(StrEnum):
    """The class of a published figure; its value is the name that people read."""

    BLIND = "reproduced blind"
    FITTED = "reproduced after a stated fit"
    POST_HOC = "post hoc"
    MISSED = "not reproduced"
    UNINFORMATIVE = "uninformative"
    PROPERTY = "model property"
    ARITHMETIC = "arithmetic of the paper"
    INPUT = "input"
    NOT_SIMULATED = "not simulated"


MOST_WIDTH = 2.0
"""Largest upper over lower end of an interval that tests anything."""

MEANINGS = MappingProxyType(
    {
        FigureClass.BLIND: "the figure was not used to set anything and lies inside the interval",
        FigureClass.FITTED: "the figure lies inside the interval after a parameter was fitted on another "
        "figure, which is named",
        FigureClass.POST_HOC: "the figure lies inside the interval, but something was chosen with the figure "
        "in view",
        FigureClass.MISSED: "the figure lies outside the interval, whatever its width",
        FigureClass.UNINFORMATIVE: "the figure lies inside an interval that is wider than a factor of "
        f"{MOST_WIDTH:g}, or a comparison's interval includes its bound",
        FigureClass.PROPERTY: "true by construction of the model or the study",
        FigureClass.ARITHMETIC: "computed from other figures of the paper: it follows from them or does not",
        FigureClass.INPUT: "a setting taken from the paper, or the figure that a parameter was fitted on",
        FigureClass.NOT_SIMULATED: "nothing in the study computes it, or its points have no answer",
    }
)
"""What each class says, in the order in which classes are listed."""

KINDS = MappingProxyType(
    {
        "predicted": "a simulated number; reproduced if it lies inside the prediction interval",
        "ordering": "a simulated comparison; reproduced if the whole interval lies within bounds",
        "calibrated": "a parameter was fitted on it; an input",
        "property": "true by construction",
        "arithmetic": "follows from other figures of the paper",
        "inconsistent": "contradicts other figures of the paper",
        "input": "configured as published",
        "not_simulated": "not compared; the note says why",
    }
)
"""The kinds that a study may give a figure, with the rule by which each is classified."""


def find_width(low: float, high: float) -> float:
    """Return the larger over the smaller end of an interval; infinite where it includes zero."""
    if low == high:
        return 1.0
    if low * high <= 0:
        return float("inf")
    least, most = sorted((abs(low), abs(high)))
    return most / least


def classify(*, is_inside: bool, width: float, is_post_hoc: bool, is_fitted: bool) -> FigureClass:
    """Return the class of a simulated figure.

    Args:
        is_inside: Whether the figure lies inside the prediction interval.
        width: The interval's upper over lower end; 1 for a comparison, which has bounds instead.
        is_post_hoc: Whether something was chosen with the figure in view.
        is_fitted: Whether a parameter was fitted on another figure.
    """
    if not is_inside:
        return FigureClass.MISSED
    if width > MOST_WIDTH:
        return FigureClass.UNINFORMATIVE
    if is_post_hoc:
        return FigureClass.POST_HOC
    return FigureClass.FITTED if is_fitted else FigureClass.BLIND


_EXPRESSION = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number computed from the rows of named points.

    Attributes:
        expression: An SQL expression over places, as in `on.response_mean_us / off.response_mean_us`.
        places: The points that each place of the study selects: values by dotted path, and perhaps a `label`.
        at: Further values that all its places have in common.
        for_each: Axes; the quantity is the range over their combinations.
    """

    expression: str
    places: Mapping[str, Mapping[str, object]]
    at: Mapping[str, object]
    for_each: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A published figure.

    Attributes:
        name: Its name, unique in the study.
        value: The printed number, or words if there is none.
        kind: The rule that compares it.
        quantity: The same quantity from the rows; None if it is not computed.
        decimals: Digits after the point that the number was printed with.
        bounds: The range that a comparison's interval must lie in; None where a number is compared.
        given: The fitted figures that a simulated figure depends on.
        post_hoc: What was chosen with the figure in view, if anything was.
        headline: Why the figure is a headline of its document, in one line; None if it is not.
        note: A contradiction or a caution.
    """

    name: str
    value: float | str
    unit: str | None
    source: str
    kind: str
    quantity: Quantity | None
    decimals: int | None
    bounds: tuple[float, float] | None
    given: tuple[str, ...]
    post_hoc: str | None
    headline: str | None
    note: str | None

    @property
    def rounding(self) -> float:
        """Half a unit of the last printed digit: a printed figure stands for all numbers that round to it."""
        if isinstance(self.value, str):
            return 0.0
        decimals = _count_decimals(self.value) if self.decimals is None else self.decimals
        return 10.0**-decimals / 2


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence that answers the study's question.

    Attributes:
        text: The sentence; each SQL expression in braces is replaced by its value.
        quantities: The quantities of the expressions, in order.
    """

    text: str
    quantities: tuple[Quantity, ...]

    def fill(self, values: Iterable[str]) -> str:
        """Return the sentence with its expressions replaced by values."""
        given = iter(values)
        return _EXPRESSION.sub(lambda _: next(given), self.text)


def read_figures(study: Mapping[str, Any]) -> list[PublishedFigure]:
    """Read the published figures of a study that fits its schema, in its order."""
    fitted = [entry["on"] for entry in study.get("fitted", [])]
    return [_read_figure(entry, study, fitted) for entry in study.get("published", [])]


def read_answers(study: Mapping[str, Any]) -> list[AnswerSentence]:
    """Read the answer sentences of a study that fits its schema, in its order."""
    sentences = []
    for written in study.get("answer", []):
        entry = {"say": written} if isinstance(written, str) else written
        text = " ".join(entry["say"].split())
        quantities = [_read_quantity(found, entry, study) for found in _EXPRESSION.findall(text)]
        sentences.append(AnswerSentence(text, tuple(quantities)))
    return sentences


def _read_figure(entry: Mapping[str, Any], study: Mapping[str, Any], fitted: list[str]) -> PublishedFigure:
    return PublishedFigure(
        name=entry["figure"],
        value=entry["value"],
        unit=entry.get("unit"),
        source=entry["source"],
        kind=entry["kind"],
        quantity=_read_quantity(entry["compute"], entry, study) if "compute" in entry else None,
        decimals=entry.get("decimals"),
        bounds=_read_bounds(entry.get("expect")),
        given=tuple(dict.fromkeys(entry.get("given", fitted))),
        post_hoc=entry.get("post_hoc"),
        headline=entry.get("headline"),
        note=entry.get("note"),
    )


def _read_bounds(expect: Mapping[str, Any] | None) -> tuple[float, float] | None:
    if expect is None:
        return None
    least, most = expect.get("between", (expect.get("above", -math.inf), expect.get("below", math.inf)))
    return least, most


def _count_decimals(value: float) -> int:
    """Return the number of digits after the point of a number as it is written."""
    text = repr(value)
    return len(text.partition(".")[2]) if "." in text and not text.endswith(".0") else 0


def _read_quantity(expression: str, entry: Mapping[str, Any], study: Mapping[str, Any]) -> Quantity:
    return Quantity(
        expression, study.get("places", {}), entry.get("at", {}), tuple(entry.get("for_each", ()))
    )
