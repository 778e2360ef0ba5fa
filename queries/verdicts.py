"""The verdict of each published figure of a study: what was printed, what came out, and what follows.

    kind          verdict
    exact         exact / not exact: equal to the printed digits, or not
    predicted     predicted / not predicted: the figure lies in the interval (or range, or tolerance), or not;
                  in a study with fitted parameters: calibrated on ..., predicts / does not predict
    calibrated    calibrated / calibrated, missed: the figure that something was fitted on
    ordering      ordering holds / does not hold / undecided: the whole interval where it is expected, or
                  elsewhere, or across the bound
    inconsistent  paper inconsistent / consistent: what follows from the paper's own figures differs from
                  what it prints, or does not
    input         input / input differs: put in as published, or not

A figure whose rows are missing, or whose search ended at a bound, has `no answer`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa

from destage.queries.measuring import Measured, measure
from destage.queries.session import Session

VERDICTS_SCHEMA = pa.schema(
    [
        pa.field("figure", pa.string()),
        pa.field("source", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("published", pa.string()),
        pa.field("published_value", pa.float64()),
        pa.field("unit", pa.string()),
        pa.field("simulated", pa.float64()),
        pa.field("simulated_low", pa.float64()),
        pa.field("simulated_high", pa.float64()),
        pa.field("is_range", pa.bool_()),
        pa.field("replicates", pa.int64()),
        pa.field("error_fraction", pa.float64()),
        pa.field("verdict", pa.string()),
        pa.field("note", pa.string()),
    ]
)
NO_ANSWER = "no answer"
_judged: "WeakKeyDictionary[Session, pa.Table]" = WeakKeyDictionary()
"""The tables of open sessions, whose rows stay as they were when they were opened."""


def verdict_table(session: Session) -> pa.Table:
    """Return a row per published figure, in the study's order.

    Args:
        session: The sweep.

    Raises:
        QueryError: A figure's expression does not bind.
    """
    if session not in _judged:
        fitted = [entry["on"] for entry in session.spec.get("fitted", [])]
        rows = [_row(session, figure, fitted) for figure in session.spec.get("published", [])]
        _judged[session] = pa.Table.from_pylist(rows, VERDICTS_SCHEMA)
    return _judged[session]


def _row(session: Session, figure: Mapping[str, Any], fitted: Sequence[str]) -> dict[str, object]:
    measured = measure(session, figure)
    value = figure["value"]
    number = None if isinstance(value, str) else float(value)
    row: dict[str, object] = {
        "figure": figure.get("figure") or f"{figure.get('metric')} {value}",
        "source": figure["source"],
        "kind": figure["kind"],
        "published": str(value),
        "published_value": number,
        "unit": figure.get("unit"),
        "verdict": verdict(figure, measured, fitted),
        "note": figure.get("note"),
        "is_range": False,
    }
    if measured is None:
        return row
    row |= {
        "simulated": measured.mean,
        "simulated_low": measured.low,
        "simulated_high": measured.high,
        "is_range": measured.is_range,
        "replicates": measured.count,
    }
    if number and figure["kind"] != "ordering":
        row["error_fraction"] = _nearest(measured, number) / number - 1
    return row


def _nearest(measured: Measured, number: float) -> float:
    """Return the mean, or of a range the value nearest to a number."""
    low, high = measured.ends
    return min(max(number, low), high) if measured.is_range else measured.mean


def verdict(figure: Mapping[str, Any], measured: Measured | None, fitted: Sequence[str] = ()) -> str:
    """Return what follows for a figure.

    Args:
        figure: An entry of a study's `published`.
        measured: Its quantity as the rows give it; None where there is none.
        fitted: The figures of the study that something was fitted on.
    """
    kind = figure["kind"]
    if measured is None:
        is_told = "compute" not in figure and "point" not in figure
        return {"inconsistent": "paper inconsistent", "input": "input"}[kind] if is_told else NO_ANSWER
    if kind == "ordering":
        return f"ordering {_ordering(figure['expect'], measured)}"
    if kind == "predicted":
        return _prediction(figure, measured, fitted)
    if kind == "calibrated":
        return "calibrated" if _meets(figure, measured) else "calibrated, missed"
    is_alike = _prints_alike(figure, measured)
    return {
        "exact": "exact" if is_alike else "not exact",
        "inconsistent": "consistent" if is_alike else "paper inconsistent",
        "input": "input" if is_alike or isinstance(figure["value"], str) else "input differs",
    }[str(kind)]


def _prediction(figure: Mapping[str, Any], measured: Measured, fitted: Sequence[str]) -> str:
    is_met = _meets(figure, measured)
    given = list(dict.fromkeys(figure.get("given", fitted)))
    if not given:
        return "predicted" if is_met else "not predicted"
    return f"calibrated on {' and '.join(given)}, {'predicts' if is_met else 'does not predict'}"


def _prints_alike(figure: Mapping[str, Any], measured: Measured) -> bool:
    """Whether the quantity, rounded as the figure was printed, is the figure; a half may go either way."""
    value = figure["value"]
    if isinstance(value, str):
        return False
    unit = 10.0 ** -figure.get("decimals", _decimals(value))
    return bool(abs(measured.mean - value) <= unit / 2 * (1 + 1e-9))


def _decimals(value: object) -> int:
    """Return how many digits after the point a number has as it is written."""
    text = repr(value)
    return len(text.partition(".")[2]) if "." in text and not text.endswith(".0") else 0


def _meets(figure: Mapping[str, Any], measured: Measured) -> bool:
    value = float(figure["value"])
    low, high = measured.ends
    if "tolerance" in figure:
        slack = abs(value) * figure["tolerance"]
        low, high = min(low, measured.mean - slack), max(high, measured.mean + slack)
    if "decimals" in figure:
        # A printed figure stands for all that rounds to it.
        unit = 10.0 ** -figure["decimals"]
        low, high = low - unit / 2, high + unit / 2
    return bool(low <= value <= high or math.isclose(measured.mean, value, rel_tol=1e-9))


def _ordering(expect: Mapping[str, Any], measured: Measured) -> str:
    low, high = measured.ends
    least, most = expect.get("between", (expect.get("above", -math.inf), expect.get("below", math.inf)))
    if least < low and high < most:
        return "holds"
    return "does not hold" if high <= least or low >= most else "undecided"
