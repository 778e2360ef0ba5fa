"""Queries of a sweep with more points than a table lists."""

import json
from pathlib import Path
from typing import Any

from small_studies import small_study

USERS = list(range(1, 111))


def test_a_query_that_aggregates_has_all_points(destage: Any, tmp_path: Path) -> None:
    """Tables list 100 points; a mean over points is still that of all 110."""
    (tmp_path / "many.yaml").write_text(
        small_study("many", f"workload.users: {USERS}", "controller.battery.state: [present]", requests=20)
    )
    assert destage("run", "many.yaml", "--quiet").code == 0
    rows = json.loads(destage("query", "many", "marginals", "--json").out)
    assert sum(row["points"] for row in rows if row["axis"] == "users") == len(USERS)
    table = destage("query", "many", "marginals")
    assert "left out" not in table.err
    assert len(table.out.splitlines()) == 1 + len(USERS)
    listed = destage("query", "many", "design_space")
    assert "10 points left out" in listed.err


def test_points_that_are_one_configuration_have_a_partner(destage: Any, tmp_path: Path) -> None:
    """Without a cache, both write fractions are the same configuration: one pair, and no point is left."""
    axes = (
        "controller.cache.capacity: [0]",
        "controller.cache.write_fraction: [0, 1]",
        "workload.users: [5, 9]",
    )
    (tmp_path / "many.yaml").write_text(small_study("many", *axes, requests=50))
    assert destage("run", "many.yaml", "--quiet").code == 0
    done = destage("compare", "many", "--a", "users = 5", "--b", "users = 9", "--json")
    found = json.loads(done.out)
    assert len(found["pairs"]) == 1
    assert found["unmatched_a"] == found["unmatched_b"] == []
