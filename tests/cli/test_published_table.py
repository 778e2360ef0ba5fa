"""The table of published figures: figure and verdict are visible on every terminal."""

import os
import re
import shutil
import sys
from typing import Any

import pytest

from destage.cli.printed_results.finished_sweep import print_headlines, print_published

ROW: dict[str, Any] = {
    "figure": "head thrash: together over one after the other",
    "published": "the target disks had to flip back and forth between both of them",
    "published_value": None,
    "unit": None,
    "simulated": 0.5,
    "simulated_low": None,
    "simulated_high": None,
    "is_range": False,
    "error_fraction": None,
    "predicted_low": 0.5,
    "predicted_high": 0.5,
    "predicted_width": 1.0,
    "class": "not reproduced",
    "follows_from": None,
    "why": "the whole interval is outside the bounds",
    "headline": "A single stream already loses a revolution.",
    "source": "Why are the backups 42x faster",
}


@pytest.mark.parametrize("columns", [80, 130])
@pytest.mark.parametrize("is_headline", [False, True])
def test_the_table_fits_the_terminal(
    columns: int, is_headline: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((columns, 24)))
    if is_headline:
        print_headlines([("A paper", [ROW])])
    else:
        print_published([ROW])
    output = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(map(len, output.splitlines())) <= columns
    words = output.split()
    for word in ("thrash:", "0.5", "not", "reproduced"):
        assert word in words
    assert ("why" in words) == (columns > 120)
    assert ("source" in words) == (columns > 120 and not is_headline)
