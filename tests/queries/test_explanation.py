"""Explanations of runs and points: why each ran, and what is known of an answer."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from destage.queries import Session
from destage.queries.findings.resource_use import describe_use
from destage.queries.pairs.explained_kinds import LargestValue, Means
from destage.queries.pairs.explanation import Explainer
from destage.queries.pairs.run_history import Bracket, HistoryRun, find_bracket
from destage.spec.objective import Objective

CAPACITY, USERS = "controller.cache.capacity", "workload.users"
BOUND = Objective("response_p95 <= 30ms", "response_p95_us", "<=", 30_000)


def _run(
    round_: int, replicate: int, probe: int | None, response: float | None = 1.0, status: str = "ok"
) -> HistoryRun:
    row = {} if response is None else {"response_p95_us": response}
    return HistoryRun(
        f"r{round_}-{replicate}-{probe}", replicate, round_, probe, None if response is None else status, row
    )


HISTORY = [
    _run(0, 0, 64, 17_000),
    _run(1, 0, 128, 38_000),
    _run(2, 0, 112, 20_000),
    _run(2, 1, 112, 32_000),
    _run(3, 2, 112, 21_000),
]


def test_the_reason_of_each_run_of_a_search(seek_session: Session) -> None:
    kind = LargestValue(seek_session, lambda _: [BOUND])

    def _why(at: int) -> str:
        return kind.explain_planning(HISTORY[at], HISTORY, [BOUND])

    assert _why(0) == "64 is the first value that the search tries"
    assert _why(1).endswith("before, 64 met them, and no value has missed them yet")
    assert (
        _why(2) == "2 replicates run 112, near the expected answer; before, 64 met them and 128 missed them"
    )
    assert _why(4).startswith("a further replicate at 112, which 2 replicates had run")


def test_the_reason_of_replicates_without_a_search(seek_session: Session) -> None:
    kind = Means(seek_session, lambda _: [])
    first, later = [_run(0, one, None) for one in range(3)], [_run(1, 3, None)]
    history = [*first, *later]
    assert kind.explain_planning(first[1], history, []).startswith("one of 3 replicates")
    assert kind.explain_planning(later[0], history, []).startswith("one of 1 further replicate,")


def test_no_more_than_all_writes_wait() -> None:
    """Of a queue that grows, more writes begin to wait in the window than are completed."""
    (limit, *_) = describe_use({"write_stalls": 110, "writes": 100}, {})
    assert "100 % of the writes" in limit.replace("\u202f", " ")


def test_brackets_of_both_directions() -> None:
    """The most that meets and the least that misses; for the smallest value sought, mirrored."""
    assert find_bracket(HISTORY, [BOUND], is_minimum=False) == Bracket(112, 112, is_mixed=True)
    assert find_bracket(HISTORY, [BOUND], is_minimum=True) == Bracket(64, 128, is_mixed=True)
    assert find_bracket(HISTORY[:2], [BOUND], is_minimum=False) == Bracket(64, 128)
    assert find_bracket([], [BOUND], is_minimum=False) == Bracket(None, None)


@pytest.mark.parametrize(
    ("response", "status", "verdict"),
    [
        (29_999, "ok", "met"),
        (30_001, "ok", "missed"),
        (1, "overloaded", "missed"),
        (1, "not_stationary", "undecided"),
        (1, "failed", "failed"),
        (None, "", "pending"),
    ],
)
def test_verdicts_follow_status_and_bound(response: float | None, status: str, verdict: str) -> None:
    assert _run(0, 0, 5, response, status).judge([BOUND]) == verdict


def test_waiting_at_disks_by_hand() -> None:
    """Two I/Os at a disk, half busy: a quarter of the time there is service."""
    row = {"disk_busy_max_fraction": 0.6, "disk_queue_mean": 2.0, "disk_busy_mean_fraction": 0.5}
    sentences = describe_use(row, {"arrays": [{"disk": {"kind": "disk"}}]})
    assert sentences[0].startswith("Limited by the disks.")
    assert "75 % of their time there is waiting, 25 % service" in sentences[1]
    assert "waiting" not in describe_use(row, {"arrays": [{"disk": {"kind": "ssd"}}]})[1]


def _explainer(session: Session) -> Explainer:
    def explain_unsteady(needed: Sequence[float]) -> str:
        return f"no answer: needs {needed}"

    return Explainer(session, lambda _: [BOUND], explain_unsteady)


def test_an_answered_point_has_its_brackets(seek_session: Session) -> None:
    found = _explainer(seek_session).explain_point("p1")
    text = " ".join(found.sentences)
    assert "Users supported: 42 (95 % CI 37 to 47), from 2 replicates." in text
    assert "The binding objective is response_p95 <= 30ms." in text
    assert found.facts["met"] == 44
    assert [row[0] for row in found.rows] == ["40", "41", "44", "45", "80", "88"]
    assert _explainer(seek_session).list_unanswered() == []


def test_a_run_of_a_seek_has_its_verdict(seek_session: Session) -> None:
    found = _explainer(seek_session).explain_run("p0-1-35")
    assert found.title.startswith("Run p0-1-35: replicate 1, users 35, of point no cache")
    assert "Response p95 31 ms misses response_p95 <= 30ms (1.03 of it)." in found.sentences
    assert found.facts["verdict"] == "missed"
    assert _explainer(seek_session).find_runs("p0-1-3") == ["p0-1-34", "p0-1-35"]


def test_a_search_that_waits_has_a_bracket_of_each_replicate(make_session: Callable[..., Session]) -> None:
    runs = [
        {
            "point_id": "p",
            "replicate": replicate,
            "run_id": f"{replicate}-{users}",
            CAPACITY: 0,
            USERS: users,
            "response_p95_us": users * 1000.0 + replicate,
        }
        for replicate in range(2)
        for users in (20, 40)
    ]
    session = make_session(
        runs,
        axes={CAPACITY: pa.int64()},
        seek=USERS,
        planned_only=[
            {"point_id": "p", "replicate": 0, "run_id": "0-30", "round": 1, CAPACITY: 0, USERS: 30}
        ],
    )
    explainer = _explainer(session)
    assert explainer.list_unanswered() == ["p"]
    text = " ".join(explainer.explain_point("p").sentences)
    assert "has not ended: 20 met them and 40 missed them" in text
    assert "Replicate 1: 20 met them and 40 missed them." in text
    assert "1 run not executed; continue with: destage run study-00000000." in text
    (waiting,) = [one for one in explainer.explain_run("0-30").sentences if "not been executed" in one]
    assert "destage run" in waiting


def test_an_unanswered_point_has_cause_and_remedy(make_session: Callable[..., Session]) -> None:
    runs: list[dict[str, Any]] = [
        {
            "point_id": "p",
            "replicate": each,
            "run_id": f"r{each}",
            CAPACITY: 0,
            "status": "not_stationary",
            "requests_needed": 70_000,
        }
        for each in range(2)
    ]
    runs += [
        {
            "point_id": "q",
            "replicate": 0,
            "run_id": "q0",
            CAPACITY: 1,
            "status": "failed",
            "error": "too deep",
            "error_kind": "deadlock",
        },
        {"point_id": "s", "replicate": 0, "run_id": "s0", CAPACITY: 2, "response_p95_us": 5000.0},
    ]
    explainer = _explainer(make_session(runs, axes={CAPACITY: pa.int64()}))
    assert explainer.list_unanswered() == ["p", "q"]
    assert "No answer: needs [70000, 70000]." in explainer.explain_point("p").sentences
    assert "1 run failed: too deep." in explainer.explain_point("q").sentences
    assert "Response p95: 5 ms." in explainer.explain_point("s").sentences
    assert "needs [70000]" in " ".join(explainer.explain_run("r1").sentences)


def test_an_overloaded_point_is_a_result(make_session: Callable[..., Session]) -> None:
    runs = [{"point_id": "p", "replicate": 0, "run_id": "r", CAPACITY: 0, "status": "overloaded"}]
    explainer = _explainer(make_session(runs, axes={CAPACITY: pa.int64()}))
    assert explainer.list_unanswered() == []
    (sentence,) = [one for one in explainer.explain_point("p").sentences if "exceeds" in one]
    assert sentence in explainer.explain_run("r").sentences
