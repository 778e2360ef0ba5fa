"""CrystalDiskMark import: results of several versions, settings, names of tests."""

import pytest

from destage.errors import ConfigError
from destage.tools.crystaldiskmark import load as crystaldiskmark
from destage.tools.imported_workload import ImportedWorkload

RESULT = """CrystalDiskMark 8.0.4 x64
[Read]
  SEQ    1MiB (Q=  8, T= 1):  1000.000 MB/s [  953.7 IOPS] <  8000.00 us>
  RND    4KiB (Q= 32, T=16):   100.000 MB/s [24414.1 IOPS] <  1300.00 us>
[Write]
  SEQ    1MiB (Q=  8, T= 1):   900.000 MB/s [  858.3 IOPS] <  9000.00 us>
[Mix] Read 60%/Write 40%
  RND    4KiB (Q=  1, T= 1):    50.000 MB/s [12207.0 IOPS] <    80.00 us>

Profile: Default
   Test: 4 GiB (x5) [C: 10% (1/9GiB)]
   Time: Measure 10 sec / Interval 5 sec
"""
OLD_RESULT = """CrystalDiskMark 3.0.3 x64
           Sequential Read :   500.000 MB/s
         Random Write 512KB :   100.000 MB/s
    Random Read 4KB (QD=32) :   200.000 MB/s [ 48828.1 IOPS]
   Sequential Write (Q= 32,T= 1) :   400.000 MB/s
  Test : 1000 MB [C: 1% (1/9 GB)] (x5)
"""
SETTINGS = """[Setting]
Profile="4"
Benchmark="1"
BenchSize0="128"
BenchQueues0=32
TestSize=7
TestMix=4
MeasureTime=20
TestCount=3
"""


def shape(test: ImportedWorkload) -> tuple[str, int, float, str, str]:
    """Return kind of addresses, depth, share of reads, request size and footprint of a test."""
    (only,) = test.workload["streams"]
    operations, address = only["operations"], only["address"]
    return (
        address["kind"],
        only["arrival"]["depth"],
        operations["read_fraction"],
        operations["size"]["value"],
        address["footprint"],
    )


def test_each_line_of_a_result_is_a_test() -> None:
    imported = crystaldiskmark.read_tests(RESULT, "r.txt")
    assert [one.name for one in imported] == [
        "SEQ1M Q8T1 read",
        "RND4K Q32T16 read",
        "SEQ1M Q8T1 write",
        "RND4K Q1T1 mix60",
    ]
    assert shape(imported[0]) == ("sequential", 8, 1.0, "1MiB", "4GiB")
    assert shape(imported[1]) == ("uniform", 512, 1.0, "4KiB", "4GiB")
    assert shape(imported[3]) == ("uniform", 1, 0.6, "4KiB", "4GiB")
    assert imported[0].run == {"window": {"duration": "10s"}}


def test_results_of_old_versions() -> None:
    imported = crystaldiskmark.read_tests(OLD_RESULT, "r.txt")
    assert [shape(one) for one in imported] == [
        ("sequential", 1, 1.0, "1MiB", "1000MiB"),
        ("uniform", 1, 0.0, "512KiB", "1000MiB"),
        ("uniform", 32, 1.0, "4KiB", "1000MiB"),
        ("sequential", 32, 0.0, "128KiB", "1000MiB"),
    ]


def test_settings_select_the_tests_of_their_profile() -> None:
    imported = crystaldiskmark.read_tests(SETTINGS, "DiskMark64.ini")
    assert [one.name for one in imported] == [
        f"{name} {way}"
        for way in ("read", "mix50")
        for name in ("SEQ128K Q32T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1")
    ]
    assert shape(imported[0])[-1] == "2GiB"
    assert imported[0].run == {"window": {"duration": "20s"}}


@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("SEQ1M Q8T1", ["read", "write"]),
        ("RND4K Q32T1 write", ["write"]),
        ("rnd 4KiB (Q=32, T=1) mix70", ["mix70"]),
    ],
)
def test_a_name_is_a_test(name: str, ways: list[str]) -> None:
    assert crystaldiskmark.is_command(name)
    imported = crystaldiskmark.read_tests(name, "command")
    assert [one.name.split()[-1] for one in imported] == ways


def test_threads_of_a_sequential_test_share_a_position() -> None:
    """CrystalDiskMark starts them with `-si`; otherwise each thread would read the same blocks again."""
    (test,) = crystaldiskmark.read_tests("SEQ128K Q32T4 read", "command")
    (stream,) = test.workload["streams"]
    assert (stream["arrival"]["depth"], stream["address"]["kind"]) == (128, "sequential")
    assert "-o32 -t4 -W0 -S -w0 -si" in test.mapping["target"][1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nothing", ("import.no-test", "", None)),
        ("[Setting]\nBenchSize0=abc\n", ("import.bad-value", "BenchSize0", 2)),
        ("RND1K Q1T1\n".replace("1K", "0K"), ("import.bad-value", "RND0K Q1T1 read", 1)),
    ],
)
def test_mistake_has_code_and_place(text: str, expected: tuple[str, str, int | None]) -> None:
    with pytest.raises(ConfigError) as caught:
        crystaldiskmark.read_tests(text, "r.txt")
    first = caught.value.issues[0]
    assert (first.code, first.place, first.line) == expected
