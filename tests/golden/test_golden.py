"""The engine reproduces the rows in `rows.json` bit for bit on every machine."""

import pytest
from golden.cases import CASES
from golden.rows import find_differences, read_golden, simulate_row

from destage.engine import RESULTS_VERSION

INSTRUCTIONS = """
Results changed. If this was not intended, find the cause. If it was:
  1. raise RESULTS_VERSION in engine/core/src/lib.rs (once for each release),
  2. run: PYTHONPATH=tests .venv/bin/python -m golden.rows
  3. describe under "Results changed" in CHANGELOG.md what changed, why, and by how much.
Differences ({count} of {columns} columns of {name}), golden against now:
{lines}"""


@pytest.mark.parametrize("name", CASES)
def test_row_equals_its_golden_row(name: str) -> None:
    golden, row = read_golden()["rows"][name], simulate_row(name)
    differing = find_differences(golden, row)
    lines = [f"  {each}: {_readable(golden[each])} against {_readable(row.get(each))}" for each in differing]
    assert not differing, INSTRUCTIONS.format(
        count=len(differing), columns=len(golden), name=name, lines="\n".join(lines[:12])
    )


def test_new_columns_are_not_compared_and_missing_ones_are() -> None:
    golden = {"reads": 1, "window_s": "0x1.0p+0"}
    assert find_differences(golden, {**golden, "added": 2}) == []
    assert find_differences(golden, {"reads": 2, "added": 2}) == ["reads", "window_s"]


def test_golden_rows_have_this_results_version_and_these_cases() -> None:
    assert read_golden()["results_version"] == RESULTS_VERSION
    assert set(read_golden()["rows"]) == set(CASES)


def test_each_policy_has_results_of_its_own() -> None:
    rows = read_golden()["rows"]
    for kind in ("destage-", "replacement-"):
        results = {row["response_mean_us"] for name, row in rows.items() if name.startswith(kind)}
        assert len(results) == sum(name.startswith(kind) for name in CASES)


def test_golden_rows_end_ok_and_cover_the_main_mechanisms() -> None:
    rows = read_golden()["rows"].values()
    assert {row["status"] for row in rows} == {"ok"}
    assert all(
        any(row[column] for row in rows) for column in ("write_stalls", "flushes", "commits", "destages")
    )


def _readable(value: object) -> object:
    if isinstance(value, str):
        try:
            return float.fromhex(value) if "0x" in value else value
        except ValueError:
            return value
    return value
