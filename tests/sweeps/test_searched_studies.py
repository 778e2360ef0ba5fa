"""A study with a search: its trials are ordinary runs, also where the session ends between them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from killed_sweeps import run_until_killed

from destage import sweeps
from destage.errors import ConfigError
from destage.store import open_sweep
from destage.sweeps import Study

MakeStudy = Callable[..., Study]
SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 60ms"], "max": 500}
DISKS, RAID = "array.disks", "array.raid"
AXES = {DISKS: {"integer": [1, 8]}, RAID: {"choice": ["0", "10"]}}
SEARCH = {
    "objectives": [{"minimize": DISKS}, {"maximize": "users_supported"}],
    "trials": 24,
    "batch": 8,
}


def _run(study: Study, store: Path) -> tuple[Path, list[dict[str, Any]]]:
    outcome = sweeps.run(study, store, executor="inline", workers=1)
    return Path(str(outcome.path)), open_sweep(outcome.path).analyses()["trials"].to_pylist()


def test_a_front_is_what_no_other_trial_dominates(make_study: MakeStudy, tmp_path: Path) -> None:
    path, trials = _run(make_study(axes=AXES, seek=SEEK, search=SEARCH), tmp_path)
    answers = {row["point_id"]: row for row in open_sweep(path).answers().to_pylist()}
    assert [trial["trial"] for trial in trials] == list(range(24))
    front = [trial for trial in trials if trial["on_front"]]
    for trial in trials:
        if trial["point_id"] is None:
            continue
        answer = answers[trial["point_id"]]
        assert (trial["disks"], trial["users_supported"]) == (answer[DISKS], answer["answer_mean"])
        if not trial["on_front"]:
            assert any(
                one["disks"] <= trial["disks"] and one["users_supported"] >= trial["users_supported"]
                for one in front
            )
    # Mirrors halve the disks that serve writes.
    assert {answers[trial["point_id"]][RAID] for trial in front} == {"0"}


def test_an_invalid_trial_has_no_point(make_study: MakeStudy, tmp_path: Path) -> None:
    path, trials = _run(make_study(axes=AXES, seek=SEEK, search=SEARCH), tmp_path)
    axes = {row["point_id"]: row for row in open_sweep(path).plan().to_pylist()}
    assert not any(row[RAID] == "10" and row[DISKS] % 2 for row in axes.values())
    assert any(trial["point_id"] is None and trial["users_supported"] is None for trial in trials)


def test_an_objective_without_values_leaves_the_others(make_study: MakeStudy, tmp_path: Path) -> None:
    """Without flushes there are no commits: no trial is on the front, and the other objective is stored."""
    search = {**SEARCH, "objectives": [{"minimize": "commit_p95"}, {"minimize": DISKS}], "trials": 8}
    _, trials = _run(make_study(axes={DISKS: {"integer": [1, 8]}}, search=search), tmp_path)
    assert [trial["commit_p95_us"] for trial in trials] == [None] * 8
    assert all(trial["disks"] is not None for trial in trials)
    assert not any(trial["on_front"] for trial in trials)


def test_more_trials_continue_the_search(make_study: MakeStudy, tmp_path: Path) -> None:
    study = {"axes": AXES, "seek": SEEK}
    first = _run(make_study(**study, search={**SEARCH, "trials": 16}), tmp_path)
    later = _run(make_study(**study, search=SEARCH), tmp_path)
    assert first[0] == later[0]
    known = ["trial", "point_id", "users_supported"]
    assert [[row[name] for name in known] for row in later[1][:16]] == [
        [row[name] for name in known] for row in first[1]
    ]
    whole = _run(make_study(**study, search=SEARCH), tmp_path / "other")
    assert whole[1] == later[1]


def test_a_killed_search_goes_on_to_equal_bytes(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(axes=AXES, seek=SEEK, search=SEARCH)
    whole, _ = _run(study, tmp_path / "whole")
    for stop in (1, 4, 9):
        run_until_killed(study, tmp_path / "killed", stop, monkeypatch)
    killed, _ = _run(study, tmp_path / "killed")
    sweep, other = open_sweep(whole), open_sweep(killed)
    assert sweep.analyses()["trials"].equals(other.analyses()["trials"])
    assert sweep.answers().equals(other.answers())


def test_a_condition_holds_for_trials(make_study: MakeStudy, tmp_path: Path) -> None:
    path, _ = _run(make_study(axes=AXES, seek=SEEK, search=SEARCH, where="disks <= 4"), tmp_path)
    assert max(open_sweep(path).plan()[DISKS].to_pylist()) == 4


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"axes": {**AXES, "workload.users": [1, 2]}}, "axes with a distribution only"),
        ({"design": {"points": 8}}, "set either search or design"),
        ({"search": {**SEARCH, "objectives": [{"minimize": "price"}]}}, "needs `prices`"),
        ({"search": {**SEARCH, "objectives": [{"maximize": "users"}]}}, "not a result of this study"),
        ({"axes": {**AXES, RAID: {"choice": {"0": 2, "10": 1}}}}, "does not use weights"),
    ],
)
def test_a_search_that_cannot_be(make_study: MakeStudy, keys: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_study(**{"axes": AXES, "seek": SEEK, "search": SEARCH, **keys})


def test_trials_to_come_are_foreseen(make_study: MakeStudy, tmp_path: Path) -> None:
    seen = []
    study = make_study(axes=AXES, seek=SEEK, search=SEARCH)
    outcome = sweeps.run(study, tmp_path, executor="inline", workers=1, progress=seen.append)
    estimates = [one.eta_s * one.rate + one.done for one in seen if one.eta_s and one.done > 20]
    assert max(estimates) < 3 * outcome.runs
    assert min(estimates[: len(estimates) // 2]) > outcome.runs / 3
