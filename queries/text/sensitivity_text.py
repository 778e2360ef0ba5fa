"""Sensitivity tables as people read them: sentences, and a table with the names of axes."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from destage.queries.text.presentation import (
    CONFIDENCE,
    begin_sentence,
    find_scale,
    format_count,
    format_rounded,
    split_title,
    title_axis,
)

Row = Mapping[str, Any]
NEGLIGIBLE = 0.01
"""Total share of the variance below which an axis does not matter."""
_MOST_NAMED = 3
_METHODS = {
    "factorial": "analysis of variance of the full grid",
    "saltelli": "Sobol indices of the Saltelli design",
    "morris": "elementary effects of the Morris design",
    "given_data": "first-order indices from the points as they are; axes that vary together share an effect, "
    "and total indices are unknown",
}
_INDICES = ("first_order", "total_order", "mu", "mu_star", "sigma")
_EFFECTS = ("mu", "mu_star", "sigma")


def choose_main(rows: Sequence[Row]) -> str:
    """Return the column that axes are ranked by."""
    return next(
        (name for name in ("total_order", "mu_star") if any(row[name] is not None for row in rows)),
        "first_order",
    )


def has_shares(rows: Sequence[Row]) -> bool:
    """Whether any axis has a share or an effect; none has where the result is the same at all points."""
    return any(row[choose_main(rows)] is not None for row in rows)


def describe_sensitivity(rows: Sequence[Row]) -> list[str]:
    """Return what the rows of one result say, in sentences."""
    main = choose_main(rows)
    ranked = sorted((row for row in rows if row[main] is not None), key=lambda row: row[main], reverse=True)
    result = split_title(rows[0]["metric"])[0]
    if not ranked:
        points = format_count(rows[0]["points"], "point")
        if rows[0]["deviation"]:
            return [f"Too few points for a share of an axis in {result}: {points}."]
        return [f"{begin_sentence(result)} is the same at all {points}: no axis matters."]
    first, *others = ranked
    if main == "mu_star":
        sentences = [f"What matters most for {result}: {title_axis(first['axis'])}, {_effect(first)}."]
        sentences += [
            f"{begin_sentence(title_axis(row['axis']))}: {_effect(row)}." for row in others[:_MOST_NAMED]
        ]
        return sentences
    sentences = [f"What matters most for {result}: {title_axis(first['axis'])}, {_share(first)}."]
    telling = [row for row in others if row[main] >= NEGLIGIBLE]
    sentences += [
        f"{begin_sentence(title_axis(row['axis']))}: {_share(row)}." for row in telling[:_MOST_NAMED]
    ]
    small = [_name_small(row, main) for row in others if row not in telling]
    if small:
        sentences.append(f"No effect shown, or below 1 %: {', '.join(small)}.")
    return sentences


def _name_small(row: Row, main: str) -> str:
    """Return an axis without a share, with the largest one that its interval allows."""
    high = row[f"{main}_high"]
    allowed = "" if high is None or high < NEGLIGIBLE else f" (at most {_value(high)} %)"
    return f"{title_axis(row['axis'])}{allowed}"


def describe_method(rows: Sequence[Row]) -> str:
    """Return how the rows of one result were computed and what their intervals cover."""
    row = rows[0]
    points, replicates = format_count(row["points"], "point"), format_count(row["n"], "replicate")
    parts = [f"{_METHODS[row['method']]}: {points}, {replicates}"]
    if row["covers"] is not None:
        over = {"sampling": "the choice of points", "replicates": "replicates"}
        covered = " and ".join(over[part] for part in row["covers"].split(" and "))
        parts.append(f"95 % intervals over {covered}")
    else:
        parts.append("one replicate: no intervals")
    if row["excluded"]:
        parts.append(f"{format_count(row['excluded'], 'point')} left out")
    if row["bounds"]:
        counted = format_count(row["bounds"], "answer")
        parts.append(
            f"{counted} {'is' if row['bounds'] == 1 else 'are'} only a bound, which is used as the value"
        )
    return "; ".join(parts)


def tabulate_axes(rows: Sequence[Row]) -> pa.Table:
    """Return a table of one result for people: names of axes, and effects in the unit of the result."""
    metric = rows[0]["metric"]
    suffix = f"_{metric.rpartition('_')[2]}" if split_title(metric)[1] else ""
    columns: dict[str, list[object]] = {"axis": [title_axis(row["axis"]) for row in rows]}
    for name in _INDICES:
        if any(row[name] is not None for row in rows):
            is_effect = name in _EFFECTS
            for end in ("", "_low", "_high"):
                if f"{name}{end}" in rows[0]:
                    columns[f"{name}{suffix if is_effect else ''}{end}"] = [
                        _round(row[f"{name}{end}"], is_effect=is_effect) for row in rows
                    ]
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _round(value: float | None, *, is_effect: bool) -> float | None:
    if value is None:
        return None
    return float(f"{value:.3g}") if is_effect else round(value, 3) + 0.0


def _share(row: Row) -> str:
    """Return the share of an axis in words, as in `61 % of the variance (95 % CI 58 to 64)`."""
    first = _percent(row, "first_order")
    if row["total_order"] is None:
        return f"{first} of the variance"
    return f"{_percent(row, 'total_order')} of the variance, {_value(row['first_order'])} % alone"


def _percent(row: Row, name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    text = f"{_value(row[name])} %"
    return text if low is None else f"{text} ({CONFIDENCE} {_value(low)} to {_value(high)})"


def _value(share: float) -> str:
    """Return a share [%] in two digits, or whole per cents, without a sign where it is below 0 by chance."""
    percent = max(share, 0.0) * 100
    return format_rounded(percent, max(2, len(f"{percent:.0f}")))


def _effect(row: Row) -> str:
    """Return the mean size of the effect of an axis in words."""
    metric = row["metric"]
    scale, unit = find_scale(metric), split_title(metric)[1]

    def text(value: float) -> str:
        return format_rounded(value * scale)

    low, high = row["mu_star_low"], row["mu_star_high"]
    interval = "" if low is None else f" ({CONFIDENCE} {text(max(low, 0.0))} to {text(high)})"
    return f"{text(row['mu_star'])} {unit}".rstrip() + f" over its range, on average{interval}"
