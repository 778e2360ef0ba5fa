"""Points without an answer: the exit code, the warnings, the query, and the cross in a chart."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from destage import sweeps
from destage.queries import open_session
from destage.queries.report.charts.standard_charts import build_study_charts
from destage.queries.report.reported_kinds import compose_answer
from destage.sweeps import Outcome, Study

MakeStudy = Callable[..., Study]

CAPACITY = "controller.cache.capacity"
WRITES: dict[str, Any] = {
    "workload": {
        "streams": [
            {
                "name": "writes",
                "arrival": {"kind": "poisson", "rate": "210/s"},
                "operations": {"read_fraction": 0.0, "size": {"kind": "constant", "value": "4KiB"}},
                "address": {"kind": "uniform"},
            }
        ]
    },
    "controller": {"cache": {"write_fraction": 1.0}, "battery": {"state": "present"}},
    "array": {
        "raid": "0",
        "disks": 1,
        "disk": {
            "kind": "server",
            "servers": 1,
            "service": {"kind": "constant", "value": "4ms"},
            "capacity": "100GB",
        },
    },
    "run": {"max_requests": 60_000},
}
"""A cache of 1 GiB needs 52,000 writes from its low to its high mark, and longer to destage them."""


@pytest.fixture
def outcome(make_study: MakeStudy, tmp_path: Path) -> Outcome:
    """Return a sweep of which the smaller cache is answered, and the larger one is not."""
    study = make_study(
        scenario=WRITES,
        axes={CAPACITY: ["0B", "1GiB"]},
        replicates=1,
        charts=[{"title": "Response", "x": CAPACITY, "y": "response_mean_us"}],
    )
    return sweeps.run(study, tmp_path, executor="inline")


def test_unanswered_points_are_an_exit_code(outcome: Outcome) -> None:
    assert (outcome.state, outcome.exit_code, outcome.failed) == ("unanswered", 3, 0)
    (issue,) = [one for one in outcome.messages if one.code == "sweep.unanswered"]
    assert "1GiB" in issue.place
    assert "run.max_requests" in issue.message


def test_unanswered_points_are_listed_and_drawn(outcome: Outcome) -> None:
    with open_session(outcome.path) as session:
        (row,) = session.query("unanswered").to_pylist()
        assert (row[CAPACITY], row["unsettled"]) == (2**30, "write_cache")
        assert row["requests_needed"] > 60_000
        assert any("No answer with" in sentence for sentence in compose_answer(session))
        (figure,) = build_study_charts(session)
    (panel,) = figure.chart.panels  # type: ignore[union-attr]
    crosses = [series for series in panel.series if series.style == "unanswered"]
    assert [mark.x for series in crosses for mark in series.marks] == [2**30]
    assert "no answer" in figure.chart.legend  # type: ignore[union-attr]
