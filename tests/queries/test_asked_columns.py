"""Relations of hundreds of columns begin with those that the study asks for."""

from typing import Any

import pytest
from small_studies import small_study

from destage import sweeps
from destage.queries import Session, open_session

AXES = ("workload.users: [5, 10]", "controller.battery.state: [present, absent]")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Open a small sweep whose chart and answer name two results that its table does not have."""
    folder = tmp_path_factory.mktemp("asked")
    text = small_study("small", *AXES) + (
        "charts: [{title: Disk reads, x: workload.users, y: disk_reads}]\n"
        "places: {few: {workload.users: 5, controller.battery.state: present}}\n"
        'answer: ["Five users read {few.read_iops} times a second; no flushes."]\n'
    )
    (folder / "small.yaml").write_text(text)
    path = sweeps.run(sweeps.load_study(folder / "small.yaml"), folder / "store", executor="inline").path
    with open_session(path) as opened:
        yield opened


def _read(session: Session, statement: str) -> Any:
    (found,) = session.split(statement)
    return session.run(found)


@pytest.mark.parametrize("relation", ["points", "runs", "replicates"])
def test_asked_columns_come_first_and_none_is_lost(session: Session, relation: str) -> None:
    """Axes, then the answer of the study, then what its chart and its answer name."""
    columns = _read(session, f"FROM {relation} LIMIT 0").column_names
    stored = session.name_columns(session.sql(f"FROM {relation} LIMIT 0")).column_names
    assert sorted(columns) == sorted(stored)
    bases = [name for name in columns if not name.endswith(("_low", "_high"))]
    assert bases[:6] == ["label", "users", "battery_state", "response_p95_us", "disk_reads", "read_iops"]
    assert bases.index("flushes") > bases.index("response_mean_us")


def test_intervals_follow_their_mean(session: Session) -> None:
    columns = _read(session, "FROM points LIMIT 0").column_names
    at = columns.index("disk_reads")
    assert columns[at : at + 3] == ["disk_reads", "disk_reads_low", "disk_reads_high"]


def test_only_rows_of_all_columns_are_narrowed(session: Session) -> None:
    """Columns that a statement lists stay, also those that a study does not ask for."""
    rows, sentence = session.public.narrow(_read(session, "SELECT *, 1 + 1 AS two FROM points"))
    assert rows.column_names[:2] == ["label", "users"]
    assert "two" in rows.column_names
    assert "flushes" not in rows.column_names
    assert len(rows.column_names) < 60
    assert sentence.startswith("points")
    listed = _read(session, "SELECT users, flushes FROM points")
    assert session.public.narrow(listed) == (listed, "")
