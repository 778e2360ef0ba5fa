"""Verdicts as text: the cells of a table, and a summary."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from destage.queries.text.presentation import begin_sentence, format_estimate, format_number, format_rounded
from destage.store.schemas.figure_classes import FigureClass

HEADINGS = ("figure", "published", "simulated", "95 % prediction interval (width)", "class", "why", "source")
HEADLINE_HEADINGS = ("figure", "published", "simulated", "95 % prediction interval (width)", "class", "why")


def format_verdict(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a row of `judge_figures` as text, a cell for each of `HEADINGS`."""
    unit = "" if row["unit"] in {None, "ratio"} else row["unit"]
    published = row["published"]
    if row["published_value"] is not None:
        published = f"{published} {unit}".rstrip()
    return (
        row["figure"],
        published,
        _simulated(row, unit),
        format_interval(row),
        f"{row['class']} (not counted)" if row["follows_from"] else row["class"],
        row["why"],
        row["source"],
    )


def format_headline(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a headline as text, a cell for each of `HEADLINE_HEADINGS`: with what the figure rests on."""
    *cells, why, _ = format_verdict(row)
    return (*cells, f"{begin_sentence(why)}. {row['headline']}")


def format_interval(row: Mapping[str, Any]) -> str:
    """Return the prediction interval with its width, as in `119 to 139 (factor 1.17)`."""
    low, high, width = row["predicted_low"], row["predicted_high"], row["predicted_width"]
    if low is None:
        return ""
    ends = dict.fromkeys((format_number(low), format_number(high)))
    times = f"factor {format_rounded(width)}" if width is not None else "includes 0"
    return f"{' to '.join(ends)} ({times})"


def summarize_verdicts(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the number of figures of each class, in words.

    Inputs are not results, and a figure that follows from others of the paper is not counted beside them.
    """
    follows = [row for row in rows if row["follows_from"] or row["class"] == FigureClass.ARITHMETIC]
    rest = [row for row in rows if row not in follows]
    counts = Counter(row["class"] for row in rest)
    inputs = counts.pop(FigureClass.INPUT, 0)
    listed = ", ".join(
        f"{counts[figure_class]} {figure_class}" for figure_class in FigureClass if counts[figure_class]
    )
    left_out = [
        f"{len(follows)} that follow{'s' if len(follows) == 1 else ''} from others" if follows else "",
        f"{inputs} input{'' if inputs == 1 else 's'}" if inputs else "",
    ]
    beside = " and ".join(filter(None, left_out))
    count = counts.total()
    plural = "" if count == 1 else "s"
    text = f"{count} published figure{plural}: {listed}" if count else "no published figure compared"
    return f"{text} (beside {beside})" if beside else text


def _simulated(row: Mapping[str, Any], unit: str) -> str:
    mean, low, high = row["simulated"], row["simulated_low"], row["simulated_high"]
    if mean is None:
        return ""
    if row["is_range"]:
        ends = dict.fromkeys((format_number(low), format_number(high)))
        return f"{' to '.join(ends)} {unit}".rstrip()
    return format_estimate(mean, low, high, unit)
