"""Intervals that stay wider than a study asks for, without a search."""

from typing import Any

import pyarrow as pa
import pytest

from destage.queries import Session
from destage.queries.report.reported_kinds import compose_answer, find_reported
from destage.queries.report.sentences.target_widths import TargetWidths, count_results

CAPACITY = "controller.cache.capacity"


def make(make_session: Any, responses: dict[int, list[float]], **spec: Any) -> Session:
    """Return a sweep with the responses of each point's replicates [us]."""
    runs = [
        {
            "point_id": f"p{point}",
            "replicate": replicate,
            "run_id": f"{point}-{replicate}",
            CAPACITY: point,
            "response_p95_us": response,
            "throughput_iops": 100.0,
        }
        for point, each in responses.items()
        for replicate, response in enumerate(each)
    ]
    session: Session = make_session(runs, axes={CAPACITY: pa.int64()}, finished=True, **spec)
    return session


def until(relative: float, metric: str = "response_p95") -> dict[str, Any]:
    return {"min": 2, "max": 3, "until": {"interval_of": metric, "relative": relative}}


# Of 9 and 11, the mean is 10 and the half-width 12.706 x 1; of 10 and 10.002, 0.0127.
WIDE, NARROW = [9_000.0, 11_000.0], [10_000.0, 10_002.0]


def test_missed_widths_are_counted_and_said(make_session: Any) -> None:
    session = make(make_session, {0: WIDE, 1: NARROW, 2: [8_000.0]}, replicates=until(0.01))
    widths = count_results(session)
    assert (widths.measured, widths.unmet) == (3, 2)
    assert widths.widest == pytest.approx(1.2706, rel=1e-4)
    answer = compose_answer(session)
    assert answer[0].startswith("Fastest: response p95 of 8 ms ")
    assert answer[1].startswith("Slowest: response p95 of 10 ms (95 % CI 9.988 to 10.01) ")
    (sentence,) = [sentence for sentence in answer if "target width" in sentence]
    assert sentence.startswith("2 points missed the target width, the widest ± 127.1 %, with up to 3 ")
    assert find_reported(session).describe_intervals()[0][1].startswith("2 of 3 points missed")


@pytest.mark.parametrize(
    ("replicates", "widths", "text"),
    [
        (until(1.3), TargetWidths(1, 0, None), "1 of 1 points within the target width"),
        (until(1.3, "response_p95_us"), TargetWidths(1, 0, None), "1 of 1 points within the target width"),
        (until(0.1, "throughput_iops"), TargetWidths(1, 0, None), "1 of 1 points within the target width"),
        ({"min": 2, "max": 3}, TargetWidths(0, 0, None), None),
        (2, TargetWidths(0, 0, None), None),
    ],
)
def test_widths_that_are_met_or_not_asked_for(
    make_session: Any, replicates: Any, widths: TargetWidths, text: str | None
) -> None:
    session = make(make_session, {0: WIDE}, replicates=replicates)
    assert count_results(session) == widths
    assert not any("target width" in sentence for sentence in compose_answer(session))
    assert find_reported(session).describe_intervals() == ([] if text is None else [("intervals", text)])
