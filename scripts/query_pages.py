"""The generated page of the relations, named queries and figures of a sweep."""

from destage.measured.sets import describe_columns
from destage.queries.named.column_meanings import FIXED, RELATIONS
from destage.queries.named.named_queries import NamedQuery, list_queries
from destage.queries.report.charts.standard_charts import STANDARD_CHARTS
from destage.queries.report.figures import FIGURES

_GENERATED = (
    "<!-- Written by scripts/generate_docs.py from queries/named/column_meanings.py, queries/sql/ and "
    "queries/report/; edit those. -->\n"
)
_INTRODUCTION = """\
`destage query SWEEP` reads these relations; `SHOW TABLES` lists them, and `DESCRIBE NAME` explains each
column of one. Their columns are the axes by their names in SQL (the relation `axes` has name and path),
the [result columns](columns.md), and those below. `x_low` and `x_high` are the ends of the 95 % interval
of `x`. The answers of a seek have the name of what is sought: `users_supported`, `users_supported_low`.
"""
_MEASURED = """\
The columns of `measured`, which `destage measured import` fills ([Results that you
measured](../measured-figures.md)). Figures that the tool does not report are null."""
_NAMED = """\
`destage query SWEEP NAME` runs a named query; `--param NAME=VALUE` sets a parameter. In SQL, a
named query is a relation with its parameters at their defaults: `SELECT * FROM knee`. A parameter of the
unit *column* takes the name of an axis or of a result column, or `result`: the answer of a seek, the
completion time of a replay, or the 95th percentile of response times. In the tables below, `{of}` stands
for the column that the parameter `of` names; `{x}`, `{cost}` and `{risk}` likewise. Loads, rates and hit
ratios are better if they are larger, all other results if they are smaller. Differences and ratios are
computed within each replicate, in which all points use the same random numbers; intervals are computed
over replicates."""
_FIGURES = """\
`destage report SWEEP --plot FIGURE` writes one of these figures as SVG; the report has all that the rows
of the sweep fill. A chart of the study's own `charts` has the words of its title as its name. In place of
the standard charts, a finished calibration has the figures `predictions` and `prior_and_posterior`."""
_KINDS = {
    "any": "all studies",
    "seek": "studies that seek a value",
    "minimum": "studies that seek the smallest value",
    "replay": "studies that replay a trace",
    "fixed": "studies that do not seek",
}


def queries_page() -> str:
    """Return the page of relations, their columns, named queries and figures."""
    lines = [
        "# Relations and named queries",
        "",
        _GENERATED,
        _INTRODUCTION,
        "| relation | rows |",
        "|---|---|",
        *(f"| `{name}` | {rows} |" for name, rows in RELATIONS.items()),
        "",
        "| column | unit | meaning |",
        "|---|---|---|",
        *(f"| `{name}` | {unit or '-'} | {meaning} |" for name, (unit, meaning) in FIXED.items()),
        "",
        "## Measured figures",
        "",
        _MEASURED,
        "",
        "| column | unit | meaning |",
        "|---|---|---|",
        *(
            f"| `{name}` | {unit or '-'} | {meaning} |"
            for name, (unit, meaning) in describe_columns().items()
        ),
        "",
        "## Named queries",
        "",
        _NAMED,
    ]
    for query in list_queries():
        lines += ["", *_describe(query)]
    lines += ["", "## Figures of a report", "", _FIGURES, "", "| figure | of | shows |", "|---|---|---|"]
    for chart in STANDARD_CHARTS:
        title = chart.request.title.format(x="cache size or another axis")
        lines.append(
            f"| `{chart.request.name}` | {_KINDS[chart.studies]} | {title}. {chart.request.caption} |"
        )
    lines += [f"| `{figure.name}` | all studies | {figure.meaning} |" for figure in FIGURES]
    return "\n".join([*lines, ""])


def _describe(query: NamedQuery) -> list[str]:
    lines = [f"### {query.name} ({_KINDS[query.studies]})", "", query.purpose, "", f"Rows: {query.row}."]
    if query.axes:
        lines += ["", f"Needs the axis {', '.join(f'`{path}`' for path in query.axes)}."]
    if query.settings:
        settings = ", ".join(f"`{path}`" for path in query.settings)
        lines += ["", f"Needs one value of each in the scenario, or an axis: {settings}."]
    if query.parameters:
        lines += ["", "| parameter | unit | default | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{each.name}` | {each.unit or '-'} | `{_number(each.default)}` | {each.meaning} |"
            for each in query.parameters
        ]
    if query.columns:
        lines += ["", "| column | unit | meaning |", "|---|---|---|"]
        lines += [f"| `{each.name}` | {each.unit or '-'} | {each.meaning} |" for each in query.columns]
    return lines


def _number(value: float | str) -> str:
    return f"{value:g}" if isinstance(value, float) else value
