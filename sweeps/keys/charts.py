"""The charts of a study: their schema, and the mistakes that it cannot express."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from destage import engine
from destage.errors import Issue, QueryError
from destage.spec.axis_names import is_answer
from destage.spec.near_names import suggest
from destage.spec.typed_tables import key, table
from destage.sweeps.space import parameters

LABEL = "label"
"""The name of the label of an explicit point, beside the axes."""


@table
class Chart:
    """A chart of a study."""

    title: str = key("The chart's title.", minLength=1)
    x: str = key("An axis by dotted path, `label` or a result column; strings become rows.")
    y: str = key("A result column, or the answer of a seek, such as `users_supported`.")
    by: str | None = key("An axis by dotted path or `label`: one line per value, at most 8.", default=None)
    where: str | None = key(
        "An SQL condition over the points (their label, axes and result columns) that drawn points must "
        "meet.",
        default=None,
    )
    x_log: bool = key("Whether x is logarithmic.", default=False)
    y_log: bool = key("Whether y is logarithmic.", default=False)
    published: bool = key("Whether figures published for y are drawn at their points.", default=True)
    x_title: str | None = key("Title of x (default: its name).", default=None)
    y_title: str | None = key("Title of y with its unit (default: its name).", default=None)
    caption: str | None = key("Text below the chart.", default=None)


def find_chart_mistakes(
    charts: Sequence[Chart],
    axes: Mapping[str, Sequence[object]],
    labels: Sequence[str],
    answers: Mapping[str, str],
) -> list[Issue]:
    """Return the mistakes in a study's charts that their schema cannot express.

    Args:
        charts: The charts, valid by their schema.
        axes: The values of each axis, in the grid and in explicit points, by dotted path.
        answers: The name of the answers of a seek by the sought parameter.
    """
    names = _Names(axes, labels, answers)
    issues: list[Issue] = []
    titles: set[str] = set()
    for index, chart in enumerate(charts):
        checks: list[tuple[str, str, str | None]] = [
            ("x", "study.unknown-name", names.explain_unknown(chart.x, axis=True, result=True)),
            ("y", "study.unknown-name", names.explain_unknown(chart.y, axis=False, result=True)),
        ]
        if chart.by is not None:
            unknown = names.explain_unknown(chart.by, axis=True, result=False)
            checks.append(("by", "study.unknown-name", unknown))
        if chart.title in titles:
            checks.append(("title", "study.duplicate-name", "an earlier chart has this title"))
        titles.add(chart.title)
        checks += [
            (key, "study.repeated-chart-axis", "already the chart's x")
            for key in ("by", "y")
            if getattr(chart, key) == chart.x
        ]
        if chart.where is not None:
            checks.append(("where", "study.bad-sql", names.explain_condition(chart.where)))
        issues += [
            Issue(code, f"charts.{index}.{key}", message, getattr(chart, key))
            for key, code, message in checks
            if message
        ]
    return issues


class _Names:
    """The names that a chart may use: axes, labels, result columns and the answer of a seek."""

    def __init__(
        self, axes: Mapping[str, Sequence[object]], labels: Sequence[str], answers: Mapping[str, str]
    ) -> None:
        self._axes = axes
        self._labels = labels
        self._answers = answers
        self._results = [
            *answers.values(),
            *(
                field.name
                for field in engine.results_schema()
                if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
            ),
        ]

    def explain_unknown(self, name: str, *, axis: bool, result: bool) -> str | None:
        """Return why a name cannot be used where an axis or a result is allowed; None if it can."""
        axes = [*self._axes, *([LABEL] if self._labels else [])]
        if (axis and name in axes) or (result and name in self._results):
            return None
        if axis and name == LABEL:
            return "no point of this study has a label"
        if not self._answers and is_answer(name):
            return "the answer of a seek, and this study has none"
        if name in self._answers:
            return f"the sought parameter, which differs by point: use its answer {self._results[0]!r}"
        names = [*(axes if axis else []), *(self._results if result else [])]
        allowed = " or ".join(
            [
                *(["an axis of this study"] if axis else []),
                *(["a numeric result column"] if result else []),
            ]
        )
        there = f"; axes: {', '.join(axes)}" if axis else ""
        return f"must be {allowed}{suggest(name, names)}{there}"

    def explain_condition(self, where: str) -> str | None:
        """Return why a condition does not bind to the points; None if it does."""
        from destage import sql  # noqa: PLC0415 - loads duckdb, which only a condition needs

        fields = [pa.field(LABEL, pa.string()), pa.field("n", pa.int64())]
        fields += [pa.field(path, _type(path, values)) for path, values in self._axes.items()]
        fields += [
            pa.field(f"{name}{end}", pa.float64()) for name in self._results for end in ("", "_low", "_high")
        ]
        try:
            sql.filter_rows(pa.schema(fields).empty_table(), where)
        except QueryError as error:
            return error.message
        return None


def _type(path: str, values: Sequence[object]) -> pa.DataType:
    """Return the type of an axis's column; a value with a unit becomes a number."""
    if parameters.explain_unknown(path) is None and parameters.find_parameter(path).unit is not None:
        return pa.float64()
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pa.bool_()
    return pa.float64() if kinds and kinds <= {int, float} else pa.string()
