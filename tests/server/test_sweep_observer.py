"""The rate is that of the last minute, and the time left follows from it while somebody writes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from served_sweep import run_users

from destage.server import sweep_observer
from destage.server.sweep_observer import SweepObserver
from destage.store.opened.recorded_progress import Status

Observe = Callable[..., SweepObserver]


@pytest.fixture
def observe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Observe:
    """Return a function that shows an observer counts at times [s]."""
    observer = SweepObserver(run_users(tmp_path, 5))

    def show(*seen: tuple[float, int], planned: int = 100, writer: str | None = "process 1") -> SweepObserver:
        for now, present in seen:
            found = Status(planned, present, 0, 1, finished=False, writer=writer)
            monkeypatch.setattr(sweep_observer, "status", lambda _, found=found: found)
            monkeypatch.setattr(sweep_observer.time, "monotonic", lambda now=now: now)
            observer.observe()
            assert observer.latest.error is None
        return observer

    return show


def test_the_rate_is_runs_per_second(observe: Observe) -> None:
    latest = observe((0, 10), (5, 20), (10, 30)).latest
    assert latest.rate == pytest.approx(2)
    assert latest.eta_s == pytest.approx(35)


def test_the_rate_forgets_what_is_older_than_a_minute(observe: Observe) -> None:
    """100 runs per second at first, then one per second."""
    steps = [(0, 0), (10, 1000), *((10 + second, 1000 + second) for second in range(1, 100))]
    assert observe(*steps, planned=2000).latest.rate == pytest.approx(1)


def test_a_sweep_that_starts_again_has_a_new_rate(observe: Observe) -> None:
    assert observe((0, 50), (10, 90), (20, 0), (30, 10)).latest.rate == pytest.approx(1)


def test_nothing_is_left_to_wait_for_without_a_writer(observe: Observe) -> None:
    latest = observe((0, 10), (5, 20), writer=None).latest
    assert (latest.eta_s, latest.rate) == (None, 0)


def test_the_time_left_is_unknown_before_the_first_commit(observe: Observe) -> None:
    assert observe((0, 0), (5, 0)).latest.eta_s is None
