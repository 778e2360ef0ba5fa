"""Rows as exact text: whole numbers as they are, floating-point numbers in hexadecimal.

Run as a script, it rewrites `rows.json` after an intended change of results or for a new column.
"""

import json
from pathlib import Path
from typing import Any

from golden.cases import CASES

from destage.engine import RESULTS_VERSION, simulate

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("rows.json")


def exact(value: object) -> object:
    """Return a value that is equal only where the bits are."""
    if isinstance(value, list):
        return [exact(item) for item in value]
    return value.hex() if isinstance(value, float) else value


def simulate_row(name: str) -> dict[str, Any]:
    """Run a case and return its row."""
    return {column: exact(value) for column, value in simulate(CASES[name], folder=ROOT).items()}


def read_golden() -> dict[str, Any]:
    """Return the stored results version and the stored rows by case."""
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def find_differences(golden: dict[str, Any], row: dict[str, Any]) -> list[str]:
    """Return the columns of a golden row whose value a row does not have; new columns are not compared."""
    return [column for column, value in golden.items() if column not in row or row[column] != value]


def write_golden() -> None:
    """Run every case and store its row."""
    rows = {name: simulate_row(name) for name in CASES}
    content = {"results_version": RESULTS_VERSION, "rows": rows}
    FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_golden()
