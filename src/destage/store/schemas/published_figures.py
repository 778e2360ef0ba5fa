"""Published figures and answer sentences: what a study compares or fills in from a sweep's rows.

The one reader of `published`, `answer` and `places`: `destage.sweeps` checks them before a run, and
`destage.queries` evaluates them afterwards.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
