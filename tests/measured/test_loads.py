"""The load behind measured lines: what was outstanding, where the tool limited it, and what is not known."""

import json
import re
from typing import Any

import pytest
from tests.measured.test_readers import (
    DATA,
    DISKSPD_TEXT,
    DISKSPD_XML,
    IOMETER,
    PERFMON,
    SYSBENCH_04,
    VDBENCH,
)

from destage.errors import ConfigError
from destage.measured.line import MeasuredLine
from destage.tools.result_parts import Readings
from destage.tools.results import read_results


def read(text: str) -> Readings:
    return read_results("x", text.encode())


def read_one(text: str) -> MeasuredLine:
    (line,) = read(text).lines
    return line


RUNTIME_MS = 2000


def fio_job(name: str, reads: int, **others: Any) -> dict[str, Any]:
    rates = {"iops": reads * 1000 / RUNTIME_MS, "bw_bytes": reads * 4096, "runtime": RUNTIME_MS}
    kind = {**rates, "total_ios": reads}
    idle = {"iops": 0, "bw_bytes": 0, "runtime": 0, "total_ios": 0}
    return {"jobname": name, "groupid": 0, "error": 0, "read": kind, "write": idle, **others}


def fio(*jobs: dict[str, Any], **others: Any) -> str:
    return json.dumps({"fio version": "fio-3.33", **others, "jobs": jobs}, indent=1)


def test_merged_jobs_of_fio_have_no_depth() -> None:
    """From fio 3.33: the entry of a group has the name of its first job and the options of its last one."""
    options = {"rw": "randwrite", "ioengine": "libaio", "iodepth": "4"}
    found = read(fio(fio_job("a", 100, job_runtime=6000, **{"job options": options})))
    (line,) = found.lines
    assert (line.outstanding, line.depth, line.threads, line.random_fraction) == (None, None, 3, None)
    assert "merged different jobs" in found.notes[0]
    grouped = {**options, "numjobs": "3"}
    same = read_one(fio(fio_job("a", 100, job_runtime=6000, **{"job options": grouped})))
    assert (same.outstanding, same.threads) == (12.0, 3)


def test_the_request_size_of_fio_is_not_cut_with_its_bandwidth() -> None:
    """Nine requests in 10 s are 7,372.8 bytes/s, of which `bw_bytes` has 7,372."""
    job = fio_job("a", 9)
    job["read"] |= {"iops": 0.9, "bw_bytes": 7372, "runtime": 10_000, "io_bytes": 73_728, "io_kbytes": 72}
    line = read_one(fio(job))
    assert (line.request_bytes, line.throughput_bytes_per_s) == (8192.0, pytest.approx(7372.8))


@pytest.mark.parametrize(
    ("option", "value", "outstanding"),
    [("rate_iops", "100", None), ("rate", "1m,0", None), ("thinktime", "0", 8.0), ("thinktime", "2ms", None)],
)
def test_a_limited_fio_job_keeps_no_depth(option: str, value: str, outstanding: float | None) -> None:
    options = {"ioengine": "libaio", "iodepth": "8", option: value}
    line = read_one(fio(fio_job("a", 100, **{"job options": options})))
    assert (line.depth, line.outstanding) == (8, outstanding)


@pytest.mark.parametrize(
    ("options", "share"),
    [
        ({"rw": "randread:8"}, 1 / 8),
        ({"rw": "read:64k"}, 0.0),
        ({"readwrite": "randrw", "percentage_random": "30,60"}, 0.3),
    ],
)
def test_fio_states_how_many_requests_are_random(options: dict[str, str], share: float) -> None:
    assert read_one(fio(fio_job("a", 100, **{"job options": options}))).random_fraction == share


@pytest.mark.parametrize(
    ("options", "footprint"),
    [
        ({"size": "10g"}, 10 * 2**30),
        ({"size": "10g", "kb_base": "1000", "filename": "f"}, 10 * 10**9),
        ({"filesize": "1m", "numjobs": "4"}, 4 * 2**20),
        ({"size": "1m", "numjobs": "4", "filename": "shared"}, 2**20),
        ({"size": "1m", "numjobs": "4", "filename": "/dev/sdb", "offset_increment": "2m"}, 7 * 2**20),
        ({"size": "50%", "filename": "/dev/sdb"}, None),
        ({"filename": "/dev/sdb"}, None),
    ],
)
def test_fio_states_the_size_of_the_files(options: dict[str, str], footprint: int | None) -> None:
    """Clones have files of their own unless a name is given."""
    assert read_one(fio(fio_job("a", 100, **{"job options": options}))).footprint_bytes == footprint


def test_the_last_report_of_a_fio_run_counts() -> None:
    """`--status-interval` writes the figures since the start again and again; another run starts later."""
    reports = [
        fio(fio_job("a", 100, elapsed=2), timestamp=1002),
        fio(fio_job("a", 250, elapsed=4), timestamp=1004),
        fio(fio_job("a", 70, elapsed=4), timestamp=1010),
    ]
    text = "\nfio: a warning\n".join(reports)
    found = read(text)
    assert [line.requests for line in found.lines] == [250, 70]
    jobs = [number for number, line in enumerate(text.splitlines(), 1) if "jobname" in line]
    assert [line.source_line for line in found.lines] == jobs[1:]
    assert found.notes[0].startswith("1 report")


def test_clones_may_report_reads_and_writes_together() -> None:
    """As with `unified_rw_reporting=1` and `numjobs=2` without `group_reporting`."""
    mixed = {"iops": 10.0, "bw_bytes": 40960, "runtime": 1000, "total_ios": 10, "lat_ns": {"mean": 5000.0}}
    clone = {"jobname": "a", "groupid": 0, "error": 0, "mixed": mixed}
    line = read_one(fio(clone, clone))
    assert (line.requests, line.throughput_iops, line.response_mean_us) == (20, 20.0, 5.0)
    assert line.read_iops is None


@pytest.mark.parametrize("key", ["iodepth", "numjobs"])
def test_counts_beyond_every_column_are_refused(key: str) -> None:
    options = {"ioengine": "libaio", key: "9" * 30}
    with pytest.raises(ConfigError, match="too large"):
        read(fio(fio_job("a", 100, **{"job options": options})))
    with pytest.raises(ConfigError, match="too large"):
        read(fio(fio_job("a", 10**25)))


def test_a_group_of_fio_has_no_deviation_of_its_rate() -> None:
    """Fio pools the samples of the threads, whose deviation is not that of their sum."""
    spread = {"iops_stddev": 5.0, "iops_samples": 8}
    one, two = (fio_job("a", 100, **{"job options": {"numjobs": str(count)}}) for count in (1, 2))
    for job in (one, two):
        job["read"] |= spread
    assert read_one(fio(one)).throughput_stddev_iops == 5.0
    assert read_one(fio(two)).throughput_stddev_iops is None


def test_shared_threads_of_diskspd_use_all_targets() -> None:
    """`-F8 -o16` with two targets is 8 x 32 outstanding, `-F8 -O4` is 8 x 4."""
    text = DISKSPD_TEXT.format(size="8KiB", per_thread=" per thread", mib="MiB")
    target = text[text.index("\tpath:") : text.index("\nSystem information:")].replace(
        "\t\tthreads per file: 2\n", ""
    )
    pool = "\tthread pool with 8 threads\n\tnumber of outstanding I/O operations per thread: {}\n"
    plain = text.replace("\t\tthreads per file: 2\n", "").replace("thread count:\t\t2", "thread count:\t\t8")
    for shared, depth in ((0, 32), (4, 4)):
        line = read_one(plain.replace(target, pool.format(shared) + target.rstrip() + "\n" + target))
        assert (line.threads, line.depth, line.outstanding) == (8, depth, 8.0 * depth)
    span = "<ThreadCount>8</ThreadCount><RequestCount>{}</RequestCount>"
    for shared, depth in ((0, 16), (4, 4)):
        line = read_one(DISKSPD_XML.replace("<ThreadCount>0</ThreadCount>", span.format(shared)))
        assert (line.depth, line.outstanding) == (depth, 8.0 * depth)


def test_a_limited_diskspd_target_keeps_no_depth() -> None:
    text = DISKSPD_TEXT.format(size="8KiB", per_thread="", mib="MB")
    limits = ("\t\tthink time: 5ms\n", "\t\tthroughput rate-limited to 100 IOPS\n")
    for limit in limits:
        line = read_one(text.replace("\t\tthreads per file", f"{limit}\t\tthreads per file"))
        assert (line.depth, line.outstanding) == (16, None)
    assert read_one(text.replace("\t\tthreads", "\t\tthink time: 0ms\n\t\tthreads")).outstanding == 32.0
    for limit in ("<ThinkTime>5</ThinkTime>", '<Throughput unit="IOPS">100</Throughput>'):
        assert (
            read_one(DISKSPD_XML.replace("</RequestCount>", f"</RequestCount>{limit}", 1)).outstanding is None
        )


def test_diskspd_text_has_the_samples_of_its_deviation() -> None:
    text = DISKSPD_TEXT.format(size="8KiB", per_thread="", mib="MB")
    sampled = text.replace("\tmeasuring latency\n", "\tgathering IOPS at intervals of 500ms\n")
    assert (read_one(text).samples, read_one(sampled).samples) == (None, 20)


@pytest.mark.parametrize(
    "text",
    [
        DISKSPD_TEXT.format(size="8KiB", per_thread="", mib="MB").replace(
            "actual test time:\t10.00s", "The test was interrupted before the measurements began."
        ),
        DISKSPD_XML.replace("<TestTimeSeconds>", "<Error>interrupted</Error><TestTimeSeconds>"),
    ],
)
def test_an_interrupted_diskspd_span_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert caught.value.issues[0].code == "measured.no-figures"


def test_vdbench_at_a_rate_keeps_no_depth() -> None:
    """`reqrate` is `max` or a number such as 999977 if all threads are busy."""
    for rate, outstanding in (("max", 4.0), ("999977.0000", 4.0), ("9999988.0", 4.0), ("1050.0000", None)):
        line = read(VDBENCH.replace(" max ", f" {rate} ")).lines[0]
        assert (line.threads, line.outstanding) == (4, outstanding)


def test_vdbench_threads_are_those_of_all_storages() -> None:
    """By queue_depth, 12 requests were outstanding of 4 threads for each of three storages."""
    found = read(VDBENCH.replace(" 3.3 5", " 11.9 5"))
    assert (found.lines[0].threads, found.lines[0].outstanding) == (12, 12.0)
    assert "12 threads by queue_depth" in found.notes[0]


def test_vdbench_storages_with_different_threads_have_no_depth() -> None:
    """Their `threads` is -1, and `seekpct` is negative for a sequential test that ends with its storage."""
    line = read(VDBENCH.replace(" 8192 4 70 0 0 100 ", " 8192 -1.0000 70 0 0 -1.0000 ")).lines[0]
    assert (line.threads, line.outstanding, line.random_fraction) == (None, None, 0.0)


def test_vdbench_intervals_may_be_reported_late() -> None:
    late = VDBENCH.replace("10:00:02.003 ", "10:00:02.603 ")
    more = [row for row in late.splitlines() if " rd1 3 " in row]
    rows = [
        more[0].replace("10:00:03.003", f"10:00:0{second}.003", 1).replace(" 3 max", f" {second} max")
        for second in (4, 5)
    ]
    text = late.replace(more[0], "\n".join([*more, *rows])).replace("avg_2-3", "avg_2-5")
    line = read(text).lines[0]
    assert (line.duration_s, line.requests) == (4.0, 4200)


def test_vdbench_without_a_version_has_none() -> None:
    assert read(VDBENCH.replace(" 50407 ", " n/a ")).lines[0].tool_version is None


def test_vdbench_tests_of_files_are_refused() -> None:
    with pytest.raises(ConfigError, match="file system test"):
        read(VDBENCH.replace("cpu_used", "Mkdir_rate"))


IOSTAT = (DATA / "iostat-12.6.1.txt").read_text()


def test_a_device_missing_from_an_iostat_report_was_idle() -> None:
    """`iostat -z` leaves idle devices out of a report, so that three reports are the base of its means."""
    rows = [row for row in IOSTAT.splitlines() if row.startswith("vda")]
    line = read_one(IOSTAT.replace(rows[2] + "\n", ""))
    assert (line.samples, line.duration_s) == (3, 3.0)
    assert line.read_iops == pytest.approx((6240 + 8257) / 3)
    assert line.busy_fraction == pytest.approx((0.488 + 0.628) / 3)
    assert line.read_response_mean_us == pytest.approx(80.0)


def iometer(**changes: tuple[str, str]) -> str:
    text = IOMETER.format(rates="MBps", all="7.8")
    for old, new in changes.values():
        text = text.replace(old, new)
    return text


def test_iometer_depths_are_in_the_rows_that_a_version_writes() -> None:
    """The depth is that of each disk: in its row, in that of its worker, or, if common, in that of all."""
    bare = iometer()
    for kind, count in (("DISK", 2), ("WORKER", 2)):
        rows = [row for row in bare.splitlines() if row.startswith(kind)]
        assert len(rows) == count
        for row in rows:
            bare = bare.replace(row, row.removesuffix(",8") + ",")
    assert read_one(bare).outstanding is None
    total = next(row for row in bare.splitlines() if row.startswith("ALL"))
    assert read_one(bare.replace(total, f"{total}8")).outstanding == 16.0
    of_workers = "\n".join(
        row.removesuffix(",8") + "," if row.startswith("DISK") else row for row in iometer().splitlines()
    )
    assert read_one(of_workers).outstanding == 16.0


def test_iometer_with_a_delay_keeps_no_depth() -> None:
    line = read_one(iometer(delay=("8192,50,80,100,0,1", "8192,50,80,100,5,1")))
    assert (line.depth, line.outstanding) == (8, None)


def test_iometer_rows_with_more_values_than_columns_are_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        read(iometer(name=('"oltp, 8K"', "oltp, 8K")))
    assert caught.value.issues[0].code == "measured.bad-syntax"


def test_sysbench_at_a_rate_or_asynchronous_keeps_no_depth() -> None:
    rated = SYSBENCH_04.replace(
        "Number of threads: 4\n", "Number of threads: 4\nTarget transaction rate: 200/sec\n"
    )
    queued = SYSBENCH_04.replace("Doing random", "Using asynchronous I/O mode\nDoing random")
    assert [read_one(text).outstanding for text in (SYSBENCH_04, rated, queued)] == [4.0, None, None]
    assert read_one(queued).depth is None


def test_sysbench_1_1_prints_rates_in_other_words() -> None:
    old = (DATA / "sysbench-1.0.20.txt").read_text()
    first, second = re.split(r"(?=^sysbench )", old, flags=re.MULTILINE)[1:]
    assert first
    start, end = second.index("File operations:"), second.index("General statistics:")
    rates = (
        "Throughput:\n"
        "         read:  IOPS=5929.93 92.66 MiB/s (97.16 MB/s)\n"
        "         write: IOPS=3951.96 61.75 MiB/s (64.75 MB/s)\n"
        "         fsync: IOPS=199.80\n\n"
    )
    assert read_one(second[:start] + rates + second[end:]) == read_one(second)


def test_perfmon_disks_of_two_hosts_are_two_lines() -> None:
    header, *samples = PERFMON.splitlines()
    titles, rows = header.split(","), [row.split(",") for row in samples if row.startswith('"')]
    both = [",".join([*titles, *(title.replace("HOST", "OTHER") for title in titles[2:])])]
    doubled = ['"300"' if cell == '"100"' else cell for cell in rows[1][2:]]
    both += [",".join([*row, *(doubled if at == 1 else row[2:])]) for at, row in enumerate(rows)]
    found = {line.workload: line.read_iops for line in read("\n".join(both)).lines}
    assert found == {"disk 0 C: of HOST": 200.0, "disk 0 C: of OTHER": 300.0}


def test_perfmon_may_have_semicolons_and_decimal_commas() -> None:
    foreign = PERFMON.replace('","', '";"').replace('"0.00', '"0,00').replace('"1.', '"1,')
    assert read_one(foreign) == read_one(PERFMON)


def test_csv_that_cannot_be_split_is_a_mistake() -> None:
    for text in (PERFMON, iometer()):
        with pytest.raises(ConfigError) as caught:
            read(text.replace("Disk Reads/sec", "x" * 200_000).replace("Target Name", "x" * 200_000))
        assert caught.value.issues[0].code == "measured.bad-syntax"


def test_diskspd_without_a_request_is_refused() -> None:
    text = DISKSPD_TEXT.format(size="8KiB", per_thread="", mib="MB").replace(
        "        10000 |", "            0 |"
    )
    counts = re.sub(r"<(Read|Write)Count>\d+", r"<\1Count>0", DISKSPD_XML)
    for given in (text, counts):
        with pytest.raises(ConfigError, match="no request was completed"):
            read(given)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("text", [DISKSPD_XML, PERFMON, VDBENCH, fio(fio_job("a", 100))])
def test_files_of_windows_have_its_encodings_and_lines(text: str, encoding: str) -> None:
    data = text.replace("\n", "\r\n").encode(encoding)
    assert read_results("x", data).lines == read(text).lines
