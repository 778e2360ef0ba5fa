"""The verdict on each published figure of a study: the printed number against the simulated one.

    kind          verdict
    exact         exact / not exact: equal to the printed digits, or not
    predicted     predicted / not predicted: the figure lies in the interval (or range, or tolerance), or not;
                  in a study with fitted parameters: calibrated on ..., predicts / does not predict
    calibrated    calibrated / calibrated, missed: the figure that a parameter was fitted on
    ordering      ordering holds / does not hold / undecided: the whole interval lies where it is expected,
                  elsewhere, or across the bound
    inconsistent  paper inconsistent / consistent: the paper's own figures give another number than it
                  prints, or the same
    input         input / input differs: the setting is the published one, or not

A figure whose rows are missing, or whose search ended at a bound, has `no answer`.
"""

import math
from weakref import WeakKeyDictionary

import pyarrow as pa

from destage.queries.measurement import Measurement, measure
from destage.queries.session import Session
from destage.store.published_figures import PublishedFigure, read_figures

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
"""The tables of open sessions; the rows of a session do not change while it is open."""


def judge_figures(session: Session) -> pa.Table:
    """Return a row per published figure, in the study's order."""
    if session not in _judged:
        rows = [_row(session, figure) for figure in read_figures(session.spec)]
        _judged[session] = pa.Table.from_pylist(rows, VERDICTS_SCHEMA)
    return _judged[session]


def _row(session: Session, figure: PublishedFigure) -> dict[str, object]:
    measured = measure(session, figure.quantity)
    value = figure.value
    number = None if isinstance(value, str) else float(value)
    row: dict[str, object] = {
        "figure": figure.name,
        "source": figure.source,
        "kind": figure.kind,
        "published": str(value),
        "published_value": number,
        "unit": figure.unit,
        "verdict": judge(figure, measured),
        "note": figure.note,
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
    if number and figure.kind != "ordering":
        row["error_fraction"] = _nearest(measured, number) / number - 1
    return row


def _nearest(measured: Measurement, number: float) -> float:
    """Return the mean, or of a range the value nearest to a number."""
    low, high = measured.ends
    return min(max(number, low), high) if measured.is_range else measured.mean


def judge(figure: PublishedFigure, measured: Measurement | None) -> str:
    """Return the verdict on a figure; `measured` is None where the rows do not give its quantity."""
    kind = figure.kind
    if measured is None:
        without_rows = {"inconsistent": "paper inconsistent", "input": "input"}
        return NO_ANSWER if figure.quantity else without_rows.get(kind, NO_ANSWER)
    if kind == "ordering":
        return f"ordering {_ordering(figure.bounds, measured)}"
    if kind == "predicted":
        return _prediction(figure, measured)
    if kind == "calibrated":
        return "calibrated" if _meets(figure, measured) else "calibrated, missed"
    is_alike = _prints_alike(figure, measured)
    return {
        "exact": "exact" if is_alike else "not exact",
        "inconsistent": "consistent" if is_alike else "paper inconsistent",
        "input": "input" if is_alike or isinstance(figure.value, str) else "input differs",
    }[kind]


def _prediction(figure: PublishedFigure, measured: Measurement) -> str:
    is_met = _meets(figure, measured)
    if not figure.given:
        return "predicted" if is_met else "not predicted"
    given = " and ".join(f'"{name}"' for name in figure.given)
    return f"calibrated on {given}, {'predicts' if is_met else 'does not predict'}"


def _prints_alike(figure: PublishedFigure, measured: Measurement) -> bool:
    """Whether the quantity, rounded as the figure was printed, equals it; a half may round either way."""
    value = figure.value
    if isinstance(value, str):
        return False
    unit = 10.0 ** -(_decimals(value) if figure.decimals is None else figure.decimals)
    return bool(abs(measured.mean - value) <= unit / 2 * (1 + 1e-9))


def _decimals(value: float) -> int:
    """Return the number of digits after the point of a number as it is written."""
    text = repr(value)
    return len(text.partition(".")[2]) if "." in text and not text.endswith(".0") else 0


def _meets(figure: PublishedFigure, measured: Measurement) -> bool:
    value = float(figure.value)
    low, high = measured.ends
    if figure.tolerance is not None:
        slack = abs(value) * figure.tolerance
        low, high = min(low, measured.mean - slack), max(high, measured.mean + slack)
    if figure.decimals is not None:
        # A printed figure represents every number that rounds to it.
        unit = 10.0**-figure.decimals
        low, high = low - unit / 2, high + unit / 2
    return bool(low <= value <= high or math.isclose(measured.mean, value, rel_tol=1e-9))


def _ordering(bounds: tuple[float, float], measured: Measurement) -> str:
    low, high = measured.ends
    least, most = bounds
    if least < low and high < most:
        return "holds"
    return "does not hold" if high <= least or low >= most else "undecided"
