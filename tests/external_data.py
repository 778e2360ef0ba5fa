"""Data of other publishers that tests compare with, in `../shared` beside the clone.

It may be used but not committed. Without it the tests are skipped, and the summary of the run says what was
not proven and where the data is published.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"

_SUFFIX = "is missing; it may not be committed"

_SOURCES = {
    "traces/disksim/": (
        "service times of two measured disks, request by request",
        "the validation traces of DiskSim 4.0 (Parallel Data Laboratory, Carnegie Mellon University)",
    ),
    "traces/cloudPhysicsIO": (
        "hit counts over a virtual machine's trace",
        "the example trace in the data folder of libCacheSim",
    ),
    "truth/": (
        "hit counts of another implementation over that trace",
        "counted by libCacheSim 0.3.5",
    ),
    "traces/captured/": (
        "that the bundled recordings equal their block events",
        "recorded for Destage; the bundled .parquet files hold the requests",
    ),
    "traces/": (
        "the trace formats on the publishers' own files",
        "MSR Cambridge, SYSTOR '17 and Tencent CBS: the trace repository of SNIA IOTTA",
    ),
}
"""By the beginning of the path, the most specific first: what the data proves, and where it is published."""


def require_shared(path: str) -> Path:
    """Return a file of `../shared`; the test is skipped if it is missing."""
    if not (SHARED / path).exists():
        pytest.skip(f"../shared/{path} {_SUFFIX}")
    return SHARED / path


def describe_unproven(reasons: Iterable[str]) -> Iterator[str]:
    """Yield a line for each kind of data for whose lack tests were skipped.

    Args:
        reasons: Why each skipped test was skipped, whatever the cause.
    """
    counts: dict[str, int] = {}
    for reason in reasons:
        path = reason.removeprefix("Skipped: ").removeprefix("../shared/")
        if reason.endswith(_SUFFIX):
            beginning = next(beginning for beginning in _SOURCES if path.startswith(beginning))
            counts[beginning] = counts.get(beginning, 0) + 1
    for beginning, (proves, source) in _SOURCES.items():
        if beginning in counts:
            tests = "1 test" if counts[beginning] == 1 else f"{counts[beginning]} tests"
            yield f"{proves} ({tests}): needs ../shared/{beginning}*; source: {source}"
