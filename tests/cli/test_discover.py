"""`destage explain ranges`: the box of points where a statement holds, and the options that choose it."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import AXES, finish_sweep
from small_studies import small_study

USERS = "[2, 4, 6, 8, 10, 12, 14, 16, 18, 20]"
HOLDS = "users <= 10 AND battery_state = 'present' AND response_p95_us > 0"


@pytest.fixture(scope="module")
def finished_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = small_study("small", AXES[0], f"workload.users: {USERS}")
    return finish_sweep(tmp_path_factory.mktemp("box"), text)


def test_the_box_is_found_in_every_form(destage: Any, sweep: str) -> None:
    """The statement names the box itself: all cases, and nothing else, are inside."""
    found = json.loads(destage("explain", "ranges", sweep, "--where", HOLDS, "--json").out)
    assert (found["points"], found["cases"]) == (20, 5)
    limits = {limit["axis"]: limit for limit in found["box"]["limits"]}
    assert 10 <= limits["workload.users"]["high"] < 12
    assert (found["box"]["coverage"], found["box"]["density"]) == (1.0, 1.0)
    shown = destage("explain", "ranges", sweep, "--where", HOLDS, "--plot", "box.svg")
    assert "users" in shown.out
    assert Path("box.svg").read_text().startswith("<svg")
    rows = list(
        csv.DictReader(
            io.StringIO(destage("explain", "ranges", sweep, "--where", HOLDS, "--format", "csv").out)
        )
    )
    assert {row["axis"] for row in rows} == set(limits)
    assert (
        destage("explain", "ranges", sweep, "--where", HOLDS, "--out", "box.csv", "--format", "csv").code == 0
    )
    assert len(Path("box.csv").read_text().splitlines()) == len(rows) + 1


def test_each_point_is_compared_with_another(destage: Any, sweep: str) -> None:
    """Against the point with two users, all others have more; it has no partner but itself."""
    where = "users > base.users"
    found = json.loads(
        destage("explain", "ranges", sweep, "--where", where, "--against", "users = 2", "--json").out
    )
    assert found["cases"] == 18


def test_a_rule_chooses_the_box(destage: Any, sweep: str) -> None:
    """A denser box has fewer of the cases of a statement that is no box."""
    where = "users * users <= 150 AND (battery_state = 'present' OR users <= 4)"
    boxes = {
        rule: json.loads(destage("explain", "ranges", sweep, "--where", where, *rule, "--json").out)["box"]
        for rule in (("--coverage", "1"), ("--density", "1"))
    }
    assert boxes["--coverage", "1"]["coverage"] == 1.0
    assert boxes["--density", "1"]["density"] == 1.0
    assert boxes["--density", "1"]["coverage"] < 1.0


@pytest.mark.parametrize(
    ("options", "issue"),
    [
        (("--where", HOLDS, "--coverage", "2"), ("usage.out-of-range", "--coverage")),
        (("--where", HOLDS, "--density", "0"), ("usage.out-of-range", "--density")),
        (("--where", HOLDS, "--density", "1", "--coverage", "1"), ("usage.conflicting-options", "--density")),
        (("--where", HOLDS, "--plot", "box.png"), ("usage.bad-file-type", "--plot")),
        ((), ("usage.missing-argument", "--where")),
    ],
)
def test_wrong_uses_name_their_option(
    destage: Any, sweep: str, options: tuple[str, ...], issue: tuple[str, str]
) -> None:
    assert destage("explain", "ranges", sweep, *options).issues == [issue]
