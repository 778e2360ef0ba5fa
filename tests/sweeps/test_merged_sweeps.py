"""A sweep whose fragments are merged while it runs has the same rows, and resumes from its index."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from destage import sweeps
from destage.engine import results_schema
from destage.store import open_sweep
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files import merging
from destage.store.state.head import list_segments
from destage.sweeps import Study

MakeStudy = Callable[..., Study]
SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 60ms"], "max": 200}


def _see(path: Any) -> tuple[Any, ...]:
    sweep = open_sweep(path)
    rows = sweep.rows().select(["run_id", *results_schema().names])
    return repr(rows.to_pylist()), sweep.plan().to_pylist(), sweep.answers().to_pylist()


@pytest.mark.parametrize("keys", [{"replicates": 60}, {"seek": SEEK, "axes": {"array.disks": [1, 2]}}])
def test_merging_changes_no_row(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any]
) -> None:
    study, found = make_study(**keys), {}
    for fan_in in (1000, 3):
        monkeypatch.setattr(merging, "FAN_IN", fan_in)
        outcome = sweeps.run(study, tmp_path / str(fan_in), executor="inline", workers=2)
        assert (outcome.state, outcome.messages) == ("finished", ())
        found[fan_in] = _see(outcome.path), len(open_sweep(outcome.path).row_files())
        again = sweeps.run(study, tmp_path / str(fan_in), executor="inline")
        assert (again.executed, again.reused) == (0, outcome.executed)
    assert found[3][0] == found[1000][0]
    assert found[3][1] < found[1000][1]


def test_a_resume_opens_no_fragment(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(replicates=30)
    path = sweeps.run(study, tmp_path, executor="inline").path
    for module in ("adoption", "stored_rows"):
        monkeypatch.setattr(
            f"destage.store.fragment_files.{module}.open_fragment",
            lambda place: pytest.fail(f"{place} was opened"),
        )
    more = make_study(replicates=31)
    assert sweeps.plan(more, tmp_path).present == 30
    assert (sweeps.run(more, tmp_path, executor="inline").executed, sweeps.status(path).present) == (1, 31)


def test_a_resume_needs_no_index(make_study: MakeStudy, tmp_path: Path) -> None:
    study = make_study(seek=SEEK)
    path = sweeps.run(study, tmp_path, executor="inline").path
    before = _see(path)
    for segment in list_segments(SweepLayout(path)):
        segment.unlink()
    assert sweeps.run(study, tmp_path, executor="inline").executed == 0
    assert len(list_segments(SweepLayout(path))) == 1
    assert _see(path) == before
