"""The order of stored rows that a large sweep keeps gives the same answers as a join with its plan."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from destage.queries import open_session
from destage.queries.tables import facts
from destage.queries.tables.views import OPTIONAL_PLAN
from destage.store.files.digests import digest_of
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import rows_schema

DISKS = "array.disks"
REPLICATES = 3
POINTS = 12
MEANS = (
    "SELECT point_id, n, n_missing, response_p95_us, response_p95_us_low, throughput_iops "
    "FROM points ORDER BY plan_row"
)
OF_USERS = (
    "SELECT count(*) AS n FROM runs",
    "SELECT sum(requests) AS n FROM runs",
    "SELECT count(DISTINCT run_id) AS n, min(status) AS least FROM runs",
    "SELECT point_id, disks, sum(requests) AS n FROM runs GROUP BY ALL ORDER BY ALL",
    "SELECT * FROM runs WHERE disks > 3 ORDER BY run_id",
)


def plan_runs() -> list[dict[str, Any]]:
    draw = np.random.default_rng(5)
    return [
        {
            "point_id": f"p{point:02}",
            "replicate": replicate,
            "run_id": f"{draw.integers(1 << 60):x}",
            DISKS: point,
            "status": "ok" if draw.random() < 0.8 else "overloaded",
            "response_p95_us": draw.uniform(1, 9),
            "throughput_iops": None if draw.random() < 0.3 else draw.uniform(1, 9),
            "requests": int(draw.integers(1 << 40)),
        }
        for point in range(POINTS)
        for replicate in range(REPLICATES)
    ]


def add_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    names = rows_schema().names
    columns = [{name: row.get(name) for name in names} for row in rows]
    write_fragment(path / "fragments", pa.Table.from_pylist(columns, rows_schema()))


def read_answers(path: Path) -> list[Any]:
    with open_session(path) as session:
        answers = [session.sql_of_named_columns(MEANS).to_pylist()]
        answers += [session.run(*session.split(statement)).to_pylist() for statement in OF_USERS]
        return [[tuple(map(repr, row.values())) for row in rows] for rows in answers]


def find_orders(path: Path) -> list[Path]:
    return list((path / "copies").glob("*.order"))


@pytest.fixture
def make_sweep(make_session: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a function that writes a sweep in several fragments, whose order the first reader keeps."""

    def make(stored: slice = slice(None), *, finished: bool = True) -> Path:
        runs = plan_runs()
        with make_session(planned_only=runs, axes={DISKS: pa.int64()}, finished=finished) as session:
            path = Path(str(session.sweep.path))
        shuffled = [runs[at] for at in np.random.default_rng(2).permutation(len(runs))][stored]
        for start in range(0, len(shuffled), 7):
            add_rows(path, shuffled[start : start + 7])
        monkeypatch.setattr(facts, "_FEWEST_RECORDED", 1)
        return path

    return make


@pytest.mark.parametrize("stored", [slice(None), slice(5, None), slice(1)])
def test_kept_order_gives_the_answers_of_a_join(
    make_sweep: Any, monkeypatch: pytest.MonkeyPatch, stored: slice
) -> None:
    path = make_sweep(stored)
    with monkeypatch.context() as patched:
        patched.setattr(facts, "_FEWEST_RECORDED", 1 << 30)
        expected = read_answers(path)
    assert not find_orders(path)
    assert read_answers(path) == read_answers(path) == expected
    assert len(find_orders(path)) == 1


def test_both_views_of_runs_are_equal(make_sweep: Any) -> None:
    with open_session(make_sweep(slice(4, None))) as session:
        views = [session.sql(name).sort_by("run_id") for name in ("FROM runs", f"FROM {OPTIONAL_PLAN}")]
    assert views[0].equals(views[1])
    assert views[0].num_rows == POINTS * REPLICATES - 4


def test_only_columns_of_the_plan_are_joined(make_sweep: Any) -> None:
    def explain(session: Any, listed: str) -> str:
        return str(session.run(*session.split("EXPLAIN SELECT " + listed + " FROM runs")).to_pylist()).lower()  # noqa: S608 - names of columns

    with open_session(make_sweep()) as session:
        for listed in ("count(*)", "avg(response_p95_us)", "min(run_id), count( * )"):
            assert "join" not in explain(session, listed)
        for listed in ("point_id", "max(disks)", "*"):
            assert "join" in explain(session, listed)


def test_an_added_run_has_a_new_order(make_sweep: Any) -> None:
    path = make_sweep(slice(6, None))
    before = read_answers(path)
    (kept,) = find_orders(path)
    runs = plan_runs()
    add_rows(path, [runs[at] for at in np.random.default_rng(2).permutation(len(runs))][:6])
    after = read_answers(path)
    assert after != before
    (renewed,) = find_orders(path)
    assert renewed != kept
    renewed.unlink()
    assert read_answers(path) == after


@pytest.mark.parametrize("row", [{"run_id": "unplanned"}, {"run_id": plan_runs()[0]["run_id"]}])
def test_rows_without_one_place_each_keep_no_order(make_sweep: Any, row: dict[str, Any]) -> None:
    path = make_sweep()
    expected = read_answers(path)
    add_rows(path, [{"status": "failed", **row}])
    assert read_answers(path) == expected
    with open_session(path) as session:
        assert session.relations.order is None


def test_a_sweep_that_runs_keeps_no_order(make_sweep: Any) -> None:
    path = make_sweep(finished=False)
    read_answers(path)
    assert not find_orders(path)


def replace_order(path: Path, content: bytes) -> None:
    key = path.name.partition("-")[0]
    path.unlink()
    path.with_name(f"{key}-{digest_of(content)}.order").write_bytes(content)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[::-1]),
        lambda path: replace_order(path, path.read_bytes()[:-4]),
        lambda path: replace_order(path, np.full(POINTS * REPLICATES, 1 << 31, "<u4").tobytes()),
    ],
)
@pytest.mark.parametrize("is_open", [False, True])
def test_an_order_that_is_lost_or_invalid_is_not_used(make_sweep: Any, change: Any, *, is_open: bool) -> None:
    path = make_sweep()
    expected = read_answers(path)
    if not is_open:
        change(*find_orders(path))
        assert read_answers(path) == expected
        return
    with open_session(path) as session:
        change(*find_orders(path))
        rows = session.sql_of_named_columns(MEANS).to_pylist()
    assert [tuple(map(repr, row.values())) for row in rows] == expected[0]


def test_a_folder_that_cannot_be_written_gives_the_same_answers(make_sweep: Any) -> None:
    path = make_sweep()
    (path / "copies").write_text("a file where the folder would be")
    expected = read_answers(path)
    (path / "copies").unlink()
    assert read_answers(path) == expected
