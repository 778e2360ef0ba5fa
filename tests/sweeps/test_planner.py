"""The planner is a pure function of the study and the rows of earlier rounds."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

from destage.sweeps import Study
from destage.sweeps.points.point import Expansion
from destage.sweeps.points.point_results import Facts
from destage.sweeps.reading.expansion import expand
from destage.sweeps.rounds.planner import Planner

MakeStudy = Callable[..., Study]
Row = Mapping[str, Any]
Judge = Callable[[Row], Facts]
USERS = "workload.users"

SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms", "disk_busy_mean <= 0.9"]}


def _facts(p95_ms: float = 1, status: str = "ok", disk: float = 0.5, link: float = 0.1) -> Facts:
    columns = {"response_p95_us": p95_ms * 1000, "events": 100.0, "writes": 100.0, "write_stalls": 1.0}
    utilisations = {
        "disk_busy_mean_fraction": disk,
        "disk_busy_max_fraction": disk,
        "link_busy_fraction": link,
        "firmware_busy_fraction": 0.1,
    }
    return Facts(status, {**columns, **utilisations})


def _carry(limits: Mapping[int, int]) -> Judge:
    def judge(run: Row) -> Facts:
        return _facts(p95_ms=30 * run[USERS] / limits[run["replicate"]])

    return judge


def _play(study: Study, judge: Judge) -> tuple[Expansion, Planner, dict[str, Facts], list[pa.Table]]:
    expansion = expand(study)
    planner, rows, tables = Planner(study, expansion), {}, []
    while (table := planner.next_round(rows)) is not None:
        tables.append(table)
        rows |= {run["run_id"]: judge(run) for run in table.to_pylist()}
    return expansion, planner, rows, tables


def _tabulate(planner: Planner) -> tuple[pa.Table, pa.Table]:
    tables = planner.tabulate_answers()
    assert tables is not None
    return tables


def _answer(study: Study, judge: Judge) -> dict[str, object]:
    _, planner, _, _ = _play(study, judge)
    answers, _ = _tabulate(planner)
    (answer,) = answers.to_pylist()
    return answer


def test_a_grid_is_one_round_of_points_times_replicates(make_study: MakeStudy) -> None:
    _, _, _, (table,) = _play(make_study(axes={"array.disks": [2, 3, 4]}), lambda _: _facts())
    assert table.num_rows == 6
    assert set(table["replicate"].to_pylist()) == {0, 1}
    assert table.schema.names[:6] == ["point_id", "label", "replicate", "run_id", "round", "array.disks"]


def test_a_replay_gives_the_same_tables(make_study: MakeStudy) -> None:
    study = make_study(seek=SEEK, replicates=3)
    judge = _carry({0: 40, 1: 43, 2: 38})
    _, _, rows, tables = _play(study, judge)
    planner, known = Planner(study, expand(study)), dict[str, Facts]()
    for number, table in enumerate(tables):
        again = planner.next_round(known)
        assert again is not None
        assert again.equals(table)
        assert set(table["round"].to_pylist()) == {number}
        known |= {run: rows[run] for run in table["run_id"].to_pylist()}
    assert planner.next_round(known) is None


def test_later_rounds_estimate_costs_from_earlier_ones(make_study: MakeStudy) -> None:
    _, _, _, tables = _play(make_study(seek=SEEK), _carry({0: 40, 1: 40}))
    assert tables[0]["estimated_events"].null_count == tables[0].num_rows
    assert set(tables[1]["estimated_events"].to_pylist()) == {100.0}


def test_an_answer_is_the_mean_over_certified_replicates(make_study: MakeStudy) -> None:
    study = make_study(seek=SEEK, replicates=5)
    _, planner, rows, _ = _play(study, _carry(dict(enumerate([40, 42, 44, 46, 48]))))
    answers, certificates = _tabulate(planner)
    (answer,) = answers.to_pylist()
    assert answer["answers"] == pytest.approx([40, 42, 44, 46, 48])
    assert (answer["metric"], answer["n"]) == ("users_supported", 5)
    assert answer["answer_mean"] == pytest.approx(44)
    assert answer["answer_high"] - answer["answer_low"] == pytest.approx(2 * answer["answer_half_width"])
    assert (answer["binding"], answer["limiting"]) == ("response_p95 <= 30ms", "disk")
    assert (answer["censored"], answer["monotone"], answer["interval_met"]) == (None, True, None)
    assert answer["passing"] <= 44 < answer["failing"]
    assert certificates["n"].to_pylist() == answer["answers"]
    for row, limit in zip(certificates.to_pylist(), [40, 42, 44, 46, 48], strict=True):
        below, above = (rows[row[name]].values["response_p95_us"] for name in ("run_id_pass", "run_id_fail"))
        assert below == pytest.approx(30_000 * answer["passing"] / limit)
        assert above == pytest.approx(30_000 * answer["failing"] / limit)


def test_the_objective_missed_by_most_binds(
    make_study: MakeStudy,
) -> None:
    def judge(run: Row) -> Facts:
        return _facts(p95_ms=20 + run[USERS] * 0.3, disk=run[USERS] * 0.05, link=0.99)

    answer = _answer(make_study(seek=SEEK, replicates=5), judge)
    assert answer["answer_mean"] == pytest.approx(18)
    assert (answer["binding"], answer["limiting"]) == ("disk_busy_mean <= 0.9", "link")


def test_points_are_held_to_the_limit_of_their_label(make_study: MakeStudy) -> None:
    seek = {**SEEK, "limits": {"busy": ["disk_busy_max <= 0.8"]}}
    points = [{"label": "busy", "array.disks": 4}, {"label": "slow", "array.disks": 5}]

    def judge(run: Row) -> Facts:
        return _facts(p95_ms=run[USERS], disk=run[USERS] / 100)

    _, planner, _, _ = _play(make_study(seek=seek, points=points), judge)
    answers, _ = _tabulate(planner)
    found = {row["label"]: (round(row["answer_mean"], 6), row["binding"]) for row in answers.to_pylist()}
    assert found["busy"] == (80, "disk_busy_max <= 0.8")
    assert found["slow"] == (30, "response_p95 <= 30ms")


def test_censored_answers_have_no_interval(make_study: MakeStudy) -> None:
    seek = {**SEEK, "max": 100, "min": 5}
    most = _answer(make_study(seek=seek, replicates=5), lambda _: _facts())
    assert (most["censored"], most["answer_mean"], most["answer_half_width"]) == ("at_least", 100.0, None)
    least = _answer(make_study(seek=seek, replicates=5), lambda _: _facts(p95_ms=50))
    assert (least["censored"], least["answer_mean"], least["answer_low"]) == ("below", 4.0, None)


def test_runs_without_a_steady_state_are_counted_not_averaged(make_study: MakeStudy) -> None:
    def judge(run: Row) -> Facts:
        unsteady = run["replicate"] == 0 and run[USERS] > 20
        return _facts(status="not_stationary") if unsteady else _carry(dict.fromkeys(range(5), 40))(run)

    answer = _answer(make_study(seek=SEEK, replicates=5), judge)
    assert (answer["undecided"], answer["n"]) == (1, 4)
    assert answer["answers"] == pytest.approx([40, 40, 40, 40])


def test_failed_runs_are_counted_not_averaged(make_study: MakeStudy) -> None:
    def judge(run: Row) -> Facts:
        return _facts(status="failed") if run["replicate"] == 1 else _carry(dict.fromkeys(range(5), 40))(run)

    answer = _answer(make_study(seek=SEEK, replicates=5), judge)
    assert (answer["failed"], answer["n"]) == (1, 4)


def test_replicates_are_added_until_the_interval_is_narrow(make_study: MakeStudy) -> None:
    until = {"interval_of": "users_supported", "relative": 0.05}
    wide = [40, 48, 52, 44, 46] + [46] * 20
    study = make_study(seek=SEEK, replicates={"min": 5, "max": 25, "until": until})
    answer = _answer(study, _carry(dict(enumerate(wide))))
    assert 5 < len(answer["answers"]) < 25  # type: ignore[arg-type]
    assert answer["interval_met"] is True
    unmet = make_study(seek=SEEK, replicates={"min": 5, "max": 6, "until": until})
    answer = _answer(unmet, _carry(dict(enumerate(wide))))
    assert (answer["n"], answer["interval_met"]) == (6, False)
    assert answer["answer_half_width"] is not None


def test_replicates_are_added_for_a_result_column(make_study: MakeStudy) -> None:
    until = {"interval_of": "response_p95", "relative": 0.1}
    study = make_study(replicates={"min": 5, "max": 12, "until": until})
    _, _, rows, tables = _play(study, lambda run: _facts(p95_ms=10 + run["replicate"] % 5))
    assert [table.num_rows for table in tables] == [5, 5]
    assert len(rows) == 10
