"""A sweep is opened while a session plans it again and deletes the files of the previous plan."""

from pathlib import Path
from typing import Any

import pytest
from small_studies import small_study

from destage import sweeps
from destage.queries import Session, open_session
from destage.queries.opening import session
from destage.queries.tables import relations
from destage.store import Sweep


def _run(store: Path, *users: int) -> Path:
    study = sweeps.parse_study(small_study("small", f"workload.users: {list(users)}"))
    return Path(str(sweeps.run(study, store, executor="inline").path))


def _users(found: Session) -> list[int]:
    users: list[int] = found.sql("SELECT DISTINCT users AS n FROM plan ORDER BY 1")["n"].to_pylist()
    return users


class Replanning:
    """Plans the sweep again when it is first called, and counts its calls."""

    def __init__(self, store: Path) -> None:
        self.calls = 0
        self._store = store

    def __call__(self) -> None:
        self.calls += 1
        if self.calls == 1:
            _run(self._store, 5, 6)


@pytest.mark.parametrize(
    ("step", "is_after"), [("copy_objects", True), ("_select_rows", False), ("examine_plan", False)]
)
def test_a_plan_that_is_replaced_before_it_is_examined_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, is_after: bool
) -> None:
    path, whole, replan = _run(tmp_path, 5), getattr(relations, step), Replanning(tmp_path)

    def take_and_replace(*arguments: Any) -> Any:
        if is_after:
            found = whole(*arguments)
            replan()
            return found
        replan()
        return whole(*arguments)

    monkeypatch.setattr(relations, step, take_and_replace)
    with open_session(path) as found:
        assert _users(found) == [5, 6]
    assert replan.calls > 1


@pytest.mark.parametrize("step", ["seek", "configuration", "list_row_files"])
def test_a_file_that_is_gone_before_it_is_read_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The head was read, and the files that it names are replaced before the next step."""
    path, whole, replan = _run(tmp_path, 5), getattr(Sweep, step), Replanning(tmp_path)
    read = whole.fget if isinstance(whole, property) else whole

    def replace_and_take(sweep: Sweep) -> Any:
        replan()
        if replan.calls == 1 and step == "list_row_files":
            raise FileNotFoundError  # as where one is compacted after it was listed
        return read(sweep)

    changed = property(replace_and_take) if isinstance(whole, property) else replace_and_take
    monkeypatch.setattr(Sweep, step, changed)
    with open_session(path) as found:
        assert _users(found) == [5, 6]


def test_a_sweep_whose_plan_is_replaced_while_it_is_opened_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _run(tmp_path, 5)
    whole = session.open_relations
    opened = []

    def open_and_replace(*arguments: Any) -> Any:
        found = whole(*arguments)
        opened.append(found)
        if len(opened) == 1:
            assert _run(tmp_path, 5, 6) == path
            assert not all(Path(file).exists() for file in found.files)
        return found

    monkeypatch.setattr(session, "open_relations", open_and_replace)
    with open_session(path) as found:
        assert _users(found) == [5, 6]
    assert len(opened) == 2
