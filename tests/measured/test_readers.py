"""Results of real tools, and files written after the documented formats of others, as measured lines."""

import re
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from destage.errors import ConfigError
from destage.measured.line import MeasuredLine, list_meanings
from destage.tools.results import read_results

DATA = Path(__file__).parent / "data"


def read(name: str, text: str | None = None) -> list[MeasuredLine]:
    """Return the lines of a file in `data`, or of a text."""
    data = (DATA / name).read_bytes() if text is None else text.encode()
    return list(read_results(name, data).lines)


def check(line: MeasuredLine, **expected: Any) -> None:
    """Compare some columns of a line; numbers to nine digits."""
    found = asdict(line)
    for name, value in expected.items():
        assert found[name] == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value), name


def test_every_column_has_a_meaning() -> None:
    assert set(list_meanings()) == set(asdict(MeasuredLine()))
    assert all(meaning for _, meaning in list_meanings().values())


def test_fio_reports_each_job_with_its_load() -> None:
    """From fio 3.33 itself: a sequential read, and a mix of two jobs with eight requests each."""
    read_line, mix = read("fio-3.33-grouped.json")
    check(
        read_line,
        tool="fio",
        tool_version="3.33",
        workload="seqread",
        measured_at=datetime(2026, 11, 23, 10, 43, 31),  # noqa: DTZ001 - the tool's clock
        source_line=15,
        outstanding=4.0,
        request_bytes=65536.0,
        read_fraction=1.0,
        random_fraction=0.0,
        duration_s=1.001,
        throughput_iops=8417.582418,
        response_mean_us=473.966587111,
        response_p99_us=2056.192,
        response_max_us=4007.493,
        samples=None,
    )
    check(
        mix,
        depth=8,
        threads=2,
        outstanding=16.0,
        random_fraction=1.0,
        request_bytes=8192.0,
        requests=38159,
        throughput_iops=26590.229312 + 11454.636092,
        response_mean_us=(26670 * 407.742011736 + 11489 * 446.840263643) / 38159,
        response_p99_us=None,  # fio has percentiles of reads and of writes alone
        read_response_p99_us=1761.28,
        write_response_p99_us=2056.192,
        response_max_us=7875.136,
    )


def test_clones_of_a_fio_job_are_one_line_with_percentiles_of_json_plus() -> None:
    (line,) = read("fio-3.33-clones.json")
    check(line, threads=2, outstanding=16.0, requests=240, reads=170, writes=70)
    assert line.response_p50_us is not None
    assert line.read_response_p50_us is not None
    assert line.read_response_p50_us <= line.response_p50_us <= (line.write_response_p50_us or 0)


FIO = """\
fio: a warning that fio writes before its results
{{"fio version": "{version}", "jobs": [{{"jobname": "a", "groupid": 0, "error": {error}, "job options":
 {{"rw": "randwrite", "ioengine": "libaio", "iodepth": "4", "percentage_random": "25"}},
 "read": {{"iops": 0, "bw": 0, "runtime": 0}},
 "write": {{"iops": 100.0, "bw": 400, "runtime": 2000, {times}}}}}]}}
"""


@pytest.mark.parametrize(
    ("version", "times"),
    [
        ("fio-2.2.10", '"clat": {"mean": 50.0, "percentile": {"99.000000": 90}}, "lat": {"mean": 60.0}'),
        ("fio-3.1", '"clat_ns": {"mean": 5e4, "percentile": {"99.000000": 90000}}, "lat_ns": {"mean": 6e4}'),
        ("fio-3.40", '"lat_ns": {"mean": 6e4, "percentile": {"99.000000": 90000}}, "clat_ns": {"mean": 5e4}'),
    ],
)
def test_times_of_fio_2_and_3_are_the_same(version: str, times: str) -> None:
    (line,) = read("a.json", FIO.format(version=version, times=times, error=0))
    check(
        line,
        request_bytes=4096.0,
        random_fraction=0.25,
        requests=200,
        response_mean_us=60.0,
        response_p99_us=90.0,
        throughput_bytes_per_s=400.0 * 1024,
    )


UNIFIED = (
    '{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "error": 0, "mixed": {"iops": 10.0,'
    ' "bw_bytes": 40960, "runtime": 1000, "total_ios": 10, "lat_ns": {"mean": 5000.0}}%s}]}'
)
KIND = '"iops": 5.0, "bw_bytes": 20480, "runtime": 1000, "total_ios": 5, "lat_ns": {"mean": 4000.0}'


def test_fio_may_report_reads_and_writes_together() -> None:
    """As with `unified_rw_reporting`: `mixed` has neither of them alone, `both` has them as well."""
    (mixed,) = read("a.json", UNIFIED % "")
    (both,) = read("a.json", UNIFIED % f', "read": {{{KIND}}}, "write": {{{KIND}}}')
    for one in (mixed, both):
        check(one, requests=10, throughput_iops=10.0, response_mean_us=5.0, request_bytes=4096.0)
    check(mixed, read_iops=None, read_fraction=None, reads=None)
    check(both, read_iops=5.0, read_fraction=0.5, read_response_mean_us=4.0, reads=5)


def test_sysbench_runs_are_lines() -> None:
    """From sysbench 1.0.20 itself."""
    random_reads, mix = read("sysbench-1.0.20.txt")
    check(
        random_reads,
        workload="rndrd",
        outstanding=2.0,
        request_bytes=16384.0,
        throughput_iops=10190.4,
        response_mean_us=200.0,
        read_response_p95_us=260.0,
    )
    check(mix, source_line=47, response_p99_us=1730.0, response_p95_us=None, read_response_mean_us=None)


SYSBENCH_04 = (DATA / "sysbench-0.4.12.txt").read_text()


def test_sysbench_0_4_prints_counts() -> None:
    (line,) = read("old.txt", SYSBENCH_04)
    check(
        line,
        throughput_iops=500.0,
        read_iops=300.0,
        request_bytes=16384.0,
        response_mean_us=500.0,
        response_p95_us=1250.0,
        response_max_us=20000.0,
    )


def test_iostat_leaves_out_the_time_since_boot() -> None:
    """From sysstat 12.6.1 itself, while fio read 4 KiB at random for four seconds."""
    (line,) = read("iostat-12.6.1.txt")
    reads, writes = [6240.0, 7702.0, 8257.0], [104.0, 0.0, 43.0]
    check(
        line,
        workload="vda",
        measured_at=datetime(2026, 11, 23, 10, 43, 36),  # noqa: DTZ001 - the tool's clock
        duration_s=3.0,
        samples=3,
        read_iops=sum(reads) / 3,
        throughput_iops=(sum(reads) + sum(writes)) / 3,
        read_response_mean_us=(6240 * 80.0 + 7702 * 90.0 + 8257 * 80.0) / sum(reads),
        disk_time_percent=100 * (0.50 + 0.66 + 0.67) / 3,
        busy_fraction=(0.488 + 0.636 + 0.628) / 3,
    )


def test_iostat_in_json_says_what_it_says_in_text() -> None:
    """From sysstat 12.6.1 itself: three reports, the first of which covers the time since boot."""
    (line,) = read("iostat-12.6.1.json")
    check(
        line,
        workload="vda",
        source_line=22,
        measured_at=datetime(2026, 11, 27, 20, 28, 56),  # noqa: DTZ001 - the tool's clock
        duration_s=2.0,
        samples=2,
        read_iops=6.0,
        write_iops=60.0,
        throughput_bytes_per_s=560 / 2 * 1024,
        read_response_mean_us=250.0,
        write_response_mean_us=110.0 * 113 / 120,
        disk_time_percent=1.0,
        busy_fraction=0.002,
    )


def test_iostat_in_json_names_the_place_of_a_mistake() -> None:
    text = (DATA / "iostat-12.6.1.json").read_text()
    for wrong, place in (('"w/s": "many"', "vda.w/s"), ('"w/s": -1', "vda.w/s"), ('"w/s": ,', "")):
        with pytest.raises(ConfigError) as caught:
            read("x", text.replace('"w/s": 113.00', wrong))
        assert [(issue.line, issue.place) for issue in caught.value.issues] == [(22, place)]
    lost = text.replace('"disk_device"', '"device"')
    with pytest.raises(ConfigError) as caught:
        read("x", lost)
    assert caught.value.issues[0].code == "measured.bad-syntax"


IOSTAT = re.findall(r"# (.+)\n(.+\n.+\n)", (DATA / "iostat-versions.txt").read_text())
"""Versions of sysstat, and a report of each with the same figures."""


@pytest.mark.parametrize("report", [report for _, report in IOSTAT], ids=[name for name, _ in IOSTAT])
def test_iostat_of_all_versions_says_the_same(report: str) -> None:
    (line,) = read("iostat.txt", f"Linux 5.4 (host) \t01/02/24 \t_x86_64_\t(2 CPU)\n\n{report}\n")
    check(
        line,
        throughput_iops=100.0,
        throughput_bytes_per_s=409600.0,
        response_mean_us=5000.0,
        disk_time_percent=50.0,
        busy_fraction=0.1,
        duration_s=None,
    )


DISKSPD_TEXT = (DATA / "diskspd.txt.template").read_text()

DISKSPD_XML = (DATA / "diskspd.xml").read_text()


@pytest.mark.parametrize(
    "text",
    [
        DISKSPD_TEXT.format(size=8192, per_thread="", mib="MB"),
        DISKSPD_TEXT.format(size="8KiB", per_thread=" per thread", mib="MiB"),
        DISKSPD_XML,
    ],
    ids=["text of 2.0.15", "text of 2.1", "XML"],
)
def test_diskspd_says_the_same_in_text_and_xml(text: str) -> None:
    (line,) = read("diskspd", text)
    check(
        line,
        tool="diskspd",
        workload="D:\\x.dat",
        measured_at=datetime(2024, 5, 6, 7, 8, 9),  # noqa: DTZ001 - the tool's clock
        depth=16,
        threads=2,
        outstanding=32.0,
        request_bytes=8192.0,
        read_fraction=0.7,
        random_fraction=1.0,
        duration_s=10.0,
        requests=10000,
        throughput_iops=1000.0,
        write_iops=300.0,
        response_mean_us=32000.0,
        read_response_mean_us=30000.0,
        response_p50_us=31000.0,
        response_p99_us=65000.0,
        read_response_p99_us=60000.0,
        response_p999_us=85000.0,
        response_max_us=120000.0,
        response_stddev_us=5000.0,
        throughput_stddev_iops=14.0,
    )


VDBENCH = (DATA / "flatfile.html").read_text()


def test_vdbench_runs_are_lines_with_the_spread_of_their_intervals() -> None:
    first, second = read("flatfile.html", VDBENCH)
    check(
        first,
        tool_version="50407",
        workload="rd1",
        outstanding=4.0,
        request_bytes=8192.0,
        read_fraction=0.7,
        random_fraction=1.0,
        duration_s=2.0,
        throughput_iops=1050.0,
        read_iops=735.0,
        throughput_bytes_per_s=8.203125 * 2**20,
        response_mean_us=3200.0,
        write_response_mean_us=3700.0,
        response_stddev_us=1500.0,
        throughput_stddev_iops=5000.0**0.5,
        samples=2,
    )
    check(second, random_fraction=0.0, write_response_mean_us=None, samples=1, throughput_stddev_iops=None)


IOMETER = (DATA / "iometer-results.csv.template").read_text()


@pytest.mark.parametrize(
    ("rates", "all_rates"),
    [
        ("MBps,Read MBps,Write MBps", "7.8125,5.46875,2.34375"),
        (
            "MiBps (Binary),Read MiBps (Binary),Write MiBps (Binary),MBps (Decimal)",
            "7.8125,5.46875,2.34375,8.192",
        ),
    ],
    ids=["2006", "1.1.0"],
)
def test_iometer_totals_are_lines(rates: str, all_rates: str) -> None:
    (line,) = read("results.csv", IOMETER.format(rates=rates, all=all_rates))
    check(
        line,
        tool_version="1.1.0",
        workload="oltp, 8K",
        test="nightly",
        depth=8,
        threads=2,
        outstanding=16.0,
        request_bytes=8192.0,
        read_fraction=0.7,
        random_fraction=0.75,
        duration_s=10.0,
        requests=10000,
        throughput_bytes_per_s=8192000.0,
        response_mean_us=16000.0,
        write_response_mean_us=18300.0,
        response_max_us=100000.0,
    )


PERFMON = (DATA / "perfmon.csv").read_text()


def test_perfmon_disks_are_lines_without_the_empty_sample() -> None:
    (line,) = read("log.csv", PERFMON)
    check(
        line,
        workload="disk 0 C:",
        duration_s=2.0,
        samples=2,
        read_iops=200.0,
        write_iops=100.0,
        request_bytes=8192.0,
        read_response_mean_us=(100 * 4000.0 + 300 * 2000.0) / 400,
        write_response_mean_us=8000.0,
        response_mean_us=(400 * 2500.0 + 200 * 8000.0) / 600,
        disk_time_percent=130.0,
        busy_fraction=0.7,
        throughput_stddev_iops=20000.0**0.5,
    )


def test_vdbench_runs_without_figures_are_left_out() -> None:
    """A run shorter than its warm-up has averages over no interval; an unfinished one has none."""
    begun = [row for row in VDBENCH.splitlines() if " rd1 1 " in row]
    empty = begun[0].replace(" rd1 1 ", " rd3 avg_2-1 ").replace(" 900.0 ", " 0.0 ")
    text = "\n".join(
        [VDBENCH.rstrip(), begun[0].replace("rd1", "rd3"), empty, begun[0].replace("rd1", "rd4")]
    )
    found = read_results("flatfile.html", text.encode())
    assert [one.workload for one in found.lines] == ["rd1", "rd2"]
    assert [note.partition(" ")[0] for note in found.notes] == ["run", "the"]


GROUPED = (DATA / "fio-3.33-grouped.json").read_text()


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "measured.no-figures", 1),
        ("just some text\n", "measured.unknown-format", 1),
        (GROUPED[:900], "measured.bad-syntax", 46),
        (GROUPED.replace("8417.582418", '"fast"'), "measured.bad-value", 15),
        (GROUPED.replace('"runtime": 1001,', ""), "measured.missing-value", 15),
        (FIO.format(version="fio-3.1", times='"x": 0', error=5), "measured.failed-job", 2),
        (DISKSPD_XML[:-30], "measured.bad-syntax", 23),
        (DISKSPD_XML.replace("<ReadCount>3500", "<ReadCount>x"), "measured.bad-value", 8),
        (DISKSPD_TEXT.replace("81920000", "8192????"), "measured.bad-value", 36),
        (VDBENCH[:-30], "measured.bad-syntax", 10),
        (VDBENCH.replace("avg_", "eve_"), "measured.no-figures", 1),
        (IOMETER.format(rates="MBps", all="7.8")[:1150], "measured.bad-syntax", 21),
        (SYSBENCH_04.replace("total time:", "time:"), "measured.missing-value", 1),
        ((DATA / "iostat-12.6.1.txt").read_text().rpartition("  13.00")[0], "measured.bad-syntax", 32),
        (PERFMON.replace('"0.004"', '"4 ms"'), "measured.bad-value", 3),
        (PERFMON.replace("PhysicalDisk", "Memory"), "measured.no-figures", 1),
    ],
)
def test_mistakes_have_their_line(text: str, code: str, line: int) -> None:
    with pytest.raises(ConfigError) as caught:
        read_results("x", text.encode())
    (issue,) = caught.value.issues
    assert (issue.code, issue.line) == (code, line)
