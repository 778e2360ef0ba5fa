"""Logs of iostat and Perfmon as loads: every device has the rates and the bytes of its measured line."""

from pathlib import Path
from typing import Any

import pytest

from destage import engine
from destage.engine import workload_profile
from destage.errors import ConfigError
from destage.tools.imported_workload import ImportOptions
from destage.tools.load import read_tests
from destage.tools.results import read_results

DATA = Path(__file__).parents[1] / "measured" / "data"
LOGS = ["iostat-12.6.1.txt", "iostat-12.6.1.json", "iostat-x-appended-twice.log", "perfmon.csv"]


def count_bytes(stream: dict[str, Any], share: float) -> float:
    """Return the bytes of a second that a stream reads (share 1) or writes (0)."""
    rate = engine.quantities.parse(stream["arrival"]["rate"], "1/s")
    kinds = stream.get("mix") or [{"weight": 1.0, "operations": stream["operations"]}]
    total = 0.0
    for kind in kinds:
        reads = kind["operations"]["read_fraction"]
        size = kind["operations"]["size"]
        options = size.get("options") or [{"value": size["value"], "weight": 1.0}]
        mean = sum(engine.quantities.parse(one["value"], "bytes") * one["weight"] for one in options)
        total += rate * kind["weight"] * (reads if share else 1 - reads) * mean
    return total


@pytest.mark.parametrize("name", LOGS)
def test_a_load_has_the_rates_of_its_device(name: str) -> None:
    text = (DATA / name).read_text()
    lines = [line for line in read_results(name, text.encode()).lines if line.throughput_iops]
    tests = read_tests(text, name, ImportOptions())
    assert [test.name for test in tests] == [line.workload for line in lines]
    for test, line in zip(tests, lines, strict=True):
        (stream,) = test.workload["streams"]
        workload_profile.check_workload(test.workload)
        assert engine.quantities.parse(stream["arrival"]["rate"], "1/s") == pytest.approx(
            line.throughput_iops, rel=1e-3
        )
        # Shares and weights have four digits.
        tolerance = 2e-4 * (line.throughput_bytes_per_s or 0)
        assert count_bytes(stream, 1) == pytest.approx(line.read_bytes_per_s, rel=2e-3, abs=tolerance)
        assert count_bytes(stream, 0) == pytest.approx(line.write_bytes_per_s, rel=2e-3, abs=tolerance)


def test_reads_and_writes_have_their_own_sizes() -> None:
    """Vda reads 13.78 KiB and writes 55.62 KiB in its first report; the mean of both is neither."""
    (test,) = read_tests((DATA / LOGS[0]).read_text(), "a.log", ImportOptions(test="vda"))
    kinds = test.workload["streams"][0]["mix"]
    assert [kind["operations"]["read_fraction"] for kind in kinds] == [1.0, 0.0]


def test_a_device_is_chosen_by_its_name_and_a_log_without_sizes_has_none() -> None:
    text = (DATA / LOGS[0]).read_text()
    with pytest.raises(ConfigError) as unknown:
        read_tests(text, "a.log", ImportOptions(test="sdz"))
    assert [(issue.code, issue.place) for issue in unknown.value.issues] == [("usage.unknown-name", "--test")]
    whole = (DATA / "perfmon-transfers-and-reads-only.csv").read_text()
    rates = "\n".join(line.rpartition(",")[0] for line in whole.splitlines()) + "\n"
    with pytest.raises(ConfigError) as nothing:
        read_tests(rates, "rates.csv", ImportOptions())
    assert [issue.code for issue in nothing.value.issues] == ["import.no-test"]
