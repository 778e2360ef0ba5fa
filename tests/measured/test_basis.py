"""Figures are measured, derived or unknown: what a file has in part is not taken for the whole."""

import json
import re
from datetime import datetime

import pytest
from tests.measured.test_loads import fio, fio_job, iometer, read_one
from tests.measured.test_readers import (
    DATA,
    DISKSPD_TEXT,
    DISKSPD_XML,
    PERFMON,
    SYSBENCH_04,
    VDBENCH,
    check,
    read,
)

from destage.errors import ConfigError
from destage.measured.line import ZERO
from destage.tools.result_parts import merge_operations
from destage.tools.results import read_results

TRANSFERS = (DATA / "perfmon-transfers-and-reads-only.csv").read_text()
NO_LATENCY = "fio measured no latency (gtod_reduce or disable_lat)"


def test_fio_without_latencies_has_no_mean() -> None:
    (line,) = read("fio-gtod-reduce-no-latency.json")
    check(line, response_mean_us=None, read_response_mean_us=None, write_response_max_us=None)
    assert line.explain("response_mean_us") == NO_LATENCY
    assert line.explain("response_p99_us") == "not in the results of fio"


def test_fio_2_without_latencies_has_no_mean() -> None:
    """It has no number of samples beside the zeros."""
    zero = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0}
    job = fio_job("a", 100)
    job["read"] |= {"lat": zero, "clat": zero}
    line = read_one(fio(job))
    assert (line.response_mean_us, line.response_max_us) == (None, None)
    job["read"] |= {"clat": {"max": 90, "mean": 50.0}}
    assert read_one(fio(job)).response_mean_us == 50.0


def test_clones_have_a_deviation_only_if_all_have() -> None:
    timed = {"lat_ns": {"mean": 5000.0, "stddev": 100.0, "max": 7000}}
    bare = {"lat_ns": {"mean": 5000.0}}
    jobs = [fio_job("a", 100), fio_job("a", 100)]
    for job, times in zip(jobs, (timed, bare), strict=True):
        job["read"] |= times
    line = read_one(fio(*jobs))
    check(line, response_mean_us=5.0, response_stddev_us=None, response_max_us=None)


def test_a_latency_target_leaves_the_depth_unknown() -> None:
    (line,) = read("fio-latency-target.json")
    assert (line.depth, line.outstanding) == (None, None)
    assert "latency_target" in line.explain("outstanding")


def test_fio_says_whether_a_job_kept_its_depth() -> None:
    """Fio 3.33, `iodepth=8`: its distribution of depths has the share at 8 to 15 as `8`."""
    options = {"job options": {"ioengine": "libaio", "iodepth": "8"}}
    for share, outstanding in ((99.0, 8.0), (10.0, None)):
        levels = {"iodepth_level": {"1": 100 - share, "2": 0, "4": 0, "8": share, "16": 0, ">=64": 0}}
        line = read_one(fio(fio_job("a", 100, **options, **levels)))
        assert (line.depth, line.outstanding) == (8, outstanding)
    assert "at 90 % of the requests" in line.explain("outstanding")


def test_perfmon_writes_follow_from_transfers_and_reads() -> None:
    (line,) = read("perfmon-transfers-and-reads-only.csv")
    check(line, read_fraction=0.9, throughput_iops=100.0, read_iops=90.0, write_iops=10.0)
    assert {"write_iops", "read_fraction"} <= set(line.derived_figures)
    assert "throughput_iops" not in line.derived_figures


def test_perfmon_reads_alone_are_no_rate() -> None:
    text = "\n".join(
        row if at else row.replace("Disk Transfers/sec", "Other")
        for at, row in enumerate(TRANSFERS.splitlines())
    )
    line = read_one(text)
    check(line, read_iops=90.0, throughput_iops=None, write_iops=None, read_fraction=None)
    check(line, throughput_stddev_iops=None, request_bytes=None, throughput_bytes_per_s=800000.0)
    assert line.explain("throughput_iops") == "the file has reads alone"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"read": 90.0, "iops": 100.0}, (90.0, 10.0, 100.0, 0.9)),
        ({"write": 40.0, "iops": 100.0}, (60.0, 40.0, 100.0, 0.6)),
        ({"read": 90.0, "write": 10.0}, (90.0, 10.0, 100.0, 0.9)),
        ({"read": 90.0, "write": 0.0}, (90.0, 0.0, 90.0, 1.0)),
        ({"read": 90.0}, (90.0, None, None, None)),
        ({"write": 90.0}, (None, 90.0, None, None)),
        ({"iops": 90.0}, (None, None, 90.0, None)),
        ({"read": 90.0, "iops": 50.0}, (90.0, None, 50.0, None)),
    ],
)
def test_a_rate_follows_from_two_others(given: dict[str, float], expected: tuple[float | None, ...]) -> None:
    kinds = [{"iops": given[name]} if name in given else {} for name in ("read", "write")]
    figures = merge_operations(kinds[0], kinds[1], iops=given.get("iops"))
    names = ("read_iops", "write_iops", "throughput_iops", "read_fraction")
    assert tuple(figures.get(name) for name in names) == pytest.approx(expected)


def test_a_mean_of_reads_alone_is_not_that_of_all() -> None:
    read_kind = {"iops": 90.0, "response": {"mean": 5.0}}
    alone = merge_operations(read_kind, {}).columns()
    assert alone["read_response_mean_us"] == 5.0
    assert "response_mean_us" not in alone
    assert "response_mean_us" in alone["unknown_figures"]
    only = merge_operations(read_kind, {"iops": 0.0}).columns()
    assert only["response_mean_us"] == 5.0
    assert "response_mean_us" in only["derived_figures"]


@pytest.mark.parametrize(
    ("text", "column"),
    [
        (PERFMON.replace('"0.004"', '"0"').replace('"0.002"', '"0"'), "read_response_mean_us"),
        (VDBENCH.replace(" 3.2 3.0 ", " 0.0 3.0 "), "response_mean_us"),
        (iometer(mean=(",16.0,15.0,", ",0.0,15.0,")), "response_mean_us"),
        (
            DISKSPD_XML.replace("<AverageTotalMilliseconds>32", "<AverageTotalMilliseconds>0"),
            "response_mean_us",
        ),
        (SYSBENCH_04.replace("0.50ms", "0.00ms"), "response_mean_us"),
    ],
    ids=["perfmon", "vdbench", "iometer", "diskspd", "sysbench"],
)
def test_zero_is_no_response_time(text: str, column: str) -> None:
    line = read_results("x", text.encode()).lines[0]
    assert getattr(line, column) is None
    assert line.explain(column) == ZERO


def test_diskspd_says_how_to_measure_latencies() -> None:
    without = re.sub(r"<Latency>.*</Latency>", "", DISKSPD_XML, flags=re.DOTALL)
    assert "-L" in read_one(without).explain("response_mean_us")


def test_iometer_without_reads_per_second_has_no_share() -> None:
    line = read_one(iometer(title=(",Read IOps,", ",Other,")))
    check(line, read_iops=700.0, read_fraction=0.7)
    assert "read_iops" in line.derived_figures
    bare = read_one(iometer(title=(",Read IOps,Write IOps,", ",Other,Another,")))
    check(bare, throughput_iops=1000.0, read_iops=None, read_fraction=None)


def test_times_without_a_date_are_no_date() -> None:
    text = (DATA / "iostat-12.6.1.txt").read_text()
    line = read_one(re.sub(r"^11/23/26 ", "Time: ", text, flags=re.MULTILINE))
    assert (line.measured_at, line.duration_s) == (None, 3.0)
    assert line.explain("measured_at") == "the log has times without a date"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (fio(fio_job("a", 100), timestamp=-2208988800), "measured_at"),
        (json.dumps(json.loads(fio(fio_job("a", 100)))).replace('"iops": 50.0', '"iops": 1e19'), "read_iops"),
        (VDBENCH.replace(" 1050.0 ", " 1e19 "), "throughput_iops"),
        (VDBENCH.replace(" 3.2 3.0 ", " 3e19 3.0 "), "response_mean_us"),
        (PERFMON.replace('"300","300","100"', '"300","1e19","100"'), "read_iops"),
        (TRANSFERS.replace('"90"', '"190"'), "read_iops"),
        (VDBENCH.replace(" 3.2 3.0 ", " 9000 3.0 "), "response_mean_us"),
        (
            DISKSPD_TEXT.format(size="8KiB", per_thread="", mib="MB").replace("2024/05", "1900/05"),
            "measured_at",
        ),
    ],
)
def test_implausible_figures_are_refused(text: str, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_results("x", text.encode())
    (issue,) = caught.value.issues
    assert issue.code == "measured.implausible"
    assert issue.line is not None
    assert issue.place == place
    assert "datetime" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "code", "line", "remedy"),
    [
        ("fio-normal-output.txt", "measured.unknown-format", 6, "--output-format=json"),
        ("iostat-basic.json", "measured.unknown-format", 1, "-x"),
        ("perfmon-german-counters.csv", "measured.localized-counters", 1, "English"),
    ],
)
def test_other_outputs_say_which_option_is_missing(name: str, code: str, line: int, remedy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(name)
    (issue,) = caught.value.issues
    assert (issue.code, issue.line) == (code, line)
    assert remedy in issue.message


def test_two_runs_of_one_start_are_two() -> None:
    """Started at the same time on two disks, each with a file of its own; the files were joined."""
    found = read_results("x", (DATA / "fio-two-parallel-runs-concatenated.json").read_bytes())
    assert [line.workload for line in found.lines] == ["disk-a", "disk-b"]
    assert not found.notes


def test_reports_of_other_disks_are_not_earlier_ones() -> None:
    """Two runs of one job file on two disks differ in their options alone, or in falling counts."""
    options = [{"job options": {"filename": name}} for name in ("/dev/sda", "/dev/sdb")]
    joined = [fio(fio_job("a", 100, elapsed=2, **each), timestamp=1002) for each in options]
    assert len(read_results("x", "\n".join(joined).encode()).lines) == 2
    falling = [fio(fio_job("a", reads, elapsed=2), timestamp=1002) for reads in (100, 70)]
    assert [one.requests for one in read_results("x", "\n".join(falling).encode()).lines] == [100, 70]


def test_each_iostat_has_a_report_since_boot() -> None:
    found = read_results("x", (DATA / "iostat-x-appended-twice.log").read_bytes())
    (line,) = found.lines
    check(line, samples=6, read_iops=120.0, write_iops=60.0)
    assert found.notes[0].startswith("2 recordings")


def test_iostats_of_two_hosts_are_two_lines() -> None:
    text = (DATA / "iostat-x-appended-twice.log").read_text()
    second = text.rindex("(db1)")
    found = read_results("x", f"{text[:second]}(db2){text[second + 5 :]}".encode())
    assert [(line.workload, line.samples) for line in found.lines] == [("sda of db1", 3), ("sda of db2", 3)]


def test_diskspd_runs_in_one_file_have_their_own_settings() -> None:
    text = DISKSPD_TEXT.format(size="8KiB", per_thread="", mib="MB")
    other = text.replace("I/O operations: 16", "I/O operations: 4").replace("2024/05/06", "2024/05/07")
    first, second = read_results("x", (text + other).encode()).lines
    assert (first.depth, second.depth) == (16, 4)
    assert second.measured_at == datetime(2024, 5, 7, 7, 8, 9)  # noqa: DTZ001 - the tool's clock


def test_diskspd_documents_in_one_file_are_runs() -> None:
    other = DISKSPD_XML.replace("<ReadCount>3500", "<ReadCount>4500")
    first, second = read_results("x", (DISKSPD_XML + other).encode()).lines
    assert (first.requests, second.requests) == (10000, 12000)
    assert (second.source_line or 0) - (first.source_line or 0) == DISKSPD_XML.count("\n")


def test_fio_without_options_has_an_unknown_load() -> None:
    line = read_one(fio(fio_job("a", 100)))
    check(line, depth=None, threads=None, outstanding=None, random_fraction=None)
    assert "no options" in line.explain("outstanding")


def test_an_aborted_vdbench_run_is_not_part_of_the_next() -> None:
    """Its intervals were followed by those of another recording, appended to the file."""
    begun = next(row for row in VDBENCH.splitlines() if " rd1 2 " in row).replace(" 1100.0 ", " 9.0 ")
    rows = VDBENCH.splitlines()
    header = next(at for at, row in enumerate(rows) if " Run " in f" {row} " and not row.startswith("*"))
    text = "\n".join([*rows[: header + 1], begun, *rows[header:]])
    found = read_results("x", text.encode())
    assert found.lines[0].samples == 2
    assert len(found.notes) == 1


def test_a_repeated_iometer_test_has_its_own_specifications() -> None:
    other = iometer().replace(",80,100,", ",0,0,").replace(",60,50,", ",0,0,")
    first, second = read_results("x", (iometer() + other).encode()).lines
    assert (first.random_fraction, second.random_fraction) == (0.75, 0.0)


def test_perfmon_logs_in_one_file_have_their_own_headings() -> None:
    header, *rows = [row for row in PERFMON.splitlines() if row.startswith('"')]
    cells = header.split(",")
    swapped = [",".join([one.split(",")[0], *reversed(one.split(",")[1:])]) for one in (header, *rows)]
    assert len(cells) > 2
    line = read_one("\n".join([header, *rows, *swapped]))
    once = read_one("\n".join([header, *rows]))
    assert (line.read_iops, line.samples) == (once.read_iops, 2 * (once.samples or 0))
