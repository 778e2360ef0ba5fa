"""The search of a study: for the largest or smallest value of one parameter that meets its objectives."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any

from destage.errors import ConfigError, Issue
from destage.spec.axis_names import MAXIMIZE, MINIMIZE, name_answer
from destage.spec.objective import Objective
from destage.spec.schema_nodes import node, table
from destage.spec.validation import suggest
from destage.sweeps.keys.objectives import parse_objective
from destage.sweeps.space.parameters import Parameter, explain_unknown, find_parameter

MOST_VALUES = 10_000
"""Most values that a search for the smallest one may choose from."""
_DISKS = "array.disks"
_MOST_ALTERNATIVES = 64
SEEK = table(
    "Find the largest or the smallest value of one whole-number parameter that meets every objective.",
    {
        "maximize": node("string", "The dotted path of the parameter whose largest value is sought."),
        "minimize": node("string", "The dotted path of the parameter whose smallest value is sought."),
        "subject_to": node(
            "array", "Objectives such as `response_p95 <= 30ms`.", minItems=1, items={"type": "string"}
        ),
        "limits": node(
            "object",
            "Objectives of points by their label, in place of `subject_to`: one limit for all systems that "
            "are compared with each other.",
            minProperties=1,
            additionalProperties={"type": "array", "minItems": 1, "items": {"type": "string"}},
        ),
        "start": node("integer", "The first value tried (minimize: `min`).", minimum=1, default=32),
        "min": node("integer", "The smallest value considered.", minimum=1, default=1),
        "max": node("integer", "The largest value considered.", minimum=1, default=4096),
        "step": node(
            "integer",
            "The distance of the values considered, from `min`; with minimize.",
            minimum=1,
            default=1,
        ),
        "cheapest": node(
            "integer",
            "With `prices` and minimize: find this number of cheapest points, and search the others only as "
            "far as needed to know that they are more expensive.",
            minimum=1,
        ),
        "max_price": node("number", "With `cheapest`: the highest price of interest [currency].", minimum=0),
    },
    "subject_to",
)
"""The schema of the key `seek` of a study."""


@dataclass(frozen=True, slots=True)
class Seek:
    """The search for the largest or smallest value of one integer parameter that meets every objective.

    Attributes:
        start: The first value tried.
        least: The smallest value considered.
        most: The largest value considered.
        goal: `maximize` or `minimize`.
        step: The distance of the values considered, from `least`.
        cheapest: With prices: the number of cheapest points to find; others are searched only as far as
            needed to know that they are more expensive. None to search all points.
        max_price: The highest price of interest [currency].
        limits: The objectives of labelled points that have their own, by label.
    """

    path: str
    objectives: tuple[Objective, ...]
    start: int
    least: int
    most: int
    goal: str = MAXIMIZE
    step: int = 1
    cheapest: int | None = None
    max_price: float = math.inf
    limits: Mapping[str, tuple[Objective, ...]] = attribute(default_factory=dict)

    def objectives_of(self, label: str | None) -> tuple[Objective, ...]:
        """Return the objectives of a point."""
        return self.objectives if label is None else self.limits.get(label, self.objectives)

    @property
    def is_minimum(self) -> bool:
        """Whether the smallest value is sought."""
        return self.goal == MINIMIZE

    @property
    def written(self) -> int:
        """The value in the configuration of a point."""
        return self.most if self.is_minimum else self.start

    @property
    def alternatives(self) -> tuple[int, ...]:
        """Other values in the configuration of a point that is invalid with `written`: halves first."""
        if not self.is_minimum:
            return ()
        considered = range(self.least, self.most + 1, self.step)
        halves = [
            considered[len(considered) >> shift] for shift in range(1, len(considered).bit_length() + 1)
        ]
        others = reversed(considered[:: -(-len(considered) // _MOST_ALTERNATIVES)])
        return tuple(dict.fromkeys([*halves, *others]))

    @property
    def metric(self) -> str:
        """The name of the answer: `users_supported` for the most `workload.users`."""
        return name_answer(self.path, self.goal)


def read_seek(
    document: Mapping[str, Any],
    axes: Mapping[str, object],
    points: Sequence[tuple[str | None, Mapping[str, object]]],
) -> tuple[Seek | None, list[Issue]]:
    """Return the search of a document that fits the schema, and every mistake in it."""
    written = document.get("seek")
    if written is None:
        return None, []
    reader = _Reader(written, axes, points)
    return reader.read(), reader.issues


class _Reader:
    def __init__(
        self,
        written: Mapping[str, Any],
        axes: Mapping[str, object],
        points: Sequence[tuple[str | None, Mapping[str, object]]],
    ) -> None:
        self._written = written
        self._axes = axes
        self._points = points
        self.issues: list[Issue] = []

    def read(self) -> Seek | None:
        written = self._written
        goals = [goal for goal in (MAXIMIZE, MINIMIZE) if goal in written]
        if len(goals) != 1:
            self._add("study.one-of", "seek", "needs either maximize or minimize")
            return None
        (goal,) = goals
        path, place = written[goal], f"seek.{goal}"
        unknown = explain_unknown(path)
        if unknown is not None:
            self._add("study.unknown-name", place, unknown, path)
            return None
        parameter = find_parameter(path)
        if not parameter.is_integer:
            self._add("study.seek-not-integer", place, "must be a parameter that takes whole numbers", path)
        if path in self._axes or any(path in assignments for _, assignments in self._points):
            self._add("study.axis-is-sought", place, "cannot be an axis and the sought parameter", path)
        objectives = self._read_objectives(written["subject_to"], "seek.subject_to")
        limits = self._read_limits()
        least, most = self._read_bounds(parameter)
        # JSON Schema takes 100.0 for a whole number.
        step = int(written.get("step", _default("step")))
        if goal == MAXIMIZE:
            self._refuse("step", "cheapest", "max_price")
            start = int(written.get("start", _default("start")))
        else:
            start = int(written.get("start", least))
            if (most - least) // step >= MOST_VALUES:
                message = f"{(most - least) // step + 1:,} values; at most {MOST_VALUES:,} are allowed"
                self._add("study.too-many-values", "seek.step", f"{message}: set min, max and step", step)
        cheapest = written.get("cheapest")
        if cheapest is not None and path != _DISKS:
            self._add("study.unknown-name", place, f"cheapest needs {_DISKS}: only disks have a price", path)
        if cheapest is None and "max_price" in written:
            self._add("study.unknown-key", "seek.max_price", "only with cheapest")
        return Seek(
            path=path,
            goal=goal,
            objectives=objectives,
            start=min(max(start, least), most),
            least=least,
            most=most,
            step=step,
            cheapest=None if cheapest is None else int(cheapest),
            max_price=float(written.get("max_price", math.inf)),
            limits=limits,
        )

    def _add(self, code: str, place: str, message: str, value: object = None) -> None:
        self.issues.append(Issue(code, place, message, value))

    def _refuse(self, *keys: str) -> None:
        for key in keys:
            if key in self._written:
                self._add("study.unknown-key", f"seek.{key}", "only with minimize")

    def _read_limits(self) -> dict[str, tuple[Objective, ...]]:
        labels = [label for label, _ in self._points if label is not None]
        limits = {}
        for label, texts in self._written.get("limits", {}).items():
            limits[label] = self._read_objectives(texts, f"seek.limits.{label}")
            if label not in labels:
                message = f"no point has this label{suggest(label, labels)}"
                self._add("study.unknown-name", f"seek.limits.{label}", message)
        return limits

    def _read_objectives(self, texts: Sequence[str], place: str) -> tuple[Objective, ...]:
        objectives = []
        for index, text in enumerate(texts):
            try:
                objectives.append(parse_objective(text, f"{place}.{index}"))
            except ConfigError as error:
                self.issues += error.issues
        return tuple(objectives)

    def _read_bounds(self, parameter: Parameter) -> tuple[int, int]:
        """Return the bounds of a search; default bounds are limited to the parameter's own."""
        written = self._written
        least, most = (int(written.get(key, _default(key))) for key in ("min", "max"))
        if parameter.least is not None and least < parameter.least:
            if "min" in written:
                self._add("study.out-of-range", "seek.min", f"must be at least {parameter.least}", least)
            least = int(parameter.least)
        if parameter.most is not None and most > parameter.most:
            if "max" in written:
                self._add("study.out-of-range", "seek.max", f"must be at most {parameter.most}", most)
            most = int(parameter.most)
        if least > most:
            self._add("study.bounds-reversed", "seek.min", f"must not be above seek.max, {most}", least)
        return least, most


def _default(key: str) -> int:
    """Return the default of a key."""
    return int(SEEK["properties"][key]["default"])
