"""The busiest time of each device in logs of running systems, against all windows tried one by one."""

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from destage.errors import ConfigError
from destage.measured.line import MeasuredLine
from destage.tools.results import read_results

DATA = Path(__file__).parent / "data"
BEGINNING = datetime(2026, 11, 2, 9, 0, 0)  # noqa: DTZ001 - the tool's clock
IOSTAT = "Linux 6.1 (host) \t11/02/2026 \t_x86_64_\t(2 CPU)\n\n"
COLUMNS = "Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util"
Rates = dict[str, float]


def iostat(reports: list[tuple[int, Rates]], *, timed: bool = True) -> bytes:
    """Return a log of reports: each the minute at which it ends, and the reads per second of each device."""
    text = IOSTAT
    # The report of the time since the machine was started goes first.
    for minute, rates in [(0, reports[0][1]), *reports]:
        if timed:
            text += f"{BEGINNING + timedelta(minutes=minute):%m/%d/%Y %H:%M:%S}\n"
        text += f"{COLUMNS}\n"
        text += "".join(f"{name} {rate} {4 * rate} 1 0 0 0 0.1 10\n" for name, rate in rates.items())
        text += "\n"
    return text.encode()


def read(log: bytes, minutes: float | None) -> list[MeasuredLine]:
    """Return the lines of the busiest minutes of a log."""
    return list(read_results("x", log, None if minutes is None else 60 * minutes).lines)


def test_each_device_has_its_own_busiest_time() -> None:
    sda, sdb = [10.0, 90.0, 70.0, 20.0, 10.0], [5.0, 5.0, 1.0, 30.0, 40.0]
    log = iostat(
        [(at, {"sda": a, "sdb": b}) for at, (a, b) in enumerate(zip(sda, sdb, strict=True), start=1)]
    )
    first, second = read(log, 2)
    assert (first.workload, first.throughput_iops, first.duration_s) == ("sda", 80.0, 120.0)
    assert first.measured_at == BEGINNING + timedelta(minutes=2)
    assert (second.workload, second.throughput_iops, second.samples) == ("sdb", 35.0, 2)
    assert second.measured_at == BEGINNING + timedelta(minutes=4)
    assert [line.throughput_iops for line in read(log, None)] == [40.0, 16.2]


def test_a_log_that_is_shorter_is_taken_as_a_whole() -> None:
    log = iostat([(1, {"sda": 10.0}), (2, {"sda": 30.0})])
    found = read_results("x", log, 3600.0)
    assert [line.throughput_iops for line in found.lines] == [20.0]
    assert any("2 of 2 reports" in note for note in found.notes)


@given(
    gaps=st.lists(st.integers(1, 4), min_size=3, max_size=12),
    rates=st.lists(st.integers(0, 50), min_size=12, max_size=12),
    minutes=st.integers(1, 9),
)
def test_no_other_window_has_more_requests(gaps: list[int], rates: list[int], minutes: int) -> None:
    """Logs have gaps; a step is the median time between reports."""
    ends = [sum(gaps[: count + 1]) for count in range(len(gaps))]
    reports = [(end, {"sda": float(rate)}) for end, rate in zip(ends, rates, strict=False)]
    if not any(rate["sda"] for _, rate in reports):
        return
    (line,) = read(iostat(reports), minutes)
    step = sorted(b - a for a, b in pairwise(ends))[(len(ends) - 1) // 2]
    most = max(
        sum(rate["sda"] for end, rate in reports if first <= end < first + max(minutes - step / 2, 0.1))
        for first in ends
    )
    assert (line.throughput_iops or 0) * (line.samples or 0) == pytest.approx(most)


def test_a_disk_of_perfmon_has_a_busiest_time() -> None:
    text = (DATA / "perfmon.csv").read_bytes()
    (whole,), (busiest,) = read(text, None), read(text, 1 / 60)
    assert (whole.throughput_iops, whole.samples) == (300.0, 2)
    assert (busiest.throughput_iops, busiest.samples) == (400.0, 1)


@pytest.mark.parametrize(
    "log",
    [
        iostat([(1, {"sda": 10.0}), (2, {"sda": 30.0})], timed=False),
        iostat([(1, {"sda": 10.0})]),
        (DATA / "fio-3.33-grouped.json").read_bytes(),
    ],
    ids=["without times", "one report", "no log"],
)
def test_a_file_without_times_has_no_busiest_time(log: bytes) -> None:
    with pytest.raises(ConfigError) as caught:
        read(log, 1)
    assert [issue.code for issue in caught.value.issues] == ["measured.no-times"]
