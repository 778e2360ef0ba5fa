"""A window ten times longer does not change the users supported."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from destage import sweeps
from destage.store import open_sweep
from destage.sweeps import studies
from destage.sweeps.seek.intervals import t_interval


def _answers(
    point: dict[str, object], start: int, run: dict[str, object], store: Path
) -> tuple[list[float], float]:
    """Seek at one point of the call-centre study; return the replicates' answers and the requests per run."""
    document: dict[str, Any] = copy.deepcopy(dict(studies.load("call_center").document))
    document["points"] = [point]
    document["scenario"]["run"] = run
    document["seek"]["start"] = start
    document["seek"].pop("limits")
    document["replicates"] = 20
    for key in ("axes", "where", "places", "published", "fitted", "answer", "charts"):
        document.pop(key, None)
    outcome = sweeps.run(sweeps.parse_study(yaml.safe_dump(document)), store, executor="inline")
    sweep = open_sweep(outcome.path)
    requests = sweep.rows()["requests"].to_pylist()
    (answer,) = sweep.answers().to_pylist()
    return answer["answers"], sum(requests) / len(requests)


@pytest.mark.long
@pytest.mark.parametrize(
    ("point", "start"),
    [
        pytest.param({"controller.use": "smart_array_5i"}, 39, id="no write cache"),
        pytest.param({"controller.cache.capacity": "64MiB"}, 150, id="64 MiB", marks=pytest.mark.chaos),
    ],
)
def test_a_ten_times_longer_window_gives_the_same_users(
    point: dict[str, object], start: int, tmp_path: Path
) -> None:
    quick, requests = _answers(point, start, {}, tmp_path / "quick")
    window = {"window": {"requests": round(10 * requests)}, "max_requests": 20_000_000}
    long, more = _answers(point, start, window, tmp_path / "long")
    assert more == pytest.approx(10 * requests, rel=0.01)
    # Replicates share their random streams, so they are compared pairwise.
    difference = t_interval([after - before for before, after in zip(quick, long, strict=True)])
    assert difference.mean is not None
    assert difference.half_width is not None
    assert abs(difference.mean) <= max(difference.half_width, 1.0)
