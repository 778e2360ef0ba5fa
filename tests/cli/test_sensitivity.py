"""`destage explain axes` on a small sweep."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.usefixtures("sweep")
def test_it_says_what_matters_in_every_form(destage: Any, tmp_path: Path) -> None:
    done = destage("explain", "axes", "small", "--plot", str(tmp_path / "what.svg"))
    assert done.code == 0
    assert done.out.startswith("What matters most for response p95: ")
    assert "battery state" in done.out
    assert "analysis of variance of the full grid: 4 points, 2 replicates" in done.err
    assert "What matters for response p95" in (tmp_path / "what.svg").read_text()
    tables = json.loads(destage("explain", "axes", "small", "--json").out)
    rows = {row["axis"]: row for row in tables["sensitivity"]}
    assert set(rows) == {"controller.battery.state", "workload.users"}
    (pair,) = tables["interactions"]
    assert sum(row["first_order"] for row in rows.values()) + pair["share"] - 1 < 1e-9
    several = destage(
        "explain", "axes", "small", "--of", "response_p95", "--of", "throughput_iops", "--format", "csv"
    )
    listed = destage("explain", "axes", "small", "--of", "response_p95,throughput_iops", "--format", "csv")
    assert listed.out == several.out
    metrics = {row["metric"] for row in csv.DictReader(io.StringIO(several.out))}
    assert metrics == {"response_p95_us", "throughput_iops"}
    assert "other axis" in destage("explain", "axes", "small", "--pairs").out


@pytest.mark.usefixtures("sweep")
def test_conditions_choose_points(destage: Any) -> None:
    found = json.loads(destage("explain", "axes", "small", "--where", "users = 5", "--json").out)
    (row,) = found["sensitivity"]
    assert (row["axis"], row["points"]) == ("controller.battery.state", 2)
    assert row["first_order"] == 1.0


@pytest.mark.usefixtures("sweep")
def test_wrong_uses(destage: Any) -> None:
    assert destage("explain", "axes", "small", "--of", "users_supported").issues == [
        ("usage.unknown-name", "--of")
    ]
    assert destage("explain", "axes", "small", "--plot", "what.png").issues == [
        ("usage.bad-file-type", "--plot")
    ]
    one = destage("explain", "axes", "small", "--where", "users = 5", "--where", "battery_state = 'present'")
    assert one.issues == [("query.no-rows", "small")]


@pytest.mark.usefixtures("sweep")
def test_the_report_has_the_chart(destage: Any) -> None:
    destage("report", "small", "--out", "report.html")
    page = Path("report.html").read_text()
    assert '<section class="figure" id="what_matters"><h2>What matters for response p95</h2>' in page
    assert "analysis of variance of the full grid" in page
    assert destage("report", "small", "--plot", "what_matters").out.startswith("<svg")


@pytest.mark.usefixtures("sweep")
def test_a_constant_result_has_a_sentence(destage: Any, tmp_path: Path) -> None:
    done = destage("explain", "axes", "small", "--of", "commits", "--plot", str(tmp_path / "what.svg"))
    assert done.out.strip() == "Commits is the same at all 4 points: no axis matters."
    assert "no chart" in done.err
    assert not (tmp_path / "what.svg").exists()
