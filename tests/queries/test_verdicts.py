"""Verdicts on published figures: the quantity within each replicate, its interval, and what follows."""

from typing import Any

import pyarrow as pa
import pytest
from scipy import stats

from destage.queries import Session
from destage.queries.published.verdict_text import format_verdict
from destage.queries.published.verdicts import NO_ANSWER, judge_figures
from destage.queries.report.reported_kinds import compose_answer
from destage.queries.report.sentences.published_section import render_published_section

DISKS = "array.disks"
RAID = "array.raid"
LOCALITY = "Rests on an assumed locality: Zipf 0.9 over 8 GB (preset call_center)."
"""What answers say of the workload of the sessions."""
PLACES = {"on": {DISKS: 8}, "off": {DISKS: 4}}


def run(disks: int, replicate: int, value: float | None, **more: Any) -> dict[str, Any]:
    point = f"p{disks}{more.get(RAID, '')}"
    return {
        "point_id": point,
        "replicate": replicate,
        "run_id": f"{point}-{replicate}",
        DISKS: disks,
        "response_mean_us": value,
        **more,
    }


def judge_runs(
    make_session: Any, runs: list[dict[str, Any]], *figures: dict[str, Any], **spec: Any
) -> list[Any]:
    axes = {DISKS: pa.int64()} | ({RAID: pa.string()} if RAID in runs[0] else {})
    session = make_session(
        runs,
        axes=axes,
        places=spec.pop("places", PLACES),
        published=[
            {"figure": "f", "source": "p. 1", "value": 2, "kind": "predicted", **figure} for figure in figures
        ],
        **spec,
    )
    rows: list[Any] = judge_figures(session).to_pylist()
    return rows


def test_a_ratio_is_taken_within_each_replicate(make_session: Any) -> None:
    off, on = [10.0, 20.0, 40.0], [5.0, 11.0, 19.0]
    runs = [run(4, at, value) for at, value in enumerate(off)] + [
        run(8, at, value) for at, value in enumerate(on)
    ]
    (row,) = judge_runs(
        make_session, runs, {"compute": "off.response_mean_us / on.response_mean_us", "decimals": 1}
    )
    ratios = [a / b for a, b in zip(off, on, strict=True)]
    low, high = stats.t.interval(0.95, 2, loc=sum(ratios) / 3, scale=stats.sem(ratios))
    assert (row["simulated"], row["simulated_low"], row["simulated_high"]) == pytest.approx(
        (sum(ratios) / 3, low, high)
    )
    assert row["replicates"] == 3
    assert row["error_fraction"] == pytest.approx(sum(ratios) / 6 - 1)
    spread = (high - low) / 2 * (3 + 1) ** 0.5 + 0.05
    predicted = (row["predicted_low"], row["predicted_high"])
    assert predicted == pytest.approx((sum(ratios) / 3 - spread, sum(ratios) / 3 + spread))
    assert row["class"] == "uninformative"


def test_a_replicate_counts_only_with_ok_runs_at_all_places(make_session: Any) -> None:
    runs = [run(4, 0, 10.0), run(4, 1, 30.0), run(8, 0, 5.0), run(8, 1, 1e9, status="not_stationary")]
    (row,) = judge_runs(make_session, runs, {"compute": "off.response_mean_us / on.response_mean_us"})
    assert (row["simulated"], row["replicates"], row["simulated_low"]) == (2.0, 1, None)


def test_a_missing_value_is_no_answer(make_session: Any) -> None:
    (row,) = judge_runs(make_session, [run(4, 0, None), run(4, 1, 3.0)], {"compute": "off.response_mean_us"})
    assert (row["class"], row["why"], row["simulated"]) == ("not simulated", NO_ANSWER, None)


def test_for_each_gives_the_range_over_an_axis(make_session: Any) -> None:
    runs = [
        run(disks, replicate, value + replicate, **{RAID: raid})
        for raid, off, on in (("10", 10.0, 5.0), ("5", 40.0, 8.0))
        for disks, value in ((4, off), (8, on))
        for replicate in (0, 1)
    ]
    (row,) = judge_runs(
        make_session,
        runs,
        {"compute": "off.response_mean_us / on.response_mean_us", "for_each": [RAID], "value": 3},
    )
    assert row["is_range"]
    assert row["error_fraction"] == 0
    assert format_verdict(row)[2] == "1.917 to 4.778"
    assert row["simulated_low"] == pytest.approx((10 / 5 + 11 / 6) / 2)
    assert row["simulated_high"] == pytest.approx((40 / 8 + 41 / 9) / 2)
    assert row["class"] == "uninformative"


def test_values_common_to_all_places_select_the_points(make_session: Any) -> None:
    runs = [
        run(disks, 0, value, **{RAID: raid})
        for raid, off, on in (("10", 10.0, 5.0), ("5", 40.0, 8.0))
        for disks, value in ((4, off), (8, on))
    ]
    compute = "off.response_mean_us / on.response_mean_us"
    rows = judge_runs(
        make_session,
        runs,
        {"figure": "a", "compute": compute, "at": {RAID: "5"}},
        {"figure": "b", "compute": compute, "at": {RAID: "10"}},
    )
    assert [row["simulated"] for row in rows] == [5.0, 2.0]


def test_arithmetic_needs_no_point(make_session: Any) -> None:
    (row,) = judge_runs(
        make_session,
        [run(4, 0, 1.0)],
        {"compute": "sqrt(15504.0 * 9157.2)", "value": 11915.3, "kind": "arithmetic"},
    )
    assert (row["class"], row["replicates"]) == ("arithmetic of the paper", 1)


def test_a_seek_measures_its_answers_of_each_replicate(seek_session: Session) -> None:
    seek_session.spec["published"] = [
        {
            "figure": "gain",
            "source": "p. 1",
            "value": 1.31,
            "kind": "predicted",
            "compute": "large.users_supported / small.users_supported",
        },
        *seek_session.spec["published"],
    ]
    gain, small, large = judge_figures(seek_session).to_pylist()
    assert gain["simulated"] == pytest.approx((40 / 30 + 44 / 34) / 2)
    assert (small["simulated"], small["class"]) == (32, "input")
    assert large["simulated"] == 42


def test_an_answer_that_is_only_a_bound_is_no_answer(make_session: Any) -> None:
    users = "workload.users"
    session = make_session(
        [run(4, 0, 1.0, **{users: 64})],
        axes={DISKS: pa.int64()},
        seek=users,
        answers=[{"point_id": "p4", "metric": "users_supported", DISKS: 4}],
        certificates=[
            {"point_id": "p4", "replicate": 0, "n": 64, "run_id_pass": "p4-0", "state": "at_least"}
        ],
        places=PLACES,
        published=[
            {
                "figure": "f",
                "source": "p. 1",
                "value": 64,
                "kind": "predicted",
                "compute": "off.users_supported",
            },
            {
                "figure": "g",
                "source": "p. 1",
                "value": 1,
                "kind": "predicted",
                "compute": "off.response_mean_us",
            },
        ],
    )
    assert judge_figures(session)["why"].to_pylist() == [
        NO_ANSWER,
        "the interval is wider than a factor of 2",
    ]


def test_a_study_without_an_answer_answers_with_verdicts(make_session: Any) -> None:
    session = make_session(
        [run(4, 0, 10.0), run(8, 0, 5.0)],
        axes={DISKS: pa.int64()},
        places=PLACES,
        published=[
            {
                "figure": "gain",
                "source": "p. 1",
                "value": 2,
                "unit": "x",
                "kind": "predicted",
                "compute": "off.response_mean_us / on.response_mean_us",
            },
            {"figure": "root", "source": "p. 2", "value": 3, "kind": "arithmetic", "compute": "sqrt(9.0)"},
        ],
    )
    assert compose_answer(session) == [
        "1 published figure: 1 reproduced blind (beside 1 that follows from others).",
        "gain: reproduced blind; published 2 x, simulated 2 x; prediction interval 1.5 to 2.5 (factor 1.67).",
        LOCALITY,
    ]


def test_a_study_without_a_paper_shows_its_assumptions(make_session: Any) -> None:
    session = make_session(assumptions=["Eight <drives>."])
    assert "<h2>Assumptions</h2><ul><li>Eight &lt;drives&gt;.</li></ul>" in render_published_section(session)


def test_without_figures_and_assumptions_there_is_no_section(make_session: Any) -> None:
    assert render_published_section(make_session()) == ""


def test_a_studys_own_answer_is_first_where_its_rows_exist(make_session: Any) -> None:
    runs = [run(disks, at, 1e3 * disks, **{RAID: "5"}) for disks in (4, 8) for at in range(2)]
    session = make_session(
        [*runs, run(4, 0, 9e3, **{RAID: "6"}), run(6, 0, None, **{RAID: "5"})],
        axes={DISKS: pa.int64(), RAID: pa.string()},
        places={"four": {DISKS: 4}, "eight": {DISKS: 8}, "six": {DISKS: 6}},
        answer=[
            {
                "say": "Eight take {eight.response_mean_us / 3} us,\n four {four.response_mean_us}.",
                "at": {RAID: "5"},
            },
            {"say": "Four take {four.response_mean_us / 1e3} ms.", "for_each": [RAID]},
            "Six take {six.response_mean_us} us.",
        ],
        published=[
            {"figure": "root", "source": "p. 2", "value": 3, "kind": "arithmetic", "compute": "sqrt(9.0)"}
        ],
    )
    assert compose_answer(session) == [
        "Eight take 2670 us, four 4000.",
        "Four take 4 to 9 ms.",
        "no published figure compared (beside 1 that follows from others).",
        LOCALITY,
    ]


def test_sql_has_the_classes(seek_session: Session) -> None:
    rows = seek_session.sql("SELECT figure, class FROM published_figures ORDER BY 1").to_pylist()
    assert rows == [
        {"figure": row["figure"], "class": row["class"]} for row in judge_figures(seek_session).to_pylist()
    ]
