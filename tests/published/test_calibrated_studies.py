"""The tables of docs/calibrating.md: the predictions of each bundled calibration."""

import re
from pathlib import Path

import pytest
from script_modules import load_script

from destage import sweeps
from destage.store import open_sweep
from destage.sweeps import studies
from destage.sweeps.keys.calibrate_settings import Calibration

PAGE = Path(__file__).resolve().parents[2] / "docs" / "calibrating.md"
# To parse all studies would take each worker of the tests seconds.
NAMES = [name for name in studies.names() if "\ncalibrate:" in studies.text(name)]
UNITS = {"users": 1.0, "MB/s": 1e-6, "tables/s": 1.0}
"""The units of the page, with the factor from base units."""
ROUNDED = 0.006
"""The most that rounding to three digits, and the last digits of another processor, change."""


def read_table(name: str) -> tuple[float, dict[tuple[str, str], list[str]]]:
    """Return the factor of the unit and, by fit and figure, the other cells of a study's table."""
    sections = re.split(r"\n##+ ", PAGE.read_text("utf-8"))
    (section,) = [section for section in sections if f"destage calibrate {name}`" in section]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    unit = rows[0][3].partition("[")[2].rstrip("]")
    return UNITS[unit], {(row[0], row[2]): [row[1], *row[3:7]] for row in rows[2:]}


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_every_prediction(name: str) -> None:
    calibration = studies.load(name).adding
    assert isinstance(calibration, Calibration)
    _, written = read_table(name)
    assert set(written) == {
        (fit, figure)
        for fit, fitted in calibration.fits.items()
        for figure in calibration.figures
        if figure not in fitted
    }


def test_a_table_of_the_page_is_renewed_from_a_run() -> None:
    """Words and order stay, and the figures of all other studies."""
    name = "call_center_calibrated"
    _, written = read_table(name)
    fits = {fit for fit, _ in written}
    fields = dict.fromkeys(("median", "low_90", "high_90", "published", "crps", "rule_crps"), 1234.5)
    tables = {
        "calibration": [{"fit": fit, "effective_draws": 77.4} for fit in fits],
        "predictive": [{"fit": fit, "figure": figure, **fields} for fit, figure in written],
    }
    page = PAGE.read_text("utf-8")
    renewed = load_script("scripts/calibrating_page.py").replace_table(page, name, tables)
    changed = [
        (old, new) for old, new in zip(page.splitlines(), renewed.splitlines(), strict=True) if old != new
    ]
    assert len(changed) == len(written)
    assert {new.partition(" | ")[2] for _, new in changed} == {
        f"77 | {figure} | 1230 (1230 to 1230) | 1234 | 1230 | 1230 |" for _, figure in written
    }


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_what_comes_out(name: str, tmp_path: Path) -> None:
    outcome = sweeps.run(studies.load(name), tmp_path, executor="inline")
    assert outcome.state == "finished", outcome.messages
    tables = {key: table.to_pylist() for key, table in open_sweep(outcome.path).analyses().items()}
    effective = {row["fit"]: row["effective_draws"] for row in tables["calibration"]}
    factor, written = read_table(name)
    for row in tables["predictive"]:
        if row["is_fitted"]:
            continue
        draws, interval, *scores = written[row["fit"], row["figure"]]
        assert float(draws) == pytest.approx(effective[row["fit"]], abs=0.51)
        numbers = interval.replace("(", "").replace(")", "").replace("to", "").split()
        expected = [row[key] for key in ("median", "low_90", "high_90", "published", "crps", "rule_crps")]
        found = [float(number) / factor for number in (*numbers, *scores)]
        assert found == pytest.approx(expected, rel=ROUNDED), (row["fit"], row["figure"])
