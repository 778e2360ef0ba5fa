"""Means over replicates: what enters them, what is only counted, and how wide their intervals are."""

from typing import Any

import pyarrow as pa
import pytest
from scipy import stats

from destage.queries import Session
from destage.queries.text.shown_results import show_result

DISKS = "array.disks"


def run(point: str, replicate: int, value: float | None, **more: Any) -> dict[str, Any]:
    return {
        "point_id": point,
        "replicate": replicate,
        "run_id": f"{point}-{replicate}",
        DISKS: 4,
        "response_p95_us": value,
        **more,
    }


def one_point(session: Session) -> dict[str, Any]:
    rows: list[dict[str, Any]] = session.sql("SELECT * FROM points").to_pylist()
    assert len(rows) == 1
    return rows[0]


def test_the_interval_is_students(make_session: Any) -> None:
    values = [10.0, 12.5, 9.0, 14.0, 11.0, 10.5, 13.0]
    session = make_session([run("p", at, value) for at, value in enumerate(values)], axes={DISKS: pa.int64()})
    row = one_point(session)
    low, high = stats.t.interval(
        0.95, len(values) - 1, loc=sum(values) / len(values), scale=stats.sem(values)
    )
    assert row["n"] == len(values)
    assert row["response_p95_us"] == pytest.approx(sum(values) / len(values), rel=1e-12)
    assert row["response_p95_us_low"] == pytest.approx(low, rel=1e-9)
    assert row["response_p95_us_high"] == pytest.approx(high, rel=1e-9)


def test_no_interval_is_below_0_and_that_of_a_share_within_1(make_session: Any) -> None:
    """A named query computes it on its own way, and text has it in per cent."""
    runs = [
        run("p", at, 9.0, hit_ratio=hit, disk_busy_max_fraction=busy, response_mean_us=mean)
        for at, (hit, busy, mean) in enumerate([(0.0, 0.99, 0.0), (0.01, 1.0, 0.01), (0.0, 1.0, 0.0)])
    ]
    session = make_session(runs, axes={DISKS: pa.int64()})
    names = ("hit_ratio", "disk_busy_max_fraction", "response_mean_us")
    listed = ", ".join(f"{name}{end}" for name in names for end in ("", "_low", "_high"))
    (row,) = session.sql(f"SELECT {listed} FROM points").to_pylist()  # noqa: S608 - names of columns
    assert [row] == session.sql_of_named_columns(f"SELECT {listed} FROM points").to_pylist()  # noqa: S608
    assert (row["hit_ratio_low"], row["disk_busy_max_fraction_high"]) == (0, 1)
    assert 0.01 < row["hit_ratio_high"] < 0.05
    assert row["response_mean_us_low"] == 0
    assert row["response_mean_us_high"] > 0
    half = row["hit_ratio_high"] - row["hit_ratio"]
    assert " 0 to " in show_result("hit_ratio", row["hit_ratio"], half)


def test_one_replicate_has_a_mean_and_no_interval(make_session: Any) -> None:
    row = one_point(make_session([run("p", 0, 5.0)], axes={DISKS: pa.int64()}))
    assert (row["response_p95_us"], row["response_p95_us_low"], row["response_p95_us_high"]) == (
        5.0,
        None,
        None,
    )


def test_each_column_counts_its_own_values(make_session: Any) -> None:
    runs = [
        run("p", at, value, commit_p50_us=commit)
        for at, (value, commit) in enumerate([(1, 7), (2, 9), (3, None)])
    ]
    row = one_point(make_session(runs, axes={DISKS: pa.int64()}))
    low, high = stats.t.interval(0.95, 1, loc=8, scale=stats.sem([7, 9]))
    assert (row["n"], row["commit_p50_us"]) == (3, 8)
    assert low < 0 == row["commit_p50_us_low"]
    assert row["commit_p50_us_high"] == pytest.approx(high)


def test_only_ok_runs_are_averaged_and_the_others_counted(make_session: Any) -> None:
    runs = [
        run("p", 0, 10.0),
        run("p", 1, 20.0),
        run("p", 2, 1e9, status="not_stationary"),
        run("p", 3, 1e9, status="overloaded"),
        run("p", 4, None, status="failed", error_kind="panic", error="broken"),
        run("p", 5, 1e9, status="array_failed"),
    ]
    session = make_session(runs, axes={DISKS: pa.int64()}, planned_only=[run("p", 6, None)])
    row = one_point(session)
    assert row["response_p95_us"] == 15.0
    unused = ("n_not_stationary", "n_overloaded", "n_array_failed", "n_failed", "n_missing")
    assert row["n"] == 2
    assert {name: row[name] for name in unused} == dict.fromkeys(unused, 1)


def test_a_replicate_has_weight_one_with_any_number_of_runs(make_session: Any) -> None:
    runs = [
        run("p", 0, 10.0),
        run("p", 0, 20.0, run_id="p-0-again", round=1),
        run("p", 1, 30.0),
    ]
    row = one_point(make_session(runs, axes={DISKS: pa.int64()}))
    assert (row["n"], row["response_p95_us"]) == (2, 22.5)


def test_points_sharing_a_run_are_one(make_session: Any) -> None:
    runs = [run("p", 0, 10.0), run("q", 0, 10.0, run_id="p-0"), run("r", 0, 12.0)]
    session = make_session(runs, axes={DISKS: pa.int64()})
    assert session.sql("SELECT point_id FROM points")["point_id"].to_pylist() == ["p", "r"]
    assert session.sql("SELECT * FROM runs").num_rows == 2
    assert session.query("design_space")["response_p95_us"].to_pylist() == [10.0, 12.0]
    assert session.query("runs_summary").to_pylist()[0]["runs"] == 2


def test_points_are_in_the_order_of_the_plan(make_session: Any) -> None:
    runs = [run(point, 0, 1.0) for point in ("z", "a", "m")]
    session = make_session(runs, axes={DISKS: pa.int64()})
    assert session.sql("SELECT point_id FROM points")["point_id"].to_pylist() == ["z", "a", "m"]


def test_a_seek_has_rows_per_probe_and_per_certified_point(seek_session: Session) -> None:
    probes = seek_session.sql("SELECT point_id, users, n FROM points")
    assert probes.num_rows == 12
    certified = seek_session.sql("SELECT point_id, n, response_p95_us FROM certified").to_pylist()
    assert certified == [
        {"point_id": "p0", "n": 2, "response_p95_us": 29_000.5},
        {"point_id": "p1", "n": 2, "response_p95_us": 29_000.5},
    ]


def test_answers_include_the_published_figure_of_their_point(seek_session: Session) -> None:
    rows = seek_session.sql(
        "SELECT point_id, published, published_figure FROM answers ORDER BY 1"
    ).to_pylist()
    assert rows == [
        {"point_id": "p0", "published": 39.0, "published_figure": "users, 32 MiB"},
        {"point_id": "p1", "published": 51.0, "published_figure": "users, 64 MiB"},
    ]


@pytest.mark.parametrize("seek", [None, "workload.users"])
def test_a_sweep_without_rows_has_typed_empty_views(make_session: Any, seek: str | None) -> None:
    session = make_session(
        axes={DISKS: pa.int64()},
        seek=seek,
        planned_only=[run("p", 0, None, **{"workload.users": 1})],
    )
    runs = session.sql("SELECT * FROM runs")
    assert runs.num_rows == 0
    assert runs.schema.field("response_p95_us").type == pa.float64()
    assert runs.schema.field(DISKS).type == pa.int64()
    answers = session.sql("SELECT * FROM answers")
    assert answers.num_rows == 0
    assert answers.schema.field(DISKS).type == pa.int64()
    assert answers.schema.field("answers").type == pa.list_(pa.float64())
    point = session.sql("SELECT n, n_missing, response_p95_us, response_p95_us_low FROM points")
    assert point.to_pylist() == [
        {"n": 0, "n_missing": 1, "response_p95_us": None, "response_p95_us_low": None}
    ]
    assert session.query("design_space").num_rows == 1


def test_a_store_without_a_plan_has_empty_views(make_session: Any) -> None:
    session = make_session()
    for view in ("runs", "points", "answers", "certified", "configurations", "timeline"):
        assert session.sql(f"FROM {view}").num_rows == 0
    assert session.query("design_space").num_rows == 0


def test_the_timeline_has_a_row_per_transition_in_order(make_session: Any) -> None:
    entries = [
        (0.0, "window_begins", 0.0),
        (5.5, "battery_failed", 1.0),
        (5.5, "write_back_disabled", 4096.0),
    ]
    lists = {
        f"timeline_{name}": [entry[at] for entry in entries]
        for at, name in enumerate(["s", "event", "value"])
    }
    twice = run("p", 0, 1.0, timeline_subject=[""] * 3, **lists)
    # Two points may come to one run; a run that failed has no timeline.
    runs = [twice, {**twice, "point_id": "q"}, run("r", 0, None, status="failed")]
    session = make_session(runs, axes={DISKS: pa.int64()})
    table = session.sql("FROM timeline")
    assert table.to_pylist() == [
        {"run_id": "p-0", "step": step, "at_s": at, "event": event, "subject": "", "value": value}
        for step, (at, event, value) in enumerate(entries, 1)
    ]
    empty = make_session(planned_only=[run("x", 0, None)], axes={DISKS: pa.int64()}).sql("FROM timeline")
    assert (empty.num_rows, empty.schema) == (0, table.schema)


def test_every_view_keeps_the_order_of_the_plan(make_session: Any) -> None:
    # Later rounds of a seek are planned in another order than the points.
    runs = []
    for round_, points in enumerate([("z", "a", "m"), ("m", "a", "z")]):
        for point in points:
            users = 10 + round_
            runs.append(
                run(point, 0, 1.0, run_id=f"{point}-{users}", round=round_, **{"workload.users": users})
            )
    certificates = [
        {"point_id": point, "replicate": 0, "n": 11, "run_id_pass": f"{point}-11"} for point in "amz"
    ]
    answers = [
        {"point_id": point, "metric": "users_supported", "answer_mean": 11.0, DISKS: 4} for point in "zam"
    ]
    session = make_session(
        runs, axes={DISKS: pa.int64()}, seek="workload.users", answers=answers, certificates=certificates
    )
    for statement in (
        "SELECT DISTINCT ON (point_id) * FROM points ORDER BY plan_row",
        "FROM certified",
        "FROM answers",
    ):
        assert session.sql(statement)["point_id"].to_pylist() == ["z", "a", "m"]
