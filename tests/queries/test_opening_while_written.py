"""A sweep is opened while a session plans it anew and deletes the files of the plan before."""

from pathlib import Path
from typing import Any

import pytest
from small_studies import small_study

from destage import sweeps
from destage.queries import open_session, session


def test_a_sweep_whose_plan_is_replaced_while_it_is_opened_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*users: int) -> Path:
        study = sweeps.parse_study(small_study("small", f"workload.users: {list(users)}"))
        return Path(str(sweeps.run(study, tmp_path, executor="inline").path))

    path = run(5)
    whole = session.open_relations
    opened = []

    def open_and_replace(*arguments: Any) -> Any:
        relations = whole(*arguments)
        opened.append(relations)
        if len(opened) == 1:
            assert run(5, 6) == path
            assert not all(Path(file).exists() for file in relations.files)
        return relations

    monkeypatch.setattr(session, "open_relations", open_and_replace)
    with open_session(path) as found:
        assert found.sql("SELECT DISTINCT users AS n FROM plan ORDER BY 1")["n"].to_pylist() == [5, 6]
    assert len(opened) == 2
