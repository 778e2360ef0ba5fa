"""The facts about a large sweep are found once and recorded; its plan is the same in any number of rounds."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from destage.queries import open_session
from destage.queries.tables import facts, relations
from destage.store.files.digests import decode_record, encode_record
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import rows_schema

DISKS = "array.disks"
AXES = {DISKS: pa.int64()}
POINTS, REPLICATES = 8, 3


def plan_runs() -> list[dict[str, Any]]:
    return [
        {
            "point_id": f"p{point}",
            "replicate": replicate,
            "run_id": f"{point}-{replicate}",
            DISKS: point,
            "response_p95_us": 1.0 + point + replicate / 10,
        }
        for point in range(POINTS)
        for replicate in range(REPLICATES)
    ]


STATEMENTS = (
    "FROM plan ORDER BY plan_row",
    "FROM configurations ORDER BY plan_row",
    "SELECT point_id, n, response_p95_us, response_p95_us_low FROM points ORDER BY plan_row",
    "SELECT run_id, point_id, response_p95_us FROM runs",
)


def read_all(path: Path) -> list[Any]:
    with open_session(path) as session:
        rows = [session.sql_of_named_columns(statement).to_pylist() for statement in STATEMENTS]
        return [session.relations.facts, *rows]


@pytest.fixture
def path(make_session: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sweep that is large enough for a record."""
    monkeypatch.setattr(facts, "_FEWEST_RECORDED", 1)
    with make_session(plan_runs(), axes=AXES) as session:
        found = session.sweep.path
    assert isinstance(found, Path)
    return found


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The plans whose facts were found by reading them."""
    plans: list[str] = []
    whole = relations.examine_plan

    def examine(connection: Any, plan: str, *others: Any) -> Any:
        plans.append(plan)
        return whole(connection, plan, *others)

    monkeypatch.setattr(relations, "examine_plan", examine)
    return plans


def find_record(path: Path) -> Path:
    (record,) = Path(str(SweepLayout(path).copies)).glob("*.facts")
    return record


@pytest.mark.parametrize("rounds", [2, 12])
@pytest.mark.parametrize("most_copied", [0, relations._SMALL])
def test_a_plan_is_the_same_in_any_number_of_rounds(
    make_session: Any, monkeypatch: pytest.MonkeyPatch, rounds: int, most_copied: int
) -> None:
    runs = plan_runs()
    with make_session(runs, axes=AXES) as session:
        path = session.sweep.path
        expected = read_all(path)
    assert [row["plan_row"] for row in expected[1]] == list(range(len(runs)))
    monkeypatch.setattr(relations, "_SMALL", most_copied)
    with make_session(planned_only=runs, axes=AXES, rounds=rounds) as session:
        files = [file for file in session.relations.files if "fragments" not in file]
        is_copied = most_copied > 0 and rounds > relations._MOST_ROUNDS
        assert len(files) == (1 if is_copied else rounds)
    assert read_all(path) == expected


def test_the_configuration_of_each_run_is_in_its_round(make_session: Any) -> None:
    first, *others = plan_runs()
    planned = [run | {"config": json.dumps({"workload": {"at": at}})} for at, run in enumerate(others, 1)]
    with make_session(planned_only=[first, *planned], axes=AXES, rounds=5) as session:
        found = [session.sweep.configuration(at) for at in range(1, len(planned) + 2)]
    assert found == [*({"workload": {"at": at}} for at in range(1, len(planned) + 1)), {}]


def test_a_second_reader_takes_the_recorded_facts(path: Path, examined: list[str]) -> None:
    expected = read_all(path)
    assert expected[0] == facts.Facts(POINTS * REPLICATES, REPLICATES, rows_per_point=REPLICATES)
    assert read_all(path) == expected
    assert not examined  # the session of the fixture has recorded them


def test_facts_are_those_of_the_fragments_that_are_there(path: Path, examined: list[str]) -> None:
    """A run that another fragment has again counts once, and is found by every reader."""
    before = read_all(path)
    row = dict.fromkeys(rows_schema().names) | {"run_id": "0-0", "status": "failed"}
    write_fragment(path / "fragments", pa.Table.from_pylist([row], rows_schema()))
    assert read_all(path) == read_all(path) == before
    assert len(examined) == 2


def forge(record: Path, **changed: Any) -> bytes:
    return encode_record(decode_record(record.read_bytes(), record) | changed)


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.read_bytes()[:-9],
        lambda record: record.read_bytes().replace(b'"replicates": 3', b'"replicates": 2'),
        lambda record: forge(record, replicates="3"),
        lambda record: forge(record, rows_per_point=0),
        lambda record: forge(record, shares_runs=None),
        lambda record: forge(record, points=8),
    ],
)
def test_an_invalid_record_is_replaced(path: Path, examined: list[str], change: Any) -> None:
    record = find_record(path)
    whole = record.read_bytes()
    record.write_bytes(change(record))
    assert read_all(path)[0].replicates == REPLICATES
    assert len(examined) == 1
    assert find_record(path).read_bytes() == whole


def test_a_folder_that_cannot_be_written_has_no_record(path: Path, examined: list[str]) -> None:
    expected = read_all(path)
    find_record(path).unlink()
    (path / "copies").rmdir()
    (path / "copies").write_text("a file where the folder would be")
    assert read_all(path) == read_all(path) == expected
    assert len(examined) == 2


def test_a_small_sweep_has_no_record(make_session: Any) -> None:
    with make_session(plan_runs(), axes=AXES) as session:
        assert not SweepLayout(session.sweep.path).copies.exists()
