"""A damaged study or head locks no rows: readers find them without it, and a resume writes it again."""

from collections.abc import Callable
from pathlib import Path

import pytest

from destage import sweeps
from destage.queries import open_session
from destage.store import open_sweep
from destage.store.files.layout import SweepLayout
from destage.store.opened import recorded_progress
from destage.store.opened.file_checks import check_sweep
from destage.store.state.head import list_heads, read_head
from destage.sweeps import Study, verify

MakeStudy = Callable[..., Study]
SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 60ms"], "max": 200}
COUNT = 'SELECT count(*) AS n, sum("workload.users") AS users FROM runs'


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


def _empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [_flip, _empty, Path.unlink])
@pytest.mark.parametrize("part", ["study", "head", "both"])
def test_rows_are_read_and_the_sweep_is_restored(
    make_study: MakeStudy, tmp_path: Path, part: str, damage: Callable[[Path], None]
) -> None:
    study = make_study(seek=SEEK, axes={"array.disks": [1, 2]})
    path = Path(str(sweeps.run(study, tmp_path, executor="inline").path))
    with open_session(path) as session:
        rows, answers = session.sql(COUNT), session.sql("FROM answers")
        spec = session.spec
    head = read_head(SweepLayout(path))
    assert head is not None
    (place,) = list_heads(SweepLayout(path))
    if part != "head":
        damage(path / "generations" / head.study)
    if part != "study":
        # A directory without a head file is not a sweep.
        (_empty if damage is Path.unlink else damage)(Path(str(place)))
    expected = {"store.head-restored"} if part != "study" else set()
    expected |= {"store.study-restored"} if part != "head" else set()
    with open_session(path) as session:
        assert {issue.code for issue in session.sweep.warnings} == expected
        assert session.spec == spec
        assert session.sql(COUNT).equals(rows)
        assert session.sql("FROM answers").equals(answers)
    found = recorded_progress.status(path)
    assert {issue.code for issue in found.warnings} == expected
    assert found.finished == (part == "study")
    listed = (
        {"store.lost-file" if damage is Path.unlink else "store.damaged-file"} if part != "head" else set()
    )
    listed |= expected & {"store.head-restored"}
    for problems in (check_sweep(SweepLayout(path)).problems, verify(path).problems):
        assert {issue.code for issue in problems} == listed
        assert all("`destage run SWEEP`" in issue.message for issue in problems)
    outcome = sweeps.resume(path, executor="inline")
    assert (outcome.state, outcome.executed) == ("finished", 0)
    assert open_sweep(path).warnings == ()
    assert recorded_progress.status(path).finished
    assert verify(path, sample=1.0).problems == ()
    with open_session(path) as session:
        assert session.sql("FROM answers").equals(answers)


def test_a_restored_head_has_no_answers_of_another_plan(make_study: MakeStudy, tmp_path: Path) -> None:
    """A writer is killed after its first round; the files of the finished sweep before it are there, too."""
    study = make_study(seek=SEEK, axes={"array.disks": [1]})
    path = Path(str(sweeps.run(study, tmp_path, executor="inline").path))
    layout = SweepLayout(path)
    whole = {file.name: file.read_bytes() for file in (path / "generations").iterdir()}
    other = make_study(seek=SEEK, axes={"array.disks": [1, 2]})
    sweeps.run(other, tmp_path, executor="inline")
    for name, data in whole.items():
        (path / "generations" / name).write_bytes(data)
    _empty(Path(str(list_heads(layout)[-1])))
    for head in list_heads(layout)[:-1]:
        Path(str(head)).unlink()
    sweep = open_sweep(path)
    assert sweep.answers().num_rows == 0
    assert set(sweep.plan()["array.disks"].to_pylist()) == {1, 2}


def test_a_round_that_was_mended_ends_no_plan(make_study: MakeStudy, tmp_path: Path) -> None:
    """The head is damaged after another writer has written a damaged round again: later rounds count, too."""
    study = make_study(seek=SEEK, axes={"array.disks": [1, 2]})
    path = Path(str(sweeps.run(study, tmp_path, executor="inline").path))
    layout = SweepLayout(path)
    plan, head = open_sweep(path).plan(), read_head(layout)
    assert head is not None
    assert len(head.rounds) > 2
    _flip(path / "generations" / head.rounds[1])
    sweeps.resume(path, executor="inline")
    _empty(Path(str(list_heads(layout)[-1])))
    sweep = open_sweep(path)
    assert {issue.code for issue in sweep.warnings} == {"store.head-restored"}
    assert sweep.plan().equals(plan)
