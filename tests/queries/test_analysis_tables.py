"""Analysis tables of a sweep: relations of SQL and named queries, whose columns are explained."""

from collections.abc import Callable

import pyarrow as pa
import pytest

from destage.errors import QueryError
from destage.queries import Session
from destage.store.schemas.analysis_schema import analysis_column, analysis_schema

CAPACITY = "controller.cache.capacity"
SCHEMA = analysis_schema(
    "one row per drawn capacity: its odds",
    [
        pa.field(CAPACITY, pa.int64()),
        analysis_column("odds", pa.float64(), "share of the draws", "fraction"),
        analysis_column("step", pa.int64(), "difference to the next", f"unit of {CAPACITY}"),
    ],
)


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    run = {"point_id": "p", "replicate": 0, "run_id": "r", CAPACITY: 2**20}
    rows = [{CAPACITY: 2**20, "odds": 0.25, "step": 2**20}, {CAPACITY: 2**21, "odds": 0.75, "step": 2**21}]
    return make_session(
        [run],
        axes={CAPACITY: pa.int64()},
        analyses={"capacities": pa.Table.from_pylist(rows, SCHEMA)},
    )


def ask(session: Session, text: str) -> list[dict[str, object]]:
    (statement,) = session.split(text)
    rows: list[dict[str, object]] = session.run(statement).to_pylist()
    return rows


def test_an_analysis_is_a_relation_with_the_names_of_axes(session: Session) -> None:
    assert ask(session, "SELECT cache_capacity FROM capacities WHERE odds > 0.5") == [
        {"cache_capacity": 2**21}
    ]
    assert ask(session, "SELECT odds FROM capacities JOIN points USING (cache_capacity)") == [{"odds": 0.25}]


def test_its_rows_and_columns_are_explained(session: Session) -> None:
    listed = {row["name"]: row["meaning"] for row in ask(session, "SHOW TABLES")}
    assert listed["capacities"] == "one row per drawn capacity: its odds"
    described = {
        row["column_name"]: (row["unit"], row["meaning"]) for row in ask(session, "DESCRIBE capacities")
    }
    assert described["odds"] == ("fraction", "share of the draws")
    assert described["cache_capacity"][0] == "bytes"
    assert described["step"] == ("bytes", "difference to the next")


def test_it_is_a_named_query_of_its_sweep_only(
    session: Session, make_session: Callable[..., Session]
) -> None:
    assert session.query("capacities")["odds"].to_pylist() == [0.25, 0.75]
    assert session.find_units("capacities")["step"] == "bytes"
    assert "capacities" in session.queries
    with pytest.raises(QueryError, match="unknown-query"):
        make_session([{"point_id": "p", "replicate": 0, "run_id": "r"}]).query("capacities")
