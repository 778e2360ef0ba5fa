"""One session of a sweep, as `destage run` runs it, with short leases and a clock that may jump."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from typing import Self

import ray  # noqa: F401 - so that each fork has it
from chaos.injection import sitecustomize

from destage import sweeps
from destage.cli import app
from destage.store import locate
from destage.store.fragment_files import merging
from destage.store.locks import object_lease
from destage.store.locks.lease import FileLease
from destage.sweeps.execution import api, driver


def drive(
    study: str,
    store: str,
    executor: str,
    lease_s: float,
    *,
    has_lease: bool = True,
    holds_rows: bool = False,
    merges: bool = False,
    jump: dict[str, float] | None = None,
) -> int:
    """Run a session to its end and return the exit code of `destage run`.

    Args:
        lease_s: The age at which a lease in a bucket expires [s].
        has_lease: Whether the store's lease works; a file lock of a stopped process would last.
        holds_rows: Whether workers hold the rows of several batches from the first batch on.
        merges: Whether few fragments are merged while the session runs.
        jump: After `after` seconds the clock jumps by `wall` seconds, and the machine has slept for `asleep`.
    """
    sitecustomize.install()
    object_lease.EXPIRY_S, object_lease.TRUST_S = lease_s, 0.75 * lease_s
    object_lease.RENEWAL_S = min(0.5, lease_s / 10)
    if holds_rows:
        driver.EAGER = 0
    if merges:
        merging.FAN_IN = 4
    if not has_lease:
        api.hold_lease = _no_lease  # type: ignore[assignment]
    if jump is not None:
        _install_jump(**jump)
    try:
        outcome = sweeps.run(sweeps.load_study(study), locate(store), executor=executor, workers=2)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - as the command line does
        return app._report(error, as_json=False)
    for issue in outcome.messages:
        sys.stderr.write(f"{issue}\n")
    return outcome.exit_code


@contextmanager
def _no_lease(_: object) -> Iterator[FileLease]:
    """Let two processes write, as two machines do on a file system without locks."""
    yield FileLease()


def _install_jump(after: float, wall: float, asleep: float) -> None:
    """Let the clocks that Destage reads jump some time from now."""
    began = time.monotonic()
    read_time, read_clock = time.time, time.clock_gettime

    def passed() -> bool:
        return time.monotonic() - began >= after

    class Jumping(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return super().now(tz) + timedelta(seconds=wall if passed() else 0)

    def clock_gettime(clock: int) -> float:
        return read_clock(clock) + (asleep if passed() and clock == object_lease._CLOCK else 0.0)

    time.time = lambda: read_time() + (wall if passed() else 0)
    time.clock_gettime = clock_gettime
    for module in (object_lease, sys.modules["destage.sweeps.workers.executors"]):
        module.datetime = Jumping  # type: ignore[attr-defined]
