"""Sentences and named facts are broken at words where there is a terminal, and whole elsewhere."""

import pytest

from destage.cli.terminal.terminal_text import wrap_lines

FACT = "  to be sure     2 disks (EUR 980), which carry 4.1 times the load: 5 measured systems ran fast"
SENTENCE = "Estimated, neither calibrated nor validated on this array: HP's paper has 51 users with 64 MB."


def test_a_fact_continues_below_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = wrap_lines([FACT, SENTENCE, "", "    54  more"]).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[0].startswith("  to be sure     2 disks")
    assert lines[1].startswith(" " * 17 + "the load")
    assert lines[-2:] == ["", "    54  more"]
    assert " ".join(" ".join(lines).split()) == " ".join(f"{FACT} {SENTENCE} 54 more".split())


def test_lines_for_a_program_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert wrap_lines([FACT, SENTENCE]) == f"{FACT}\n{SENTENCE}\n"
