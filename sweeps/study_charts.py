"""The charts that a study asks for: what may stand under `charts`, and the mistakes in it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from destage import engine
from destage.errors import Issue, QueryError
from destage.spec.validation import suggest
from destage.sweeps import parameters

LABEL = "label"
"""What stands for the label of an explicit point, beside the axes."""

CHARTS: dict[str, Any] = {
    "description": "What the report draws first, one chart each, in place of figures that would not fit.",
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["title", "x", "y"],
        "properties": {
            "title": {"description": "What the chart shows.", "type": "string", "minLength": 1},
            "x": {
                "description": "An axis by dotted path, `label` or a result column; texts make rows.",
                "type": "string",
            },
            "y": {
                "description": "A result column, or what a seek answers, such as `users_supported`.",
                "type": "string",
            },
            "by": {
                "description": "An axis by dotted path or `label`: a line for each of its values, at most 8.",
                "type": "string",
            },
            "where": {
                "description": "An SQL condition over the points (their label, axes and result columns); "
                "those that miss it are not drawn.",
                "type": "string",
            },
            "x_log": {
                "description": "Whether x is logarithmic.",
                "type": "boolean",
                "default": False,
            },
            "y_log": {
                "description": "Whether y is logarithmic.",
                "type": "boolean",
                "default": False,
            },
            "published": {
                "description": "Whether figures published for y are drawn beside the points they speak of.",
                "type": "boolean",
                "default": True,
            },
            "x_title": {"description": "What x is called, where its name does not say it.", "type": "string"},
            "y_title": {
                "description": "What y is called, with its unit, where its name does not say it.",
                "type": "string",
            },
            "caption": {"description": "What a reader must know of it.", "type": "string"},
        },
    },
}


def chart_mistakes(
    charts: Sequence[Mapping[str, Any]],
    axes: Mapping[str, Sequence[object]],
    labels: Sequence[str],
    sought: str | None,
) -> list[Issue]:
    """Return the mistakes in a study's charts that their schema cannot say.

    Args:
        charts: What stands under `charts`, fit for its schema.
        axes: What was written for each axis, in the grid and in explicit points, by dotted path.
        labels: The labels of the explicit points.
        sought: The dotted path of what the study seeks, if it seeks anything.
    """
    names = _Names(axes, labels, sought)
    issues: list[Issue] = []
    titles: set[str] = set()
    for index, chart in enumerate(charts):
        found: list[tuple[str, str | None]] = [
            ("x", names.problem(chart["x"], may_be_axis=True, may_be_result=True)),
            ("y", names.problem(chart["y"], may_be_axis=False, may_be_result=True)),
        ]
        if "by" in chart:
            found.append(("by", names.problem(chart["by"], may_be_axis=True, may_be_result=False)))
        if chart["title"] in titles:
            found.append(("title", "is the title of an earlier chart"))
        titles.add(chart["title"])
        found += [
            (key, f"is the chart's {other} already")
            for key, other in (("by", "x"), ("y", "x"))
            if chart.get(key) == chart[other]
        ]
        if "where" in chart:
            found.append(("where", names.refusal(chart["where"])))
        place = f"charts.{index}"
        issues += [Issue(f"{place}.{key}", chart[key], problem) for key, problem in found if problem]
    return issues


class _Names:
    """What a chart may name: axes, labels, result columns and what is sought."""

    def __init__(
        self, axes: Mapping[str, Sequence[object]], labels: Sequence[str], sought: str | None
    ) -> None:
        self._axes = axes
        self._labels = labels
        self._sought = sought
        answer = [] if sought is None else [f"{sought.rpartition('.')[2]}_supported"]
        self._results = [
            *answer,
            *(
                field.name
                for field in engine.results_schema()
                if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
            ),
        ]

    def problem(self, name: str, *, may_be_axis: bool, may_be_result: bool) -> str | None:
        """Return why a chart cannot name this there, or None when it can.

        Args:
            name: What stands there.
            may_be_axis: Whether an axis may stand there, or `label`.
            may_be_result: Whether a result may stand there.
        """
        axes = [*self._axes, *([LABEL] if self._labels else [])]
        if (may_be_axis and name in self._axes) or (may_be_result and name in self._results):
            return None
        if may_be_axis and name == LABEL:
            return None if self._labels else "no point of this study has a label"
        if self._sought is None and name.endswith("_supported"):
            return "is what a seek answers, and this study seeks nothing"
        if name == self._sought:
            return f"is sought: each point finds its own; its answers are called {self._results[0]}"
        known = [*(axes if may_be_axis else []), *(self._results if may_be_result else [])]
        kinds = {
            (True, True): "neither an axis of this study nor a result column with a number",
            (True, False): "no axis of this study",
            (False, True): "no result column with a number",
        }
        there = f"; its axes are {', '.join(axes)}" if may_be_axis else ""
        return f"is {kinds[may_be_axis, may_be_result]}{there}{suggest(name, known)}"

    def refusal(self, where: str) -> str | None:
        """Return why a condition cannot be put to the points, or None when it can.

        Args:
            where: The condition.
        """
        from destage import sql  # noqa: PLC0415 - loads duckdb, which a study without a condition can do without

        fields = [pa.field(LABEL, pa.string()), pa.field("n", pa.int64())]
        fields += [pa.field(path, _kind(path, values)) for path, values in self._axes.items()]
        fields += [
            pa.field(f"{name}{end}", pa.float64()) for name in self._results for end in ("", "_low", "_high")
        ]
        try:
            sql.filter_rows(pa.schema(fields).empty_table(), where)
        except QueryError as error:
            return str(error).removeprefix("where: ")
        return None


def _kind(path: str, values: Sequence[object]) -> pa.DataType:
    """Return the type of an axis' column; what is written with a unit becomes a number."""
    if parameters.unknown(path) is None and parameters.leaf(path).unit is not None:
        return pa.float64()
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pa.bool_()
    return pa.float64() if kinds and kinds <= {int, float} else pa.string()
