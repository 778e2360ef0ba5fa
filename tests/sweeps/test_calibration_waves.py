"""A calibration's waves: pure functions of the rows, the same on Ray, right on the real engine."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from destage import sweeps
from destage.errors import ConfigError
from destage.store import open_sweep
from destage.sweeps import Study
from destage.sweeps.points.point_results import Facts
from destage.sweeps.reading.expansion import expand
from destage.sweeps.rounds.planner import Planner

MakeStudy = Callable[..., Study]
Row = Mapping[str, Any]
SERVICE, RATE = "array.disk.service.mean", "workload.streams.0.arrival.rate"
DISKS, USERS = "array.disks", "workload.users"


@pytest.fixture
def queue(document: dict[str, Any]) -> dict[str, Any]:
    """Return a calibration of one disk with exponential service, from its response at half the load.

    At 100 requests/s on two disks, a mean service of 5 ms gives 5 / (1 - 50 * 0.005) = 6.67 ms.
    """
    document["scenario"]["workload"] = {
        "streams": [
            {
                "name": "orders",
                "arrival": {"kind": "poisson", "rate": 100},
                "operations": {"read_fraction": 0.5, "size": {"kind": "constant", "value": 8192}},
                "address": {"kind": "uniform"},
            }
        ]
    }
    document["calibrate"] = {
        "unknowns": {SERVICE: {"log_uniform": [1_000_000, 15_000_000]}},
        "figures": {
            "at 100": {"set": {RATE: 100}, "of": "response_mean", "value": 6667, "tolerance": "3%"},
            "at 200": {"set": {RATE: 200}, "of": "response_mean", "odds": ["response_mean <= 15ms"]},
        },
        "discrepancy": "3%",
        "waves": {"points": 16, "most": 3, "effective": 1000},
    }
    return document


def _play(study: Study, judge: Callable[[Row], Facts]) -> tuple[Planner, dict[str, Facts], list[pa.Table]]:
    planner, rows, tables = Planner(study, expand(study)), dict[str, Facts](), []
    while (table := planner.next_round(rows)) is not None:
        tables.append(table)
        rows |= {run["run_id"]: judge(run) for run in table.to_pylist()}
    return planner, rows, tables


def _respond(run: Row) -> Facts:
    service_s, load = run[SERVICE] / 1e9, run[RATE] / 2
    if service_s * load >= 1:
        return Facts("overloaded", {"response_mean_us": None, "events": 1.0})
    noise = 1 + 0.01 * (-1) ** run["replicate"]
    return Facts("ok", {"response_mean_us": 1e6 * noise * service_s / (1 - service_s * load), "events": 1.0})


@pytest.mark.usefixtures("queue")
def test_a_replay_takes_the_same_way(make_study: MakeStudy) -> None:
    study = make_study()
    _, rows, tables = _play(study, _respond)
    planner, known = Planner(study, expand(study)), dict[str, Facts]()
    for table in tables:
        again = planner.next_round(known)
        assert again is not None
        assert again.equals(table)
        known |= {run: rows[run] for run in table["run_id"].to_pylist()}
    assert planner.next_round(known) is None


@pytest.mark.usefixtures("queue")
def test_predictions_are_run_only_for_draws_that_are_left(make_study: MakeStudy) -> None:
    study = make_study()
    planner, _, tables = _play(study, _respond)
    draws = planner.tabulate_analyses()["posterior"].to_pylist()
    assert len(draws) == 3 * 16
    assert len(tables) == 6
    for draw in draws:
        assert (draw["at 200: response_mean"] is None) <= draw["is_ruled_out"]
        assert draw["is_ruled_out"] == (draw["implausibility"] is None or draw["implausibility"] > 3)
        assert (draw["weight"] > 0) <= (not draw["is_ruled_out"])
    run = {(row[RATE], row[SERVICE]) for table in tables for row in table.to_pylist()}
    left = {draw["service_mean"] for draw in draws if not draw["is_ruled_out"]}
    assert {service for rate, service in run if rate == 200} == left


def test_waves_end_when_the_draws_are_worth_enough(queue: dict[str, Any], make_study: MakeStudy) -> None:
    queue["calibrate"]["waves"]["effective"] = 1
    _, _, tables = _play(make_study(), _respond)
    assert len(tables) == 2


@pytest.mark.usefixtures("queue")
def test_an_array_that_carries_no_load_is_ruled_out(make_study: MakeStudy) -> None:
    study = make_study()
    planner, _, _ = _play(study, lambda _: Facts("overloaded", {"events": 1.0}))
    (row,) = planner.tabulate_analyses()["calibration"].to_pylist()
    assert row["is_ruled_out"]
    assert row["smallest_implausibility"] is None
    assert row["waves"] == 1


@pytest.mark.parametrize(("factor", "waves"), [(100, 1), (1 / 100, 1), (1, 3)])
def test_figures_out_of_reach_end_the_waves(
    queue: dict[str, Any], make_study: MakeStudy, factor: float, waves: int
) -> None:
    """Draws answer at 100 requests/s in 1 to 60 ms."""
    queue["calibrate"]["figures"]["at 100"]["value"] = 6667 * factor
    queue["calibrate"]["figures"]["at 50"] = ODD["at 50"] | {"value": 5714 * factor}
    planner, _, _ = _play(make_study(), _respond)
    analyses = planner.tabulate_analyses()
    (fit,) = analyses["calibration"].to_pylist()
    is_far = factor != 1
    assert (fit["waves"], fit["is_ruled_out"], fit["is_hopeless"]) == (waves, is_far, is_far)
    for missed in analyses["missed_figures"].to_pylist():
        assert max(missed["nearest"] / missed["measured"], missed["measured"] / missed["nearest"]) > 5


ODD = {
    "at 50": {"set": {RATE: 50}, "of": "response_mean", "value": 5714, "tolerance": "3%"},
    "at 20": {"set": {RATE: 20}, "of": "response_mean", "value": 90_000, "tolerance": "3%"},
}
"""A service time of 5 ms answers in 5.71 ms at an eighth of the load; no answer is slow at a twentieth."""


def test_more_waves_learn_from_the_figures_that_can_be_explained(
    queue: dict[str, Any], make_study: MakeStudy
) -> None:
    queue["calibrate"]["figures"] |= ODD
    study = make_study()
    planner, rows, tables = _play(study, _respond)
    analyses = planner.tabulate_analyses()
    (fit,) = analyses["calibration"].to_pylist()
    assert (fit["waves"], fit["is_ruled_out"]) == (6, False)
    (missed,) = analyses["missed_figures"].to_pylist()
    assert missed["figure"] == "at 20"
    assert missed["low_90"] < 5263 < missed["high_90"]
    (service,) = analyses["unknowns"].to_pylist()
    assert service["posterior_q05"] < 5_000_000 < service["posterior_q95"]
    draws = analyses["posterior"].to_pylist()
    left = {draw["service_mean"] for draw in draws if not draw["is_ruled_out"]}
    assert len(left) > 3 * 16
    run = {(row[RATE], row[SERVICE]) for table in tables for row in table.to_pylist()}
    assert {service for rate, service in run if rate == 200} == left
    planner, known = Planner(study, expand(study)), dict[str, Facts]()
    for table in tables:
        again = planner.next_round(known)
        assert again is not None
        assert again.equals(table)
        known |= {run: rows[run] for run in table["run_id"].to_pylist()}


def test_the_forecast_counts_the_waves_of_a_missed_figure(
    queue: dict[str, Any], make_study: MakeStudy
) -> None:
    """The first wave is followed by two for each of four figures, and by five where a figure is missed."""
    queue["calibrate"]["figures"] |= ODD
    study = make_study()
    planner = Planner(study, expand(study))
    table = planner.next_round({})
    assert table is not None
    forecast = planner.forecast()
    _, rows, _ = _play(study, _respond)
    assert forecast.runs < len(rows) - table.num_rows <= forecast.high


def test_the_waves_of_figures_that_are_explained_are_not_continued(
    queue: dict[str, Any], make_study: MakeStudy
) -> None:
    queue["calibrate"]["figures"] |= {"at 50": ODD["at 50"], "at 20": ODD["at 20"] | {"value": 5263}}
    planner, _, tables = _play(make_study(), _respond)
    analyses = planner.tabulate_analyses()
    assert len(tables) == 6
    assert analyses["missed_figures"].num_rows == 0


def test_the_condition_restricts_the_prior(queue: dict[str, Any], make_study: MakeStudy) -> None:
    queue["calibrate"]["unknowns"][DISKS] = {"integer": [1, 4]}
    study = make_study(where="disks % 2 = 0")
    _, _, tables = _play(study, _respond)
    assert {row[DISKS] for table in tables for row in table.to_pylist()} == {2, 4}


def test_an_invalid_draw_names_the_condition(queue: dict[str, Any], make_study: MakeStudy) -> None:
    queue["scenario"]["array"]["raid"] = "10"
    queue["calibrate"]["unknowns"][DISKS] = {"integer": [2, 5]}
    with pytest.raises(ConfigError) as caught:
        expand(make_study())
    assert all("where" in issue.message and issue.line for issue in caught.value.issues)


@pytest.mark.usefixtures("queue")
def test_a_condition_that_no_draw_meets(make_study: MakeStudy) -> None:
    with pytest.raises(ConfigError) as caught:
        expand(make_study(where='"array.disk.service.mean" < 0'))
    assert [issue.code for issue in caught.value.issues] == ["study.no-points"]
    with pytest.raises(ConfigError) as caught:
        expand(make_study(where="no_such = 1"))
    assert [issue.code for issue in caught.value.issues] == ["study.bad-sql"]


def test_limits_and_ceilings_are_unknowns(make_study: MakeStudy) -> None:
    """One limit allows half the users of the other, and nobody more than the ceiling.

    No search goes beyond the first rung that no ceiling is above: what happens there changes no figure.
    """
    study = make_study(
        seek={
            "maximize": USERS,
            "subject_to": ["response_p95 <= 30ms"],
            "limits": {"slow": ["response_p95 <= 30ms"], "fast": ["response_p95 <= 15ms"]},
            "max": 1024,
        },
        calibrate={
            "unknowns": {"limit": {"choice": ["slow", "fast"]}, "ceiling": {"integer": [60, 150]}},
            "figures": {
                "now": {"set": {DISKS: 2}, "value": 40, "tolerance": "5%"},
                "more": {"set": {DISKS: 8}, "odds": ["users_supported >= 60"]},
            },
            "waves": {"points": 32, "most": 1},
        },
    )

    tried = set()

    def judge(run: Row) -> Facts:
        tried.add(run[USERS])
        columns = {"response_p95_us": 15_000 * run[USERS] / (20 * run[DISKS]), "events": 1.0}
        shares = dict.fromkeys(("disk_busy_max_fraction", "disk_busy_mean_fraction"), 0.1)
        busy = dict.fromkeys(("link_busy_fraction", "firmware_busy_fraction"), 0.1)
        return Facts("ok", {**columns, **shares, **busy, "writes": 1.0, "write_stalls": 0.0})

    planner, _, _ = _play(study, judge)
    draws = planner.tabulate_analyses()["posterior"].to_pylist()
    for draw in draws:
        now = 80 if draw["limit"] == "slow" else 40
        assert draw["now: users_supported"] == pytest.approx(min(now, draw["ceiling"]), rel=0.02)
        if not draw["is_ruled_out"]:
            assert draw["limit"] == "fast"
            assert draw["more: users_supported"] == draw["ceiling"]
    assert max(tried) == 152  # 64 x 2^(5/4)


def test_the_service_time_of_a_real_queue_is_recovered(
    queue: dict[str, Any], make_study: MakeStudy, tmp_path: Path
) -> None:
    """An M/M/1 disk that answers in 6.67 ms at half the load has a mean service of 5 ms."""
    queue["scenario"]["run"] = {"warm_up": {"requests": 500}, "window": {"requests": 10_000}}
    queue["calibrate"]["waves"] = {"points": 32, "most": 3, "effective": 1000}
    outcome = sweeps.run(make_study(), tmp_path, executor="inline", workers=2)
    tables = open_sweep(outcome.path).analyses()
    (service,) = tables["unknowns"].to_pylist()
    assert service["posterior_q05"] < 5_000_000 < service["posterior_q95"]
    assert service["posterior_q95"] / service["posterior_q05"] < 1.2
    predicted = {row["figure"]: row for row in tables["predictive"].to_pylist()}["at 200"]
    assert predicted["low_90"] < 10_000 < predicted["high_90"]
    (odds,) = tables["odds"].to_pylist()
    assert odds["probability"] > 0.99


def test_ray_gives_the_same_tables(queue: dict[str, Any], make_study: MakeStudy, tmp_path: Path) -> None:
    queue["calibrate"]["waves"] |= {"points": 8, "most": 2}
    inline = sweeps.run(make_study(), tmp_path / "inline", executor="inline", workers=2)
    ray = sweeps.run(make_study(), tmp_path / "ray", executor="ray", workers=2)
    here, there = (open_sweep(outcome.path).analyses() for outcome in (inline, ray))
    assert here.keys() == there.keys()
    for name, table in here.items():
        assert table.equals(there[name]), name


def test_a_further_wave_reuses_the_rows(queue: dict[str, Any], make_study: MakeStudy, tmp_path: Path) -> None:
    queue["calibrate"]["waves"] |= {"points": 8, "most": 2}
    first = sweeps.run(make_study(), tmp_path, executor="inline", workers=2)
    queue["calibrate"]["waves"]["most"] = 3
    second = sweeps.run(make_study(), tmp_path, executor="inline", workers=2)
    assert second.path == first.path
    assert second.reused == first.runs
    assert second.executed > 0
