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
