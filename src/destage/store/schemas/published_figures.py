"""The keys of a study that speak of a paper: its figures, and how the rows give the same.

`destage.sweeps` checks them before a run, and `destage.queries` evaluates them afterwards.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from destage.spec.typed_tables import key, read_table, table, table_schema
from destage.store.schemas.figure_classes import KINDS

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


@table
class Common:
    """What the places of an expression have in common."""

    at: Mapping[str, object] = key(
        "Values that all places of the expression have in common.", minProperties=1, factory=dict
    )
    for_each: tuple[str, ...] = key(
        "Axes: the result is the range over their combinations.", minItems=1, default=()
    )


@table
class Expect:
    """The bounds that the whole interval must lie within."""

    above: float = key("Lower bound.", default=-math.inf)
    below: float = key("Upper bound.", default=math.inf)
    between: tuple[float, float] | None = key("Lower and upper bound.", default=None)


@table
class PublishedFigure:
    """A published figure.

    Attributes:
        kind: The rule that compares it.
        quantity: The same quantity from the rows; None if it is not computed.
    """

    name: str = key("The figure's name, unique in the study.", name="figure")
    kind: str = key("How it is classified")
    value: float | str = key("The published number, or words where there is none.")
    unit: str | None = key("The unit of the number.", default=None)
    source: str = key("Page, table or figure of the paper.")
    compute: str | None = key(
        "The same quantity as an SQL expression over places: `on.response_mean_us / off.response_mean_us`.",
        default=None,
    )
    common: Common = key(inline=True, factory=Common)
    note: str | None = key("A contradiction or caution, in one sentence.", default=None)
    decimals: int | None = key(
        "Digits after the decimal point that the figure was printed with (default: as written "
        "here); -2 for hundreds. Half a unit of the last digit is part of the prediction interval.",
        default=None,
    )
    expect: Expect | None = key(minProperties=1, maxProperties=1, default=None)
    given: tuple[str, ...] = key("The fitted figures it depends on (default: all).")
    post_hoc: str | None = key(
        "What was chosen with the figure in view; it is then not reproduced blind.", default=None
    )
    headline: str | None = key(
        "Makes it a headline of its document: in one line, what the comparison rests on.", default=None
    )
    quantity: Quantity | None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The range that a comparison's interval must lie in; None where a number is compared."""
        if self.expect is None:
            return None
        return self.expect.between or (self.expect.above, self.expect.below)

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
    """

    text: str
    quantities: tuple[Quantity, ...]

    def fill(self, values: Iterable[str]) -> str:
        """Return the sentence with its expressions replaced by values."""
        given = iter(values)
        return _EXPRESSION.sub(lambda _: next(given), self.text)


@table
class Sentence:
    """A sentence whose expressions have values in common."""

    say: str = key("The sentence.")
    common: Common = key(inline=True, factory=Common)


@table
class Paper:
    """The document that the figures come from."""

    title: str = key("Its title.")
    number: str = key("Its number, revision and date, or its author and date.")
    page: str | None = key(
        "The name of its page in docs/published, for bundled studies.", pattern="^[a-z0-9-]+$", default=None
    )


@table
class Fitted:
    """A fitted parameter."""

    parameter: str = key("The fitted parameter.")
    value: object = key("Its fitted value.")
    on: str = key("The name of the figure: one of `published`, or any where there are none.")


_BASIS = ("given", "post_hoc", "headline")
_OWN_KEYS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "predicted": (("decimals", *_BASIS), ("compute",)),
    "ordering": (("expect", *_BASIS), ("compute", "expect")),
    "calibrated": (("decimals", "headline"), ("compute",)),
    "property": (("decimals", "expect", "headline"), ("compute",)),
    "arithmetic": (("decimals", "expect", "headline"), ("compute",)),
    "inconsistent": (("decimals", "headline"), ()),
    "input": (("decimals", "headline"), ()),
    "not_simulated": (("headline",), ("note",)),
}
"""The keys that figures of a kind may have beside those of all kinds, and those that they must have."""
_NUMBER = {"description": "The published number.", "type": "number"}


def _kind_schema(kind: str) -> dict[str, Any]:
    """Return the schema of one kind of figure."""
    own, required = _OWN_KEYS[kind]
    whole = table_schema(PublishedFigure)
    others = {key for keys, _ in _OWN_KEYS.values() for key in keys}.difference(own)
    properties = {name: node for name, node in whole["properties"].items() if name not in others}
    properties["kind"] = {"description": f"How it is classified: {KINDS[kind]}.", "const": kind}
    if kind in {"predicted", "calibrated"}:
        properties["value"] = _NUMBER
    required = ("figure", "value", "source", "kind", *required)
    del whole["description"]
    return whole | {"required": list(required), "properties": properties}


@table
class Publication:
    """The keys of a study that speak of published figures."""

    paper: Paper | None = key(default=None)
    sentences: tuple[AnswerSentence, ...] = key(
        "Sentences that answer the question; SQL in braces is replaced by its value.",
        name="answer",
        items=table_schema(Sentence) | {"type": ["string", "object"]},
        default=(),
    )
    assumptions: tuple[str, ...] = key("Choices that the paper leaves open, one sentence each.", default=())
    fitted: tuple[Fitted, ...] = key("Fitted parameters, each with the figure it was fitted on.", default=())
    tried: tuple[str, ...] = key("Attempts to reproduce figures that are not reproduced.", default=())
    places: Mapping[str, Annotated[Mapping[str, object], {"minProperties": 1}]] = key(
        "Short names of points: values of axes, or a label.",
        propertyNames={"pattern": "^[a-z][a-z0-9_]*$"},
        factory=dict,
    )
    figures: tuple[PublishedFigure, ...] = key(
        "Published figures that the results are compared with.",
        name="published",
        items={"oneOf": [_kind_schema(kind) for kind in KINDS]},
        default=(),
    )

    @property
    def fitted_figures(self) -> list[str]:
        """The names of the figures that something was fitted on."""
        return [fit.on for fit in self.fitted]


KEYS = frozenset(table_schema(Publication)["properties"])
"""The keys of a publication in a study."""


def read_publication(study: Mapping[str, Any]) -> Publication:
    """Read what a study that fits its schema says of a paper."""
    figures, sentences = tuple(read_figures(study)), tuple(read_answers(study))
    return read_table(Publication, study, figures=figures, sentences=sentences)


def read_figures(study: Mapping[str, Any]) -> list[PublishedFigure]:
    """Read the published figures of a study that fits its schema, in its order."""
    fitted = [entry["on"] for entry in study.get("fitted", [])]
    return [_read_figure(entry, study, fitted) for entry in study.get("published", [])]


def read_answers(study: Mapping[str, Any]) -> list[AnswerSentence]:
    """Read the answer sentences of a study that fits its schema, in its order."""
    sentences = []
    for written in study.get("answer", []):
        sentence = Sentence(say=written) if isinstance(written, str) else read_table(Sentence, written)
        text = " ".join(sentence.say.split())
        quantities = [_make_quantity(expression, sentence, study) for expression in _EXPRESSION.findall(text)]
        sentences.append(AnswerSentence(text, tuple(quantities)))
    return sentences


def _read_figure(entry: Mapping[str, Any], study: Mapping[str, Any], fitted: list[str]) -> PublishedFigure:
    figure = read_table(
        PublishedFigure, entry, given=tuple(dict.fromkeys(entry.get("given", fitted))), quantity=None
    )
    if figure.compute is None:
        return figure
    return replace(figure, quantity=_make_quantity(figure.compute, figure, study))


def _count_decimals(value: float) -> int:
    """Return the number of digits after the point of a number as it is written."""
    text = repr(value)
    return len(text.partition(".")[2]) if "." in text and not text.endswith(".0") else 0


def _make_quantity(expression: str, entry: PublishedFigure | Sentence, study: Mapping[str, Any]) -> Quantity:
    return Quantity(expression, study.get("places", {}), entry.common.at, entry.common.for_each)
