"""Rows as exact text: whole numbers as they are, floating-point numbers in hexadecimal.

Run as a script it writes `rows.json` anew, which says that results were changed on purpose.
"""

import json
from pathlib import Path
from typing import Any

from golden.cases import CASES

from destage.engine import RESULTS_VERSION, simulate

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("rows.json")


def exact(value: object) -> object:
    """A value such that equal text means equal bits."""
    if isinstance(value, list):
        return [exact(item) for item in value]
    return value.hex() if isinstance(value, float) else value


def row_of(name: str) -> dict[str, Any]:
    """The row of a case, run now."""
    return {column: exact(value) for column, value in simulate(CASES[name], folder=ROOT).items()}


def kept() -> dict[str, Any]:
    """What was written last: the results version and the rows by case."""
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def write() -> None:
    """Run every case and keep its row."""
    content = {"results_version": RESULTS_VERSION, "rows": {name: row_of(name) for name in CASES}}
    FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
