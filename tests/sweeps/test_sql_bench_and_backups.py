"""The studies of the two articles on write caches: their arithmetic, and the mechanisms that they rest on."""

from typing import Any

import pytest

from destage import engine
from destage.queries.measurement import Measurement
from destage.queries.verdicts import judge
from destage.sql import Database, find_qualifiers, join_statement
from destage.sweeps import studies
from destage.sweeps.points import expand

STUDIES = (
    *("sql_bench_g5", "sql_bench_alter", "sql_bench_g4", "create_drop_trace"),
    *("backups", "backups_trace", "crystaldiskmark"),
)
REVOLUTION_MS = 60_000 / 7200


def row(study: str, label: str, **assigned: object) -> dict[str, Any]:
    """Run the first replicate of a point: its label, and values of axes by their last name."""
    for point in expand(studies.load(study)).points:
        values = {path.rpartition(".")[2]: value for path, value in point.axes.items()}
        if point.label == label and all(values[name] == value for name, value in assigned.items()):
            return engine.simulate(point.config)
    pytest.fail(f"{study} has no point {label!r} with {assigned}")


@pytest.mark.parametrize("name", STUDIES)
def test_what_the_articles_print_is_exact_or_contradicts_itself_as_said(name: str) -> None:
    document = studies.load(name).document
    expected = {"exact": "exact", "inconsistent": "paper inconsistent", "ordering": "ordering holds"}
    with Database({}) as database:
        for figure in document["published"]:
            if "compute" not in figure or find_qualifiers(figure["compute"], document["places"]):
                continue
            (value,) = database.query(join_statement(figure["compute"], {})).to_pylist()
            assert judge(figure, Measurement(value["value"], None, None, 1)) == expected[figure["kind"]], (
                figure
            )


def test_a_table_costs_three_accesses_without_a_cache_and_the_processor_s_time_with_one() -> None:
    slow = row("sql_bench_g5", "create, no cache", kind="scattered")
    fast = row("sql_bench_g5", "create, cache", kind="scattered")
    assert slow["writes"] == fast["writes"] == 30_000
    assert slow["interaction_response_mean_us"] == pytest.approx(3 * slow["response_mean_us"])
    assert fast["write_stalls"] == 0
    assert fast["completion_time_s"] == pytest.approx(10_000 * 0.81e-3, rel=0.15)
    assert 20 < slow["completion_time_s"] / fast["completion_time_s"] < 30


def test_the_older_machine_waits_for_room_or_for_nothing() -> None:
    scattered = row("sql_bench_g4", "create, scattered writes", kind="contiguous")
    absorbed = row("sql_bench_g4", "create, absorbed writes")
    assert scattered["disk_busy_max_fraction"] > 0.95
    assert scattered["write_stalls"] > 0.4 * scattered["writes"]
    assert absorbed["write_stalls"] == 0
    assert absorbed["completion_time_s"] < 104 < scattered["completion_time_s"]


def test_a_sequential_write_without_a_cache_takes_a_revolution_and_what_passes_under_the_head() -> None:
    alone = row("crystaldiskmark", "depth 1, no cache", raid="1")
    outer_rate = 171e6
    passing_ms = 65_536 / outer_rate * 1000
    assert alone["response_mean_us"] / 1000 == pytest.approx(REVOLUTION_MS + passing_ms, rel=0.005)
    cached = row("crystaldiskmark", "depth 32, forced cache", raid="5")
    assert 0.98 * 117.7e6 < cached["throughput_bytes_per_s"] < 117.7e6


def test_what_is_forced_into_a_cache_without_battery_is_lost_with_the_mains() -> None:
    forced, protected = (row("backups", f"mains lost, {how} cache") for how in ("forced", "protected"))
    assert forced["dirty_lost_bytes"] > 50e6
    assert protected["dirty_lost_bytes"] == 0
    assert protected["dirty_preserved_bytes"] == forced["dirty_lost_bytes"]
