"""The charts of a calibration: prior against posterior, predictions against published figures."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from destage.queries.findings.calibration_answer import (
    TABLE,
    list_missed,
)
from destage.queries.findings.prediction_values import find_scale, format_share, format_value
from destage.queries.opening.session import Session
from destage.queries.report.drawing.chart import (
    ChartGrid,
    Dot,
    DotKind,
    DotPlot,
    DotRow,
    Figure,
    LineChart,
    Mark,
    Panel,
    Series,
    SeriesStyle,
)
from destage.queries.tables.stored_analyses import name_table
from destage.queries.text.presentation import format_number
from destage.sql import quote

UNKNOWNS, PREDICTIONS = "prior_and_posterior", "predictions"
_CLASSES = 8
"""Classes of an ordered unknown, each as likely in the prior."""
_WIDE = 8.0
"""From this ratio of the ends on, an axis is logarithmic."""
_HALF, _NINE, _PUBLISHED, _RULE = "50 % interval, median", "90 % interval", "published", "baseline"
Row = Mapping[str, Any]


def build_calibration_charts(session: Session) -> list[Figure]:
    """Build the charts of a calibration that has finished."""
    return [*_build_predictions(session), *_build_unknowns(session)]


def _build_predictions(session: Session) -> Iterator[Figure]:
    """Yield a dot plot of the predictions of each kind of figure."""
    missed = list_missed(session)
    rows = [row for row in session.query(TABLE).to_pylist() if row["median"] is not None]
    by_kind = groupby(sorted(rows, key=lambda row: row["of"]), key=lambda row: (row["of"], row["unit"]))
    for number, ((of, unit), listed) in enumerate(by_kind):
        scale, shown = find_scale(unit)
        drawn = list(listed)
        ends = [row[name] for row in drawn for name in ("low_90", "high_90", "published") if row[name]]
        title = of.replace("_", " ")
        kinds = [DotKind(_HALF, "circle", "c0"), DotKind(_NINE, "ring", "c1")]
        if any(row["published"] is not None for row in drawn):
            kinds.append(DotKind(_PUBLISHED, "diamond", "published"))
        if any(row["rule_from"] is not None for row in drawn):
            kinds.append(DotKind(_RULE, "square", "c3"))
        yield Figure(
            name=PREDICTIONS if number == 0 else f"{PREDICTIONS}_{number + 1}",
            chart=DotPlot(
                title=f"Predictions: {title}",
                x_title=f"{title} [{shown}]" if shown and shown not in title else title,
                kinds=tuple(kinds),
                rows=tuple(
                    _draw_prediction(row, scale, is_missed=(row["fit"], row["figure"]) in missed)
                    for row in drawn
                ),
                x_log=bool(ends) and min(ends) > 0 and max(ends) / min(ends) > _WIDE,
                row_title="figure, fitted on",
            ),
            caption="Posterior, simulation error and the stated model discrepancy; the tolerance of a "
            "measurement is not part of a prediction. A figure that its fit has seen is marked so, and one "
            "that it does not explain as missed.",
            sql=session.write_query(TABLE),
        )


def _draw_prediction(row: Row, scale: float, *, is_missed: bool) -> DotRow:
    values = {name: None if row[name] is None else row[name] * scale for name in _NUMBERS}
    median = format_value(row, "median", "")
    ends_of = {
        share: f"{format_value(row, f'low_{share}', '')} and {format_value(row, f'high_{share}')}"
        for share in (50, 90)
    }
    half, nine = f"median {median}, half between {ends_of[50]}", f"90 % between {ends_of[90]}"
    middle = values["median"] or 0.0
    dots = [
        Dot(_NINE, middle, values["low_90"], values["high_90"], nine, lane=1, is_range=True),
        Dot(_HALF, middle, values["low_50"], values["high_50"], half, median),
    ]
    if values["rule_from"] is not None and not row["is_fitted"]:
        ends = values["rule_from"], values["rule_to"] or 0.0
        note = f"baseline: {format_number(ends[0])} to {format_number(ends[1])}"
        dots.append(Dot(_RULE, sum(ends) / 2, *ends, note, lane=2, is_range=True))
    if values["published"] is not None:
        text = f"published {format_value(row, 'published', '')}"
        dots.append(Dot(_PUBLISHED, values["published"], None, None, text, text))
    seen = ", missed" if is_missed else ", seen" if row["is_fitted"] else ""
    return DotRow(f"{row['figure']}, {row['fit']}{seen}", tuple(dots))


_NUMBERS = ("median", "low_50", "high_50", "low_90", "high_90", "published", "rule_from", "rule_to")


def _build_unknowns(session: Session) -> Iterator[Figure]:
    """Yield one figure with a chart for each unknown."""
    rows = session.query("unknowns").to_pylist()
    columns = {row["unknown"]: row["column"] for row in rows}
    drawn: list[LineChart] = []
    for unknown, column in columns.items():
        listed = [row for row in rows if row["unknown"] == unknown]
        if listed[0]["value"] is not None:
            drawn += _draw_choice(unknown, listed)
        else:
            drawn += _draw_ordered(session, unknown, column, listed[0]["unit"])
    if drawn:
        yield Figure(
            name=UNKNOWNS,
            chart=ChartGrid("What is unknown: prior and posterior", (), tuple(drawn)),
            caption="The share of each class of values. Classes of numbers are equally likely in the prior, "
            "the grey line: above it, a class became more likely.",
            sql=session.write_query("unknowns"),
        )


def _draw_choice(unknown: str, rows: Sequence[Row]) -> list[LineChart]:
    places = {value: float(place) for place, value in enumerate(dict.fromkeys(row["value"] for row in rows))}
    by_fit: dict[str, list[Mark]] = {}
    prior: dict[float, Mark] = {}
    for row in rows:
        place, share = places[row["value"]], row["prior_share"]
        prior[place] = Mark(place, 100 * share, note=f"prior: {format_share(share)}")
        if row["posterior_share"] is not None:
            note = f"{row['value']}: {format_share(row['posterior_share'])}"
            by_fit.setdefault(row["fit"], []).append(Mark(place, 100 * row["posterior_share"], note=note))
    return _make_charts(unknown, None, prior, by_fit, tuple(places))


def _draw_ordered(session: Session, unknown: str, column: str, unit: str | None) -> list[LineChart]:
    """Return the chart of a number: the weight of each fit in classes as likely in the prior."""
    name = quote(column)
    rows = session.sql(
        f"""WITH draws AS (
  SELECT fit, {name} AS value, weight, prior_weight,
    sum(prior_weight) OVER (PARTITION BY fit ORDER BY {name} RANGE UNBOUNDED PRECEDING)
      - sum(prior_weight) OVER (PARTITION BY fit, {name}) / 2 AS level
  FROM {quote(name_table("posterior"))})
SELECT fit, least(floor(level * {_CLASSES}), {_CLASSES} - 1) AS class, median(value) AS value,
  sum_of(weight) AS share, sum_of(prior_weight) AS prior
FROM draws GROUP BY fit, class ORDER BY fit, class"""  # noqa: S608 - a column of the sweep
    ).to_pylist()
    # A fit that is ruled out has no posterior.
    by_fit: dict[str, list[Mark]] = {row["fit"]: [] for row in rows if row["share"]}
    prior: dict[float, Mark] = {}
    for row in rows:
        about = format_number(float(f"{row['value']:.3g}"))
        note = f"about {about}: {format_share(row['share'] or 0.0)}"
        if row["fit"] in by_fit:
            by_fit[row["fit"]].append(Mark(float(row["value"]), 100 * (row["share"] or 0.0), note=note))
        prior[float(row["value"])] = Mark(float(row["value"]), 100 * row["prior"], note="prior")
    return _make_charts(unknown, unit, prior, by_fit, ())


def _make_charts(
    unknown: str,
    unit: str | None,
    prior: Mapping[float, Mark],
    by_fit: Mapping[str, Sequence[Mark]],
    names: tuple[str, ...],
) -> list[LineChart]:
    """Return the chart of an unknown, given its prior by value; none where every fit is ruled out."""
    if not by_fit:
        return []
    style: SeriesStyle = "scattered" if names else "line"
    xs = sorted(prior)
    series = [Series("prior", "reference", tuple(prior[x] for x in xs))]
    series += [Series(f"fitted on {fit}", style, tuple(marks)) for fit, marks in by_fit.items()]
    chart = LineChart(
        title=unknown,
        x_title=unknown,
        x_unit=unit,
        y_title="share [%]",
        panels=(Panel("", tuple(series)),),
        legend=tuple(line.name for line in series),
        x_log=not names and min(xs) > 0 and max(xs) / min(xs) > _WIDE,
        x_at_values=False,
        x_names=names,
    )
    return [chart]
