"""A CSV of one's own: its headings, its units, what follows from its figures, and every mistake in it."""

from dataclasses import asdict
from pathlib import Path

import pytest

from destage.errors import ConfigError
from destage.measured.line import FIGURES, MeasuredLine
from destage.tools.csv_table.headings import list_names, read_headings
from destage.tools.result_parts import ResultFile
from destage.tools.results import read_results

FILE = Path(__file__).parent / "data" / "figures.csv"
LOAD = "workload,operation,size,outstanding"


def read(text: str) -> list[MeasuredLine]:
    return list(read_results("own.csv", text.encode()).lines)


def find_issues(text: str) -> list[tuple[str, str, int | None, int | None]]:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert caught.value.source == "own.csv"
    return [(issue.code, issue.place, issue.line, issue.column) for issue in caught.value.issues]


def test_files_have_a_size() -> None:
    text = "workload,operation,size,depth,iops,file size [MiB]\na,randread,4k,1,100,10240\n"
    assert [line.footprint_bytes for line in read(text)] == [10 * 2**30]


def test_each_line_is_a_load_with_its_figures() -> None:
    """The second line has four threads of four outstanding reads: 741 reads of 8 KiB are 6.07 MB/s."""
    lines = read(FILE.read_text())
    assert [line.workload for line in lines] == ["read-d1", "read-d16", "mix-d16", "scan"]
    assert [line.source_line for line in lines] == [3, 4, 5, 6]
    found = {name: value for name, value in asdict(lines[1]).items() if value is not None}
    assert found == {
        "array_label": "",
        "workload": "read-d16",
        "tool": "csv",
        "source_file": "own.csv",
        "source_line": 4,
        "depth": 4,
        "threads": 4,
        "outstanding": 16.0,
        "request_bytes": 8192.0,
        "read_fraction": 1.0,
        "random_fraction": 1.0,
        "throughput_iops": 741.0,
        "read_iops": 741.0,
        "write_iops": 0.0,
        "throughput_bytes_per_s": 741.0 * 8192,
        "response_mean_us": 21_600.0,
        "response_p95_us": 48_000.0,
        "response_p99_us": 71_000.0,
        "derived_figures": ("outstanding", "read_iops", "throughput_bytes_per_s", "write_iops"),
        "unknown_figures": {},
    }
    mix, scan = lines[2:]
    assert (mix.read_fraction, mix.random_fraction, mix.write_iops) == (0.7, 1.0, pytest.approx(206.4))
    assert (scan.random_fraction, scan.response_mean_us, scan.response_p99_us) == (0.0, 700.0, None)


@pytest.mark.parametrize(
    ("heading", "cell", "column", "value"),
    [
        ("response_mean_us", "500", "response_mean_us", 500.0),
        ("latency", "0.5ms", "response_mean_us", 500.0),
        ("Mean Latency (ms)", "0.5", "response_mean_us", 500.0),
        ("lat avg ms", "500us", "response_mean_us", 500.0),
        ("p99.9 [us]", "500", "response_p999_us", 500.0),
        ("read latency p95 [usec]", "500", "read_response_p95_us", 500.0),
        ("latency max [s]", "0.0005", "response_max_us", 500.0),
        ("IOPS", "2e3", "throughput_iops", 2000.0),
        ("throughput [IO/s]", "2000 IO/s", "throughput_iops", 2000.0),
        ("MB/s", "8.192", "throughput_iops", 2000.0),
        ("throughput MiB/s", "7.8125", "throughput_iops", 2000.0),
        ("write IOPS", "500", "write_iops", 500.0),
    ],
)
def test_headings_have_words_in_any_order_and_units(
    heading: str, cell: str, column: str, value: float
) -> None:
    (line,) = read(f"{LOAD},{heading}\nw,randread,4k,4,{cell}\n")
    assert getattr(line, column) == pytest.approx(value)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_cells_have_one_of_three_delimiters(delimiter: str) -> None:
    text = FILE.read_text().replace(",", delimiter)
    assert read(text) == read(FILE.read_text())


def test_documented_and_table_names_are_headings() -> None:
    file = ResultFile("x", "")
    for names in (list_names(), ["outstanding", "request_bytes", *FIGURES]):
        headings = read_headings(file, 1, names, [1] * len(names))
        assert len({heading.column for heading in headings}) == len(names)


@pytest.mark.parametrize(
    ("operation", "access", "shares"),
    [
        ("read", "random", (1.0, 1.0)),
        ("Sequential writes", "", (0.0, 0.0)),
        ("random read", "100%", (1.0, 1.0)),
        ("write", "25%", (0.0, 0.25)),
    ],
)
def test_operation_and_access_are_shares(operation: str, access: str, shares: tuple[float, float]) -> None:
    (line,) = read(f"{LOAD},access,iops\nw,{operation},4k,4,{access},10\n")
    assert (line.read_fraction, line.random_fraction) == shares


def test_every_mistake_has_its_line_and_column() -> None:
    text = f"{LOAD},iops,p99\na,randread,4KB,0,1,2\nb,randomly,4k,4,fast,2ms\nc,read,4k,,,-1ms\n"
    assert find_issues(text) == [
        ("measured.bad-value", "size", 2, 12),
        ("measured.bad-value", "outstanding", 2, 16),
        ("measured.bad-value", "p99", 2, 20),
        ("measured.bad-value", "operation", 3, 3),
        ("measured.bad-value", "iops", 3, 17),
        ("measured.bad-value", "p99", 4, 13),
    ]


@pytest.mark.parametrize(
    ("text", "issues"),
    [
        (f"{LOAD},iosp\n", [("measured.unknown-column", "iosp", 1, 37)]),
        (f"{LOAD},latency [h]\n", [("measured.unknown-column", "latency [h]", 1, 37)]),
        (f"{LOAD},iops,IOPS\n", [("measured.duplicate", "IOPS", 1, 42)]),
        (
            "workload,access\n",
            [
                ("measured.missing-value", place, 1, 1)
                for place in ("size", "operation", "outstanding", "iops")
            ],
        ),
        (f"{LOAD},iops\n", [("measured.no-figures", "", 1, 1)]),
        (f"{LOAD},iops\na,randread,4k\n", [("measured.bad-syntax", "", 2, 1)]),
        (
            f"{LOAD},iops\n,rw,,,\n",
            [
                ("measured.missing-value", place, 2, 1)
                for place in ("workload", "size", "operation", "access", "outstanding", "iops")
            ],
        ),
        (f"{LOAD},read share,iops\na,randread,4k,1,70%,9\n", [("measured.implausible", "read share", 2, 17)]),
        (
            f"{LOAD},iops\na,randread,4k,1,9\nb,randread,4k,1,9\na,randread,4k,1,9\n",
            [("measured.duplicate", "a", 4, 1)],
        ),
        # A thousand reads per second of 4 KiB are 4.1 MB/s, and of 5 ms each they need five outstanding.
        (f"{LOAD},iops,MB/s\na,randread,4k,1,1000,41\n", [("measured.implausible", "bandwidth", 2, 1)]),
        (f"{LOAD},iops,latency\na,randread,4k,2,1000,5ms\n", [("measured.implausible", "outstanding", 2, 1)]),
        (f"{LOAD},iops,latency\na,randread,4k,2,1000,5us\n", [("measured.implausible", "outstanding", 2, 1)]),
    ],
)
def test_a_table_that_cannot_be_used_says_where(
    text: str, issues: list[tuple[str, str, int | None, int | None]]
) -> None:
    assert find_issues(text) == issues


@pytest.mark.parametrize(
    ("heading", "meant"),
    [
        ("latencey mean", "latency mean"),
        ("block_bytes", "block size"),
        ("block [KiB]", "block size"),
        ("throughput_iop", "throughput_iops"),
    ],
)
def test_a_misspelt_heading_is_suggested(heading: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(f"{LOAD},{heading}\n")
    assert f"did you mean '{meant}'" in caught.value.issues[0].message
