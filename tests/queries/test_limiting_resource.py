"""The limiting resource has one definition: Python and SQL agree, and queries use its threshold."""

from itertools import product

import pyarrow as pa
import pytest

from destage.engine import columns
from destage.engine.result_columns import IDLE, columns_needed, limiting_resource, limiting_sql
from destage.queries.named.named_queries import list_queries
from destage.sql import Database

BUSY = {"disk_busy_max_fraction": 0.8, "link_busy_fraction": 0.3, "firmware_busy_fraction": 0.2}


@pytest.mark.parametrize(
    ("changes", "limiting"),
    [
        ({}, "disk"),
        ({"link_busy_fraction": 0.9}, "link"),
        ({"channel_busy_max_fraction": 0.9}, "channel"),
        ({"xor_busy_fraction": 0.9}, "xor"),
        ({"firmware_busy_fraction": 0.8}, "disk"),
        ({"disk_busy_max_fraction": 0.49}, "host"),
        ({"disk_busy_mean_fraction": 1.0, "disk_busy_max_fraction": 0.1}, "host"),
        ({"write_stalls": 90, "writes": 100}, "cache"),
        ({"host_busy_fraction": 0.9}, "host"),
        ({"host_busy_fraction": 0.7}, "disk"),
        ({"write_stalls": 0, "writes": 0}, "disk"),
        ({"write_stalls": 90}, "disk"),
    ],
)
def test_the_resource_used_most_limits(changes: dict[str, float], limiting: str) -> None:
    assert limiting_resource(BUSY | changes) == limiting


def test_a_row_without_any_use_has_no_limiting_resource() -> None:
    assert limiting_resource({"writes": 10, "disk_busy_max_fraction": None}) is None


def test_the_definition_reads_result_columns() -> None:
    assert set(columns_needed()) <= {column.name for column in columns()}


@pytest.mark.parametrize("idle", [0.0, IDLE, 1.0])
def test_sql_and_python_agree(idle: float) -> None:
    """Every combination of uses, unknown ones and equal ones among them."""
    names = columns_needed()
    rows = list(product([None, 0.0, IDLE, 0.75], repeat=len(names)))
    table = pa.table(
        {name: pa.array([row[at] for row in rows], pa.float64()) for at, name in enumerate(names)}
    )
    macros = {"limiting_resource(measured, idle)": limiting_sql("measured", "idle")}
    with Database({"points": table}, macros=macros) as database:
        found = database.query("SELECT limiting_resource(points, $idle) AS found FROM points", {"idle": idle})
    assert found["found"].to_pylist() == [
        limiting_resource(dict(zip(names, row, strict=True)), idle) for row in rows
    ]


def test_queries_have_the_same_threshold() -> None:
    defaults = [
        parameter.default
        for query in list_queries()
        for parameter in query.parameters
        if "limiting_resource(" in query.sql and parameter.name == "idle"
    ]
    assert defaults == [IDLE] * 3
