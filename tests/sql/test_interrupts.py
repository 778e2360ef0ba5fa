"""Ctrl-C while DuckDB runs a statement of Destage itself: DuckDB replaces the exception of the handler."""

import pytest

from destage.sql.limits import raising_failures


def test_an_interrupt_stays_one() -> None:
    with pytest.raises(KeyboardInterrupt), raising_failures():
        raise RuntimeError("Query interrupted")


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="another"), raising_failures():
        raise RuntimeError("another")
