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
        decimals: Significant digits after the point.
        tolerance: Allowed deviation of a prediction, as a fraction of the figure.
        bounds: The range that an ordering's interval must lie in.
        given: The fitted figures that a prediction depends on.
        note: A contradiction or a caution.
    """

    name: str
    value: float | str
    unit: str | None
    source: str
    kind: str
    quantity: Quantity | None
    decimals: int | None
    tolerance: float | None
    bounds: tuple[float, float]
    given: tuple[str, ...]
    note: str | None


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
    expect = entry.get("expect", {})
    least, most = expect.get("between", (expect.get("above", -math.inf), expect.get("below", math.inf)))
    return PublishedFigure(
        name=entry["figure"],
        value=entry["value"],
        unit=entry.get("unit"),
        source=entry["source"],
        kind=entry["kind"],
        quantity=_read_quantity(entry["compute"], entry, study) if "compute" in entry else None,
        decimals=entry.get("decimals"),
        tolerance=entry.get("tolerance"),
        bounds=(least, most),
        given=tuple(dict.fromkeys(entry.get("given", fitted))),
        note=entry.get("note"),
    )


def _read_quantity(expression: str, entry: Mapping[str, Any], study: Mapping[str, Any]) -> Quantity:
    return Quantity(
        expression, study.get("places", {}), entry.get("at", {}), tuple(entry.get("for_each", ()))
    )
