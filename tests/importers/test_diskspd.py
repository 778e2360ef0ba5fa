"""DiskSpd import: options, their meaning, mistakes with their places, scripts and profiles."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from destage.engine import workload_profile
from destage.errors import ConfigError
from destage.tools.diskspd import load as diskspd
from destage.tools.imported_workload import ImportedWorkload, ImportOptions

LIES = {"footprint": "1GiB", "placement": {"kind": "contiguous", "offset": "0B"}}


def read(options: str, targets: str = "x.dat") -> ImportedWorkload:
    """Return the import of a command on a file of 1 GiB."""
    (only,) = diskspd.read_tests(f"diskspd -c1G -Su {options} {targets}", "command")
    workload_profile.check_workload(only.workload)
    return only


def stream(options: str) -> dict[str, Any]:
    """Return the one stream of a command."""
    (only,) = read(options).workload["streams"]
    return dict(only)


def mistakes(command: str, **how: Any) -> list[tuple[str, str, int | None]]:
    """Return code, place and column of each mistake of a command."""
    with pytest.raises(ConfigError) as caught:
        diskspd.read_tests(command, "command", **how)
    return [(issue.code, issue.place, issue.column) for issue in caught.value.issues]


def test_threads_times_outstanding_random_requests() -> None:
    only = stream("-b8K -o32 -t4 -r -w30")
    assert only["arrival"] == {"kind": "fixed_outstanding", "depth": 128}
    assert only["operations"] == {"read_fraction": 0.7, "size": {"kind": "constant", "value": "8KiB"}}
    assert only["address"] == {"kind": "uniform", **LIES}


def test_defaults_are_those_of_diskspd() -> None:
    imported = read("")
    assert imported.run == {"warm_up": {"duration": "5s"}, "window": {"duration": "10s"}}
    (only,) = imported.workload["streams"]
    assert only["arrival"]["depth"] == 2
    assert only["operations"]["size"]["value"] == "64KiB"
    assert (only["operations"]["read_fraction"], only["address"]["kind"]) == (1.0, "sequential")


def test_each_sequential_thread_has_its_position() -> None:
    streams = read("-t3 -o4 -T256M").workload["streams"]
    assert [one["arrival"]["depth"] for one in streams] == [4, 4, 4]
    assert [one["address"]["placement"]["offset"] for one in streams] == ["0B", "256MiB", "512MiB"]
    assert [one["address"]["footprint"] for one in streams] == ["1GiB", "768MiB", "512MiB"]


def test_interlocked_threads_share_a_position() -> None:
    only = stream("-t3 -o4 -si")
    assert (only["arrival"]["depth"], only["address"]) == (12, {"kind": "sequential", **LIES})


def test_parallel_requests_are_sequences_of_their_own() -> None:
    streams = read("-o3 -p").workload["streams"]
    assert [one["arrival"]["depth"] for one in streams] == [1, 1, 1]


@pytest.mark.parametrize(
    ("options", "address"),
    [
        ("-b4K -s1M", {"kind": "strided", "stride": "1MiB"}),
        ("-b4K -s16b", {"kind": "strided", "stride": "64KiB"}),
        ("-rs40", {"kind": "sequential", "jump_fraction": 0.4}),
        (
            "-b4K -rdpct90/10:0/10:5/20",
            {
                "kind": "zoned",
                "zones": [
                    {"accesses": 90, "size": 10.0},
                    {"accesses": 0, "size": 10.0},
                    {"accesses": 5, "size": 20.0},
                    {"accesses": 5, "size": 60.0},
                ],
            },
        ),
        (
            "-b4K -rdabs100/256M",
            {"kind": "zoned", "zones": [{"accesses": 100, "size": 25.0}, {"accesses": 0, "size": 75.0}]},
        ),
    ],
)
def test_address_kinds(options: str, address: dict[str, Any]) -> None:
    assert stream(options)["address"] == {**address, **LIES}


def test_distribution_beyond_the_target_is_cut_off() -> None:
    only = stream("-b4K -rdabs60/512M:40/1G")
    assert only["address"]["zones"] == [{"accesses": 60, "size": 50.0}, {"accesses": 40, "size": 50.0}]


def test_range_of_the_target() -> None:
    for options in ("-B256M:512M", "-B256M -f768M"):
        address = stream(f"-r {options}")["address"]
        assert (address["footprint"], address["placement"]["offset"]) == ("512MiB", "256MiB")


@pytest.mark.parametrize(
    ("options", "arrival"),
    [
        ("-b8K -g1000i -t2", {"kind": "constant", "rate": "2000/s"}),
        ("-b8K -g8192", {"kind": "constant", "rate": "1000/s"}),
        (
            "-i10 -j50 -o4",
            {
                "kind": "closed",
                "think_time": {"kind": "constant", "value": "50ms"},
                "ios": 10,
                "order": "parallel",
                "depth": 4,
            },
        ),
    ],
)
def test_rates_and_bursts(options: str, arrival: dict[str, Any]) -> None:
    assert stream(f"-r {options}")["arrival"] == arrival


def test_caching_options_add_up() -> None:
    for options, is_forced, is_cached in (
        ("-Sb", False, True),
        ("-S", False, False),
        ("-Sh", True, False),
        ("-h", True, False),
        ("-Sw", True, True),
        ("-Sw -Su", True, False),
    ):
        command = f"diskspd -c1G -w100 {options} x"
        (only,) = diskspd.read_tests(command, "command")
        (one,) = only.workload["streams"]
        assert ("fua_fraction" in one["operations"]) is is_forced, options
        assert ("import.page-cache" in {issue.code for issue in only.warnings}) is is_cached, options


def test_targets_follow_one_another() -> None:
    streams = read("-r -t2", "a.dat b.dat").workload["streams"]
    assert [one["address"]["placement"]["offset"] for one in streams] == ["0B", "1GiB"]
    (only,) = read("-r -F2 -O8", "a.dat b.dat").workload["streams"]
    assert (only["arrival"]["depth"], [part["weight"] for part in only["mix"]]) == (16, [1, 1])


def test_paths_of_linux_are_not_options() -> None:
    """DiskSpd takes options with a slash, too, and there is a DiskSpd for Linux."""
    (device,) = diskspd.read_tests("diskspd -b8K /dev/sdb", "a.sh")
    assert "footprint" not in device.workload["streams"][0]["address"]
    assert not [warning for warning in device.warnings if warning.code == "import.unknown-size"]
    file = read("/b8K /r /rdpct90/10", "/srv/x.dat").workload["streams"][0]
    assert (file["operations"]["size"]["value"], file["address"]["kind"]) == ("8KiB", "zoned")


def test_unknown_size_is_the_whole_array() -> None:
    (imported,) = diskspd.read_tests("diskspd -r -Su D:\\x.dat", "command")
    assert "footprint" not in imported.workload["streams"][0]["address"]
    assert [issue.code for issue in imported.warnings] == ["import.unknown-size"]
    for disk in ("#1", "E:", "\\\\.\\PhysicalDrive2"):
        (imported,) = diskspd.read_tests(f"diskspd -r -Su {disk}", "command")
        assert not imported.warnings


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("diskspd -b8Z x", [("import.bad-value", "-b", 9)]),
        ("diskspd -b 8K x", [("import.bad-value", "-b", 9)]),
        ("diskspd -w101 -o0 x", [("import.bad-value", "-w", 9), ("import.bad-value", "-o", 15)]),
        ("diskspd -r -q x", [("import.unsupported-option", "-q", 12)]),
        ("diskspd -Sm x", [("import.bad-value", "-S", 9)]),
        ("diskspd -b64K -s8K x", [("import.bad-value", "-s", 15)]),
        ("diskspd -t2 -F4 x", [("import.conflicting-options", "-t", 9)]),
        ("diskspd -i5 x", [("import.conflicting-options", "-i", 9)]),
        ("diskspd -si -T1M x", [("import.conflicting-options", "-T", 13)]),
        ("diskspd -F4 -O8 -g100 x", [("import.conflicting-options", "-g", 17)]),
        ("diskspd -F4 -O8 -i5 -j5 x", [("import.conflicting-options", "-i", 17)]),
        ("diskspd -F4 -O8 -p x", [("import.conflicting-options", "-p", 17)]),
        ("diskspd -rs50 -rdpct90/10 x", [("import.conflicting-options", "-r", 15)]),
        ("diskspd -rdpct60/50:60/50 x", [("import.bad-value", "-r", 9)]),
        ("diskspd -rdabs60/1G x", [("import.missing-size", "-rdabs", 21)]),
        ("diskspd -o%DEPTH% x", [("import.unknown-variable", "-o", 9)]),
        ("diskspd -c1G -t2000 x", [("diskspd.too-many-threads", "-t", 21)]),
        ("diskspd -r", [("diskspd.no-target", "", 9)]),
        ("rem nothing", [("import.no-test", "", None)]),
    ],
)
def test_mistake_has_code_and_place(command: str, expected: list[tuple[str, str, int | None]]) -> None:
    assert mistakes(command) == expected


def test_unknown_options_can_be_skipped() -> None:
    (imported,) = diskspd.read_tests(
        "diskspd -q -r -Su #1", "command", options=ImportOptions(ignore_unknown=True)
    )
    assert [issue.code for issue in imported.warnings] == ["import.option-skipped"]


PROFILE = """<Profile><TimeSpans>
<TimeSpan><Duration>30</Duration><Warmup>0</Warmup><RandSeed>1</RandSeed><Targets><Target>
<Path>x.dat</Path><BlockSize>8192</BlockSize><FileSize>1073741824</FileSize><Random>8192</Random>
<DisableOSCache>true</DisableOSCache><RequestCount>8</RequestCount><ThreadsPerFile>2</ThreadsPerFile>
<WriteRatio>30</WriteRatio><Throughput unit="IOPS">{rate}</Throughput>{more}
</Target></Targets></TimeSpan></TimeSpans></Profile>
"""


def test_profile_is_the_command_line() -> None:
    (profile,) = diskspd.read_tests(PROFILE.format(rate=0, more=""), "p.xml")
    command = read("-b8K -r -o8 -t2 -w30 -d30 -W0")
    assert (profile.workload, profile.run) == (command.workload, command.run)
    (rated,) = diskspd.read_tests(PROFILE.format(rate=50, more=""), "p.xml")
    assert rated.workload == read("-b8K -r -o8 -t2 -w30 -g50i").workload


def test_profile_within_a_result_is_found() -> None:
    result = f"<Results><System/>{PROFILE.format(rate=0, more='')}<TimeSpan/></Results>"
    assert len(diskspd.read_tests(result, "r.xml")) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PROFILE.format(rate="x", more=""), ("import.bad-value", "Throughput", 5)),
        (PROFILE.format(rate=0, more="<Nope>1</Nope>"), ("import.unsupported-option", "Nope", 5)),
        (
            PROFILE.format(rate=5, more="").replace("<Warmup>", "<RequestCount>4</RequestCount><Warmup>"),
            ("import.bad-value", "TimeSpan", 2),
        ),
        (
            PROFILE.format(
                rate=0,
                more='<RandomRatio>50</RandomRatio><Distribution><Percent><Range IO="90">10</Range></Percent>'
                "</Distribution>",
            ),
            ("import.bad-value", "Target", 2),
        ),
        ("<Profile><TimeSpan>", ("import.bad-syntax", "", 1)),
        ("<!DOCTYPE a><Profile><TimeSpan/></Profile>", ("import.bad-syntax", "", 1)),
        ("<Profile><TimeSpan/></Profile>", ("diskspd.no-target", "TimeSpan", 1)),
    ],
)
def test_mistake_in_a_profile_has_its_place(text: str, expected: tuple[str, str, int]) -> None:
    with pytest.raises(ConfigError) as caught:
        diskspd.read_tests(text, "p.xml")
    first = caught.value.issues[0]
    assert (first.code, first.place, first.line) == expected


WORDS = st.sampled_from(
    [
        *(
            "-b8K",
            "-b",
            "-o4",
            "-t2",
            "-r",
            "-rs50",
            "-rdpct50/50",
            "-s",
            "-si",
            "-w30",
            "-g5i",
            "-i2",
            "-j3",
        ),
        *("-c1G", "-f512M", "-B64K", "-T1M", "-F2", "-O3", "-Sh", "-p", "-x", "a.dat", "#1", "%V%", ">", '"'),
    ]
)


@given(st.lists(WORDS, max_size=12))
def test_any_command_is_read_or_rejected(words: list[str]) -> None:
    codes: set[str] = set()
    try:
        for one in diskspd.read_tests(" ".join(["diskspd", *words]), "command"):
            workload_profile.check_workload(one.workload)
    except ConfigError as error:
        codes = {issue.code.partition(".")[0] for issue in error.issues}
    assert codes <= {"diskspd", "import", "scenario"}
