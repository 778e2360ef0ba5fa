"""Write the tables of docs/calibrating.md from the bundled calibrations of a store.

Usage: calibrating_page.py STORE

`make studies` runs the calibrations and this script. The sentences around the tables are not generated: the
script prints what they speak of, to be compared with them.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from destage.store import find_sweep, locate, open_sweep
from destage.sweeps import studies

PAGE = Path(__file__).parents[1] / "docs" / "calibrating.md"
FACTORS = {"users": 1.0, "MB/s": 1e-6, "tables/s": 1.0}
"""The units of the page, with the factor from base units."""
_SCORES = ("crps", "rule_crps")
_WORTH_SAYING = 0.4


def main(arguments: list[str]) -> int:
    """Replace the tables and print what the sentences speak of."""
    (store,) = arguments
    text = PAGE.read_text("utf-8")
    for name in studies.names():
        if "calibrate" in studies.load_fields(name):
            tables = read_tables(name, store)
            text = replace_table(text, name, tables)
            print_facts(name, tables)
    PAGE.write_text(text, "utf-8")
    return 0


def read_tables(name: str, store: str) -> Mapping[str, list[dict[str, Any]]]:
    """Return the tables of the analyses of a calibration, by name."""
    sweep = open_sweep(find_sweep(name, locate(store)))
    return {key: table.to_pylist() for key, table in sweep.analyses().items()}


def replace_table(text: str, name: str, tables: Mapping[str, list[dict[str, Any]]]) -> str:
    """Return the page with the table of a study renewed; fits and figures keep their words and order."""
    start = text.index(f"destage calibrate {name}`")
    section = text[start:].partition("\n## ")[0].partition("\n### ")[0]
    (table,) = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    head, rule, *rows = table.splitlines()
    factor = FACTORS[head.partition("(90 %) [")[2].partition("]")[0]]
    lines = [head, rule, *format_rows(rows, tables, factor)]
    return text[:start] + section.replace(table, "\n".join([*lines, ""])) + text[start + len(section) :]


def format_rows(rows: list[str], tables: Mapping[str, list[dict[str, Any]]], factor: float) -> Iterator[str]:
    """Yield the rows of a table with the figures of a run."""
    draws = {row["fit"]: row["effective_draws"] for row in tables["calibration"]}
    predicted = {(row["fit"], row["figure"]): row for row in tables["predictive"]}
    for row in rows:
        fit, _, figure, *_ = (cell.strip() for cell in row.strip("|").split("|"))
        values = predicted[fit, figure]
        median, low, high = (
            format_digits(values[key] * factor, 3) for key in ("median", "low_90", "high_90")
        )
        published = format_digits(values["published"] * factor, 4)
        scores = (format_digits(values[key] * factor, 3) for key in _SCORES)
        cells = (fit, f"{draws[fit]:.0f}", figure, f"{median} ({low} to {high})", published, *scores)
        yield f"| {' | '.join(cells)} |"


def format_digits(value: float, digits: int) -> str:
    """Return a number with some significant digits, without an exponent."""
    return f"{float(f'{value:.{digits}g}'):g}"


def print_facts(name: str, tables: Mapping[str, list[dict[str, Any]]]) -> None:
    """Print whether published figures are inside and better than the baseline, and what is worth knowing."""
    print(name)
    for row in tables["predictive"]:
        if not row["is_fitted"]:
            inside = "inside" if row["low_90"] <= row["published"] <= row["high_90"] else "OUTSIDE"
            better = "better" if row["crps"] < row["rule_crps"] else "WORSE"
            print(f"  {row['fit']}: {row['figure']}: {inside} the 90 % interval, {better} than the baseline")
    for row in tables["worth_knowing"]:
        if row["variance_removed"] >= _WORTH_SAYING:
            print(f"  {row['fit']}: {row['figure']}: {row['known']} removes {row['variance_removed']:.0%}")
    for row in tables["odds"]:
        low, high = row["probability_low"], row["probability_high"]
        odds = f"{row['probability']:.3f} ({low:.0%} to {high:.0%})"
        print(f"  {row['fit']}: {row['figure']}: {row['statement']}: {odds}")
    for row in tables["unknowns"]:
        quantiles = ", ".join(f"{column} {row[column]}" for column in row if column.startswith("posterior"))
        print(f"  {row['fit']}: {row['unknown']}: {quantiles}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
