"""What the handler of a signal raises while the engine runs reaches the caller, unless the rows are kept."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import pytest
from small_scenarios import users

from destage import engine

_ALARM_S = 0.3


@contextmanager
def _signal_that_raises(error: BaseException) -> Iterator[None]:
    def fail(*_: object) -> NoReturn:
        raise error

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, _ALARM_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def long_run() -> str:
    scenario = engine.normalise(users(window={"requests": 10**9}))
    return engine.canonical_json(scenario)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_single_run_ends_with_what_the_handler_raised(long_run: str, error: type[BaseException]) -> None:
    with _signal_that_raises(error()), pytest.raises(error):
        engine.simulate_canonical(long_run)


def test_an_interrupt_keeps_the_rows_of_a_batch(long_run: str) -> None:
    short = engine.canonical_json(engine.normalise(users(window={"requests": 100})))
    with _signal_that_raises(KeyboardInterrupt()):
        done = engine.execute_canonical([short, long_run])
    assert done.stopped
    assert done.rows.num_rows == 1


def test_the_end_of_a_process_is_no_short_batch(long_run: str) -> None:
    with _signal_that_raises(SystemExit()), pytest.raises(SystemExit):
        engine.execute_canonical([long_run])
