"""A sweep's time is estimated from stored or pilot runs, as a range that a completed sweep is in."""

from pathlib import Path
from typing import Any

import pytest
from tests.small_studies import small_study

from destage import sweeps
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.stored_rows import read_rows
from destage.sweeps import Progress, parse_study, sweep_path
from destage.sweeps.execution import time_estimate
from destage.sweeps.execution.time_estimate import TimeEstimate, estimate_time
from destage.sweeps.reading.expansion import expand
from destage.sweeps.rounds.forecast import (
    NO_MORE,
    Forecast,
    LeastProgress,
    PointProgress,
    add_points,
    combine_factors,
    forecast_least,
    forecast_runs,
)
from destage.sweeps.rounds.planner import Planner


def search(planned: int, *, has_result: bool = False, replicates: int = 5, most: int = 5) -> PointProgress:
    return PointProgress(planned, 5, replicates, most, seeks=True, has_result=has_result)


def test_a_fresh_search_takes_scouts_and_two_values_of_all_replicates() -> None:
    """4 + 2 x 5 runs for each of 26 points, of which one is planned."""
    forecast = forecast_runs([search(1)] * 26)
    assert forecast.runs == 26 * 13
    assert forecast.low + 26 < 369 < forecast.high + 26


def test_finished_points_tell_what_the_others_take() -> None:
    """Five points took 20 runs each: the sixth, with 7, has 13 to go."""
    forecast = forecast_runs([search(20, has_result=True)] * 5 + [search(7)])
    assert forecast == Forecast(13.0, 1.2)


def test_a_search_that_goes_on_has_at_least_one_more_value() -> None:
    assert forecast_runs([search(40)]).runs == 5


def test_a_finished_sweep_has_no_more_runs() -> None:
    assert forecast_runs([search(14, has_result=True)] * 3) == NO_MORE
    assert forecast_runs([]) == NO_MORE


def test_searches_for_the_smallest_value_have_a_forecast_of_their_own() -> None:
    """Four values are two halvings: 8.4 runs of 3 replicates; one of three points is to be found."""
    tried = LeastProgress(3, 4, has_result=False)
    assert forecast_least([tried] * 3, 3, 1).runs == pytest.approx(2 / 3 * 3 * 8.4 - 9)
    assert forecast_least([tried] * 3, 3, None).runs == pytest.approx(3 * 5.4)
    ended = LeastProgress(3, 4, has_result=True)
    assert forecast_least([ended, tried], 3, None).runs == pytest.approx(5.4)
    assert forecast_least([ended] * 3, 3, 1) == forecast_least([ended], 3, None) == NO_MORE


def test_replicates_that_may_follow_count_in_part() -> None:
    point = PointProgress(3, 3, 3, 11, seeks=False, has_result=False)
    assert 0 < forecast_runs([point]).runs < 8


def test_independent_factors_combine_by_their_logarithms() -> None:
    assert combine_factors(2.0) == pytest.approx(2.0)
    assert 2.0 < combine_factors(2.0, 1.5) < 3.0


def estimate(study: sweeps.Study, sweep: Path, workers: int | None = None) -> TimeEstimate:
    planner = Planner(study, expand(study))
    first = planner.next_round({})
    assert first is not None
    return estimate_time(study, planner, first, sweep, workers=workers)


def make_study(**keys: Any) -> sweeps.Study:
    return parse_study(small_study("timed", "workload.users: [5, 10, 20, 40]", **keys))


def test_stored_runs_are_preferred_to_a_pilot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study(replicates=3)
    path = sweep_path(study, tmp_path)
    pilot = estimate(study, path)
    assert (pilot.runs_low, pilot.runs_high, pilot.basis, pilot.samples) == (12, 12, "pilot runs", 8)
    assert not path.exists()
    sweeps.run(study, tmp_path, executor="inline")
    monkeypatch.setattr(time_estimate, "_run_pilot", lambda *_: pytest.fail("no pilot is needed"))
    done = estimate(study, path)
    assert (done.basis, done.runs_high, done.high_s) == ("nothing left", 0, 0.0)
    more = make_study(replicates=5)
    assert sweep_path(more, tmp_path) == path
    rest = estimate(more, path)
    assert (rest.basis, rest.runs_low, rest.samples) == ("stored runs", 8, 12)
    other = parse_study(small_study("timed", "workload.users: [5, 10]", replicates=2, requests=700))
    fresh = estimate(other, sweep_path(other, tmp_path))
    assert (fresh.basis, fresh.samples) == ("stored runs of the same study", 12)


def test_a_completed_sweep_is_within_its_estimate(tmp_path: Path) -> None:
    """The time is that of its stored runs, as another load of the machine would shift the session's."""
    study = make_study(replicates=4)
    sweeps.run(study, tmp_path, executor="inline", workers=1)
    rows = read_rows(SweepLayout(sweep_path(study, tmp_path)), ["prov_engine_s"])
    took = sum(rows["prov_engine_s"].to_pylist())
    again = parse_study(small_study("timed", "workload.users: [5, 10, 20, 40]", replicates=4, requests=301))
    expected = estimate(again, sweep_path(again, tmp_path), workers=1)
    assert expected.basis == "stored runs of the same study"
    assert expected.low_s < took < expected.high_s


def test_the_eta_covers_rounds_that_are_not_planned_yet(tmp_path: Path) -> None:
    """While a round is nearly done, the time left is that of the rounds to come."""
    study = parse_study(
        small_study("sought", "array.disks: [4, 5, 6, 8]", replicates=2)
        + 'seek: {maximize: workload.users, subject_to: ["response_p95 <= 30ms"], start: 8, max: 64}\n'
    )
    seen: list[Progress] = []
    outcome = sweeps.run(study, tmp_path, executor="inline", workers=1, progress=seen.append)
    ends = [one for one in seen if one.phase == "run" and one.done == one.planned and one.rate > 0]
    early = [one for one in ends if one.done < outcome.runs]
    assert early
    for one in early:
        assert one.eta_s is not None
        assert one.eta_s * one.rate >= 1
        assert one.eta_high_s is not None
        assert one.eta_high_s > one.eta_s


def test_added_points_are_counted_up_to_their_most() -> None:
    """Two runs a point: 100 are expected, 400 are possible."""
    forecast = add_points(NO_MORE, (50, 200), [2, 2, 2])
    assert (forecast.runs, forecast.high) == (100, 400)
    assert add_points(NO_MORE, (50, 50), [2]).high == 140
    assert add_points(NO_MORE, (0, 0), [2]) == NO_MORE
