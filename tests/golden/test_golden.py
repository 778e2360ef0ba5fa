"""The engine gives exactly the rows that it gave when `rows.json` was written, on every machine."""

import pytest
from golden.cases import CASES
from golden.rows import kept, row_of

from destage.engine import RESULTS_VERSION

INSTRUCTIONS = """
Results changed. If that is not what you meant, find out why. If it is:
  1. raise RESULTS_VERSION in engine/core/src/lib.rs (once for each release),
  2. run: PYTHONPATH=tests .venv/bin/python -m golden.rows
  3. say under "Results changed" in CHANGELOG.md what changed, why, and by how much.
Differences ({count} of {columns} columns of {name}), kept against now:
{lines}"""


@pytest.mark.parametrize("name", CASES)
def test_a_row_is_the_one_that_was_kept(name: str) -> None:
    """A column that was added since is not compared; writing the rows again keeps it."""
    before, now = kept()["rows"][name], row_of(name)
    differences = [
        f"  {column}: {_readable(before.get(column))} against {_readable(now.get(column))}"
        for column in before
        if column not in now or before[column] != now[column]
    ]
    assert not differences, INSTRUCTIONS.format(
        count=len(differences), columns=len(now), name=name, lines="\n".join(differences[:12])
    )


def test_the_rows_are_of_this_version_of_results_and_of_these_cases() -> None:
    assert kept()["results_version"] == RESULTS_VERSION
    assert set(kept()["rows"]) == set(CASES)


def test_every_status_of_a_finished_run_is_among_them() -> None:
    rows = kept()["rows"].values()
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
