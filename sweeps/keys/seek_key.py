"""The search of a study: for the largest or smallest value of one parameter that meets its objectives."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from destage.errors import ConfigError, Issue
from destage.spec.axis_names import MAXIMIZE, MINIMIZE, name_answer
from destage.spec.near_names import suggest
from destage.spec.objective import Objective
from destage.spec.typed_tables import key, read_table, table
from destage.sweeps.keys.objectives import parse_objective
from destage.sweeps.space.parameters import Parameter, explain_unknown, find_parameter

MOST_VALUES = 10_000
"""Most values that a search for the smallest one may choose from."""
_DISKS = "array.disks"
_MOST_ALTERNATIVES = 64
_TEXT = {"type": "string"}


@table
class Seek:
    """Find the largest or the smallest value of one whole-number parameter that meets every objective.

    A seek is of the class of its goal.

    Attributes:
        max_price: Infinite if there is none.
    """

    maximize: str | None = key(
        "The dotted path of the parameter whose largest value is sought.", default=None
    )
    minimize: str | None = key(
        "The dotted path of the parameter whose smallest value is sought.", default=None
    )
    objectives: tuple[Objective, ...] = key(
        "Objectives such as `response_p95 <= 30ms`.", name="subject_to", minItems=1, items=_TEXT
    )
    limits: Mapping[str, tuple[Objective, ...]] = key(
        "Objectives of points by their label, in place of `subject_to`: one limit for all systems that "
        "are compared with each other.",
        minProperties=1,
        additionalProperties={"type": "array", "minItems": 1, "items": _TEXT},
        factory=dict,
    )
    start: int = key("The first value tried (minimize: `min`).", minimum=1, default=32)
    least: int = key("The smallest value considered.", name="min", minimum=1, default=1)
    most: int = key("The largest value considered.", name="max", minimum=1, default=4096)
    step: int = key("The distance of the values considered, from `min`; with minimize.", minimum=1, default=1)
    cheapest: int | None = key(
        "With `prices` and minimize: find this number of cheapest points, and search the others only as "
        "far as needed to know that they are more expensive.",
        minimum=1,
        default=None,
    )
    max_price: float = key(
        "With `cheapest`: the highest price of interest [currency].", minimum=0, default=math.inf
    )

    goal: ClassVar[str]
    """`maximize` or `minimize`."""
    least_replicates: ClassVar[int] = 1
    """The fewest replicates of a value that the search can judge."""

    @property
    def path(self) -> str:
        """The dotted path of the sought parameter."""
        return self.maximize or self.minimize or ""

    def objectives_of(self, label: str | None) -> tuple[Objective, ...]:
        """Return the objectives of a point."""
        return self.objectives if label is None else self.limits.get(label, self.objectives)

    @property
    def written(self) -> int:
        """The value in the configuration of a point."""
        return self.start

    @property
    def alternatives(self) -> tuple[int, ...]:
        """Other values in the configuration of a point that is invalid with `written`."""
        return ()

    @property
    def metric(self) -> str:
        """The name of the answer: `users_supported` for the most `workload.users`."""
        return name_answer(self.path, self.goal)


class LargestSeek(Seek):
    """A search for the largest value."""

    __slots__ = ()
    goal = MAXIMIZE


class SmallestSeek(Seek):
    """A search for the smallest value, which judges a value by the scatter of its replicates."""

    __slots__ = ()
    goal = MINIMIZE
    least_replicates = 2

    @property
    def written(self) -> int:
        """The largest value considered: a point that is invalid with it may have too many disks."""
        return self.most

    @property
    def alternatives(self) -> tuple[int, ...]:
        """Other values in the configuration of a point that is invalid with `written`: halves first."""
        considered = range(self.least, self.most + 1, self.step)
        halves = [
            considered[len(considered) >> shift] for shift in range(1, len(considered).bit_length() + 1)
        ]
        others = reversed(considered[:: -(-len(considered) // _MOST_ALTERNATIVES)])
        return tuple(dict.fromkeys([*halves, *others]))


_KINDS: Mapping[str, type[Seek]] = {kind.goal: kind for kind in (LargestSeek, SmallestSeek)}


def read_seek(
    document: Mapping[str, Any],
    axes: Mapping[str, object],
    points: Sequence[tuple[str | None, Mapping[str, object]]],
) -> tuple[Seek | None, list[Issue]]:
    """Return the search of a document that fits the schema, and every mistake in it."""
    reader = _Reader(document["seek"], axes, points)
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
        goals = [goal for goal in _KINDS if goal in written]
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
        seek = read_table(_KINDS[goal], written, objectives=objectives, limits=self._read_limits())
        least, most = self._read_bounds(seek, parameter)
        start = seek.start
        if goal == MAXIMIZE:
            self._refuse("step", "cheapest", "max_price")
        else:
            start = seek.start if "start" in written else least
            if (most - least) // seek.step >= MOST_VALUES:
                message = f"{(most - least) // seek.step + 1:,} values; at most {MOST_VALUES:,} are allowed"
                self._add(
                    "study.too-many-values", "seek.step", f"{message}: set min, max and step", seek.step
                )
        if seek.cheapest is not None and path != _DISKS:
            self._add("study.unknown-name", place, f"cheapest needs {_DISKS}: only disks have a price", path)
        if seek.cheapest is None and "max_price" in written:
            self._add("study.unknown-key", "seek.max_price", "only with cheapest")
        return replace(seek, start=min(max(start, least), most), least=least, most=most)

    def _add(self, code: str, place: str, message: str, value: object = None) -> None:
        self.issues.append(Issue(code, place, message, value))

    def _refuse(self, *keys: str) -> None:
        for name in keys:
            if name in self._written:
                self._add("study.unknown-key", f"seek.{name}", "only with minimize")

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

    def _read_bounds(self, seek: Seek, parameter: Parameter) -> tuple[int, int]:
        """Return the bounds of a search; default bounds are limited to the parameter's own."""
        least, most = seek.least, seek.most
        if parameter.least is not None and least < parameter.least:
            if "min" in self._written:
                self._add("study.out-of-range", "seek.min", f"must be at least {parameter.least}", least)
            least = int(parameter.least)
        if parameter.most is not None and most > parameter.most:
            if "max" in self._written:
                self._add("study.out-of-range", "seek.max", f"must be at most {parameter.most}", most)
            most = int(parameter.most)
        if least > most:
            self._add("study.bounds-reversed", "seek.min", f"must not be above seek.max, {most}", least)
        return least, most
