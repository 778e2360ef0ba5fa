"""`destage compare` on a small sweep."""

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from destage.cli.commands.compare import print_comparison
from destage.queries.pairs import measured_pairs
from destage.queries.pairs.point_pairs import Comparison, Pair, compare_values

DATA = Path(__file__).parents[1] / "measured" / "data"


@pytest.mark.usefixtures("sweep")
def test_compare_prints_differences_in_every_form(destage: Any) -> None:
    sides = ("--a", "battery_state = 'present'", "--b", "battery_state = 'absent'")
    done = destage("compare", "small", *sides)
    assert done.code == 0
    assert "5 users:" in done.out
    assert "B  battery state absent" in done.out
    assert "response p95 [ms]" in done.out
    found = json.loads(destage("compare", "small", *sides, "--columns", "response_p95", "--json").out)
    assert [pair["common"] for pair in found["pairs"]] == ["5 users", "10 users"]
    (one,) = found["pairs"][0]["differences"]
    assert one["count"] == 2
    assert one["difference"] == one["mean_b"] - one["mean_a"]
    rows = list(csv.DictReader(io.StringIO(destage("compare", "small", *sides, "--format", "csv").out)))
    assert {row["a"] for row in rows} == {"battery state present"}


@pytest.mark.usefixtures("sweep")
def test_compare_two_sweeps_names_the_left_over(destage: Any, study: Path) -> None:
    other = study.with_name("other.yaml")
    other.write_text(study.read_text().replace("name: small", "name: other").replace("[5, 10]", "[10, 20]"))
    destage("run", str(other), "--quiet")
    done = destage("compare", "small", "other")
    assert done.code == 0
    assert "2 points of A without a partner" in done.err
    assert "2 points of B without a partner" in done.err
    assert "  equal\n" in done.out
    assert "is higher" not in done.out


@pytest.mark.usefixtures("sweep")
def test_compare_needs_two_sides(destage: Any) -> None:
    assert destage("compare", "small", "--a", "users = 5").issues == [("usage.conflicting-options", "--b")]
    assert destage("compare", "small", "--a", "users = 6", "--b", "users = 5").issues == [
        ("query.no-such-point", "--a")
    ]


@pytest.mark.usefixtures("sweep")
def test_measured_lines_are_compared_with_the_points_that_are_chosen(
    destage: Any, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (Path(study).parent / "fio.json").write_text((DATA / "fio-3.33-grouped.json").read_text())
    destage("measured", "import", "fio.json", "--name", "lab", "--array", "ours")
    chosen: list[int] = []
    compare = measured_pairs.compare_measured

    def note(session: Any, measured: Any, choice: Any, *arguments: Any) -> Any:
        chosen.append(len(choice.points))
        return compare(session, measured, choice, *arguments)

    monkeypatch.setattr(measured_pairs, "compare_measured", note)
    destage("compare", "small", "--measured", "lab")
    destage("compare", "small", "--measured", "lab", "--a", "users = 5")
    destage("compare", "small", "--measured", "lab", "--a", "users = 5 AND battery_state = 'present'")
    assert chosen == [4, 2, 1]


def test_no_number_is_shown_that_only_computers_can_see(capsys: pytest.CaptureFixture[str]) -> None:
    """Two results with another number of pairs, one of which differs in the sixth digit."""
    ratios = compare_values("read_hit_ratio", {0: 1.0, 1: 1.0}, {0: 0.9999968, 1: 0.9999967})
    times = compare_values(
        "response_p95_us", {0: 2000.0, 1: 3000.0, 2: 2500.0}, {0: 1000.0, 1: 1900.0, 2: 1500.0}
    )
    assert ratios is not None
    assert times is not None
    side: Any = SimpleNamespace(session=SimpleNamespace(probed=()), choice=SimpleNamespace(probe=None))
    pair = Pair("a", "b", "", "x", "y", shares_runs=False, differences=[ratios, times])
    print_comparison(Comparison([pair], [], []), side, side)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "2 to 3 pairs of replicates"
    assert lines[5].split()[:6] == ["read", "hit", "ratio", "1", "1", "0"]
    assert lines[5].endswith("  equal within 0.01 % (2 pairs)")
    assert lines[6].endswith("  B is lower (3 pairs)")
