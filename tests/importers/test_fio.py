"""fio import: each option worked by hand, each mistake with code and place, any text accepted or rejected."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from destage.engine import normalise, workload_profile
from destage.errors import ConfigError, Issue
from destage.importers.fio import options, read_job_file
from destage.importers.imported_workload import ImportedWorkload
from destage.spec.documents import parse_document

JOB = "[job]\nioengine=libaio\ndirect=1\nsize=1g\n"


def job(*lines: str) -> ImportedWorkload:
    """Return an import of a job of 1 GiB with further options."""
    return read_job_file(JOB + "\n".join(lines), "a.fio")


def stream(*lines: str) -> dict[str, Any]:
    """Return the one stream of a job of 1 GiB."""
    (only,) = job(*lines).workload["streams"]
    return dict(only)


def mistakes(text: str, **how: Any) -> list[tuple[str, str]]:
    """Return the code and place of each mistake of a job file."""
    with pytest.raises(ConfigError) as caught:
        read_job_file(text, "a.fio", **how)
    assert caught.value.source == "a.fio"
    return sorted((issue.code, issue.place) for issue in caught.value.issues)


def contiguous(offset: str = "0B") -> dict[str, Any]:
    return {"placement": {"kind": "contiguous", "offset": offset}}


FILE = {"footprint": "1GiB", **contiguous()}
BLOCK = {"size": {"kind": "constant", "value": "4KiB"}}
SEQUENTIAL = {"kind": "sequential", **FILE}
UNIFORM = {"kind": "uniform", **FILE}


@pytest.mark.parametrize(
    ("lines", "operations", "address"),
    [
        (["rw=read"], {"read_fraction": 1.0, **BLOCK}, SEQUENTIAL),
        ([], {"read_fraction": 1.0, **BLOCK}, SEQUENTIAL),
        (["rw=write"], {"read_fraction": 0.0, **BLOCK}, SEQUENTIAL),
        (["rw=randread"], {"read_fraction": 1.0, **BLOCK}, UNIFORM),
        (["readwrite=randwrite"], {"read_fraction": 0.0, **BLOCK}, UNIFORM),
        (["rw=randrw"], {"read_fraction": 0.5, **BLOCK}, UNIFORM),
        (["rw=randrw", "rwmixread=70"], {"read_fraction": 0.7, **BLOCK}, UNIFORM),
        (["rw=randrw", "rwmixwrite=70"], {"read_fraction": 0.3, **BLOCK}, UNIFORM),
        # The later of the two holds.
        (["rw=randrw", "rwmixread=70", "rwmixwrite=60"], {"read_fraction": 0.4, **BLOCK}, UNIFORM),
        (["rw=randrw", "rwmixwrite=60", "rwmixread=70"], {"read_fraction": 0.7, **BLOCK}, UNIFORM),
        # The mix is that of mixed jobs only.
        (["rw=randread", "rwmixread=70"], {"read_fraction": 1.0, **BLOCK}, UNIFORM),
        (["rw=randread:8"], {"read_fraction": 1.0, **BLOCK}, {"kind": "sequential", "run": "32KiB", **FILE}),
        (["rw=read:4k"], {"read_fraction": 1.0, **BLOCK}, {"kind": "strided", "stride": "8KiB", **FILE}),
        (
            ["rw=randread", "percentage_random=30"],
            {"read_fraction": 1.0, **BLOCK},
            {"kind": "sequential", "jump_fraction": 0.3, **FILE},
        ),
        (["rw=randread", "percentage_random=0"], {"read_fraction": 1.0, **BLOCK}, SEQUENTIAL),
        (
            ["rw=randread", "random_distribution=zipf:1.2"],
            {"read_fraction": 1.0, **BLOCK},
            {"kind": "zipf", "exponent": 1.2, "block": "4KiB", **FILE},
        ),
        (
            ["rw=randread", "bssplit=4k/100", "blockalign=512", "random_distribution=zipf:0.8"],
            {"read_fraction": 1.0, **BLOCK, "alignment": "512B"},
            {"kind": "zipf", "exponent": 0.8, "block": "4KiB", **FILE},
        ),
        (
            ["rw=randread", "bs=16k", "random_distribution=pareto:0.2"],
            {"read_fraction": 1.0, "size": {"kind": "constant", "value": "16KiB"}},
            {"kind": "pareto", "hot_fraction": 0.2, "block": "16KiB", **FILE},
        ),
        (
            ["rw=randread", "random_distribution=zoned:60/10:30/20:8/30:2/40"],
            {"read_fraction": 1.0, **BLOCK},
            {
                "kind": "zoned",
                "zones": [
                    {"accesses": 60, "size": 10.0},
                    {"accesses": 30, "size": 20.0},
                    {"accesses": 8, "size": 30.0},
                    {"accesses": 2, "size": 40.0},
                ],
                **FILE,
            },
        ),
        (
            ["rw=randread", "random_distribution=zoned:60/10:/40:/50"],
            {"read_fraction": 1.0, **BLOCK},
            {
                "kind": "zoned",
                "zones": [
                    {"accesses": 60, "size": 10.0},
                    {"accesses": 20.0, "size": 40.0},
                    {"accesses": 20.0, "size": 50.0},
                ],
                **FILE,
            },
        ),
        (
            ["rw=randread", "random_distribution=zoned_abs:60/100m:40/300m"],
            {"read_fraction": 1.0, **BLOCK},
            {
                "kind": "zoned",
                "zones": [{"accesses": 60, "size": 25.0}, {"accesses": 40, "size": 75.0}],
                "footprint": "400MiB",
                **contiguous(),
            },
        ),
        (["rw=write", "sync=1"], {"read_fraction": 0.0, "fua_fraction": 1.0, **BLOCK}, SEQUENTIAL),
        (["rw=write", "sync=dsync"], {"read_fraction": 0.0, "fua_fraction": 1.0, **BLOCK}, SEQUENTIAL),
        (["rw=write", "sync=none"], {"read_fraction": 0.0, **BLOCK}, SEQUENTIAL),
        (["rw=write", "fsync=32"], {"read_fraction": 0.0, "flush_every": 32, **BLOCK}, SEQUENTIAL),
        (["rw=write", "fdatasync=1"], {"read_fraction": 0.0, "flush_every": 1, **BLOCK}, SEQUENTIAL),
        (["rw=write", "fsync=0"], {"read_fraction": 0.0, **BLOCK}, SEQUENTIAL),
        (
            ["rw=randwrite", "blockalign=512"],
            {"read_fraction": 0.0, **BLOCK, "alignment": "512B"},
            UNIFORM,
        ),
    ],
)
def test_operations_and_addresses(
    lines: list[str], operations: dict[str, Any], address: dict[str, Any]
) -> None:
    imported = stream(*lines)
    assert imported["operations"] == operations
    assert imported["address"] == address


def choice(*options: tuple[str, float]) -> dict[str, Any]:
    return {"kind": "choice", "options": [{"value": value, "weight": weight} for value, weight in options]}


@pytest.mark.parametrize(
    ("lines", "sizes"),
    [
        (["bs=8k"], {"size": {"kind": "constant", "value": "8KiB"}}),
        (
            ["bs=8k,32k"],
            {
                "size": {"kind": "constant", "value": "8KiB"},
                "write_size": {"kind": "constant", "value": "32KiB"},
            },
        ),
        (
            ["blocksize=,8k"],
            {
                "size": {"kind": "constant", "value": "4KiB"},
                "write_size": {"kind": "constant", "value": "8KiB"},
            },
        ),
        (
            ["bs=8k,32k,"],
            {
                "size": {"kind": "constant", "value": "8KiB"},
                "write_size": {"kind": "constant", "value": "32KiB"},
            },
        ),
        (
            ["bssplit=4k/10:64k/50:32k/40"],
            {"size": choice(("4KiB", 10), ("64KiB", 50), ("32KiB", 40)), "alignment": "4KiB"},
        ),
        (
            ["bssplit=4k/50:1k/:32k/"],
            {"size": choice(("4KiB", 50), ("1KiB", 25), ("32KiB", 25)), "alignment": "1KiB"},
        ),
        (
            ["bssplit=2k/50:4k/50,4k/90:8k/10"],
            {
                "size": choice(("2KiB", 50), ("4KiB", 50)),
                "write_size": choice(("4KiB", 90), ("8KiB", 10)),
                "alignment": "2KiB",
            },
        ),
        # A size without a share is not one of them.
        (["bssplit=4k/100:8k/0"], {"size": {"kind": "constant", "value": "4KiB"}}),
    ],
)
def test_sizes(lines: list[str], sizes: dict[str, Any]) -> None:
    imported = stream("rw=randrw", *lines)["operations"]
    assert imported == {"read_fraction": 0.5, **sizes}


@pytest.mark.parametrize(
    ("lines", "arrival"),
    [
        (["iodepth=16"], {"kind": "fixed_outstanding", "depth": 16}),
        ([], {"kind": "fixed_outstanding", "depth": 1}),
        (["iodepth=16", "ioengine=psync"], {"kind": "fixed_outstanding", "depth": 1}),
        (
            ["thinktime=500"],
            {"kind": "closed", "think_time": {"kind": "constant", "value": "500us"}, "ios": 1},
        ),
        (
            ["thinktime=2ms", "thinktime_blocks=8"],
            {"kind": "closed", "think_time": {"kind": "constant", "value": "2ms"}, "ios": 8},
        ),
        (
            ["thinktime=2ms", "thinktime_blocks=8", "iodepth=4"],
            {
                "kind": "closed",
                "think_time": {"kind": "constant", "value": "2ms"},
                "ios": 8,
                "order": "parallel",
                "depth": 4,
            },
        ),
        (
            ["thinktime=2ms", "thinktime_blocks=8", "iodepth=32"],
            {
                "kind": "closed",
                "think_time": {"kind": "constant", "value": "2ms"},
                "ios": 8,
                "order": "parallel",
            },
        ),
        (["rate_iops=200"], {"kind": "constant", "rate": "200/s"}),
        (["rate_iops=200", "rate_process=poisson"], {"kind": "poisson", "rate": "200/s"}),
        (["read_iolog=a.log"], {"kind": "trace", "file": "a.log", "mode": "open", "speed": 1.0}),
        (
            ["read_iolog=a.log", "replay_time_scale=50"],
            {"kind": "trace", "file": "a.log", "mode": "open", "speed": 0.5},
        ),
        (
            ["read_iolog=a.log", "replay_no_stall=1", "iodepth=8"],
            {"kind": "trace", "file": "a.log", "mode": "asap", "depth": 8},
        ),
    ],
)
def test_arrivals(lines: list[str], arrival: dict[str, Any]) -> None:
    assert stream(*lines)["arrival"] == arrival


def test_a_flush_between_think_times_is_a_step() -> None:
    imported = stream("rw=write", "thinktime=1ms", "thinktime_blocks=4", "fdatasync=4")
    assert imported["arrival"] == {"kind": "closed", "think_time": {"kind": "constant", "value": "1ms"}}
    step, flush = imported["steps"]
    assert step == {
        "kind": "io",
        "ios": 4,
        "operations": {"read_fraction": 0.0, **BLOCK},
        "address": SEQUENTIAL,
    }
    assert flush == {"kind": "flush"}
    other = job("rw=write", "thinktime=1ms", "thinktime_blocks=4", "fdatasync=3")
    assert other.workload["streams"][0]["operations"]["flush_every"] == 3
    assert "approximated: think time of 1ms after every 4 I/Os, counting a flush as one" in other.to_yaml()


def test_any_section_name_with_prefix_global_is_global() -> None:
    imported = read_job_file("[global defaults]\nsize=1m\n[a]\n", "a.fio").workload
    assert [each["name"] for each in imported["streams"]] == ["a"]


def test_poisson_reads_and_writes_make_one_process() -> None:
    imported = stream("rw=randrw", "rwmixread=50", "rate_iops=300,100", "rate_process=poisson")
    assert imported["arrival"] == {"kind": "poisson", "rate": "400/s"}
    assert imported["operations"]["read_fraction"] == 0.75


def test_reads_and_writes_at_equal_gaps_are_two_streams() -> None:
    read, write = job("rw=randrw", "rate_iops=300,100").workload["streams"]
    assert (read["name"], read["arrival"]["rate"], read["operations"]["read_fraction"]) == (
        "job.read",
        "300/s",
        1,
    )
    assert (write["name"], write["arrival"]["rate"], write["operations"]["read_fraction"]) == (
        "job.write",
        "100/s",
        0,
    )


def test_a_sequential_mixture_is_two_sequences() -> None:
    imported = stream("rw=rw", "rwmixread=80", "bs=8k,64k")
    assert [part["weight"] for part in imported["mix"]] == [80, 20]
    reads, writes = (part["operations"] for part in imported["mix"])
    assert reads == {"read_fraction": 1.0, "size": {"kind": "constant", "value": "8KiB"}}
    assert writes == {"read_fraction": 0.0, "size": {"kind": "constant", "value": "64KiB"}}
    assert [part["address"] for part in imported["mix"]] == [SEQUENTIAL, SEQUENTIAL]


def test_clones_are_users_each_with_a_file() -> None:
    imported = job("numjobs=4", "rw=randread", "iodepth=2").workload
    assert imported["users"] == 4
    (only,) = imported["streams"]
    assert only["arrival"] == {"kind": "fixed_outstanding", "depth": 2, "per_user": True}
    assert only["address"] == {**UNIFORM, "per_user": True}


def test_clones_of_one_file_share_it() -> None:
    (only,) = job("numjobs=4", "rw=randread", "filename=/tmp/f").workload["streams"]
    assert "per_user" not in only["address"]
    assert only["arrival"]["per_user"]


def test_sequential_clones_of_one_file_start_together() -> None:
    imported = job("numjobs=2", "rw=read", "filename=/tmp/f").workload
    assert imported["users"] == 1
    assert [each["name"] for each in imported["streams"]] == ["job.0", "job.1"]
    assert [each["address"] for each in imported["streams"]] == [SEQUENTIAL, SEQUENTIAL]


def test_clones_lie_one_offset_increment_apart() -> None:
    imported = job("numjobs=3", "rw=read", "filename=/dev/sda", "offset=1m", "offset_increment=2g").workload
    offsets = [each["address"]["placement"]["offset"] for each in imported["streams"]]
    assert offsets == ["1MiB", "2049MiB", "4097MiB"]


def test_jobs_with_different_numjobs_are_separate_streams() -> None:
    text = "[global]\nsize=1m\ndirect=1\n[a]\nnumjobs=2\nrw=randread\n[b]\nrw=randread\n"
    imported = read_job_file(text, "a.fio").workload
    assert [each["name"] for each in imported["streams"]] == ["a.0", "a.1", "b"]
    assert [each["address"]["placement"]["offset"] for each in imported["streams"]] == ["0B", "1MiB", "2MiB"]


def test_offset_and_sizes_place_the_file() -> None:
    assert stream("filename=/dev/sdb", "offset=4k")["address"]["footprint"] == "1GiB"
    assert stream("filename=/dev/sdb", "offset=4k")["address"]["placement"]["offset"] == "4KiB"
    # With filesize, size only limits the amount of I/O.
    sized = stream("filesize=10m", "offset=2m")["address"]
    assert (sized["footprint"], sized["placement"]["offset"]) == ("8MiB", "2MiB")
    whole = read_job_file("[a]\nfilename=/dev/sdb\nrw=randread\ndirect=1\n", "a.fio").workload["streams"][0]
    assert whole["address"] == {"kind": "uniform", **contiguous()}


def test_files_are_contiguous_and_shared_by_name() -> None:
    text = "[global]\nsize=3m\n[a]\nfilename=x\n[b]\n[c]\nfilename=x\nsize=5m\n[d]\n"
    imported = read_job_file(text, "a.fio").workload
    offsets = [each["address"]["placement"]["offset"] for each in imported["streams"]]
    assert offsets == ["0B", "5MiB", "0B", "8MiB"]


def test_kb_base_swaps_binary_and_decimal_units() -> None:
    assert stream("filesize=4k", "bs=512")["address"]["footprint"] == "4KiB"
    assert stream("filesize=4ki", "bs=512")["address"]["footprint"] == "4kB"
    assert stream("kb_base=1000", "filesize=4k", "bs=512")["address"]["footprint"] == "4kB"
    assert stream("kb_base=1000", "filesize=4KiB", "bs=512")["address"]["footprint"] == "4KiB"
    assert stream("filesize=0x1000", "bs=512B")["address"]["footprint"] == "4KiB"
    assert stream("filesize=1T")["address"]["footprint"] == "1TiB"
    for time, read in (
        ("7", "7s"),
        ("2m", "2min"),
        ("1h", "1h"),
        ("3ms", "3ms"),
        ("5usec", "5us"),
        ("1d", "24h"),
    ):
        assert job(f"runtime={time}").run["window"] == {"duration": read}


def test_comments_and_later_global_sections() -> None:
    text = """
; a comment
# another
[global]
size=1m   ; and one behind a value
bs=8k
[first]
rw = randread
[global]
bs=16k
rwmixread=10   # not for the first
[second]
rw=randrw
size=2m
"""
    first, second = read_job_file(text, "a.fio").workload["streams"]
    assert first["operations"] == {"read_fraction": 1.0, "size": {"kind": "constant", "value": "8KiB"}}
    assert second["operations"] == {"read_fraction": 0.1, "size": {"kind": "constant", "value": "16KiB"}}
    assert (first["address"]["footprint"], second["address"]["footprint"]) == ("1MiB", "2MiB")


def test_variables_come_from_the_environment() -> None:
    text = "[a]\nsize=${SIZE}\nnumjobs=${JOBS}\n"
    imported = read_job_file(text, "a.fio", environment={"SIZE": "64m", "JOBS": "3"}).workload
    assert imported["users"] == 3
    assert mistakes(text, environment={"JOBS": "3"}) == [("fio.unknown-variable", "line 2, size")]


def test_runtime_and_ramp_become_the_run() -> None:
    assert job("runtime=60", "time_based", "ramp_time=10s").run == {
        "warm_up": {"duration": "10s"},
        "window": {"duration": "60s"},
    }
    assert job().run == {}


def test_start_delays_become_starts() -> None:
    text = "[global]\nsize=1m\nruntime=60\n[a]\n[b]\nstartdelay=30\n[c]\nstartdelay=5-10\n"
    imported = read_job_file(text, "a.fio")
    first, second, third = imported.workload["streams"]
    assert "start" not in first
    assert (first["lasts"], second["lasts"]) == ("60s", "60s")
    assert second["start"] == {"after": "30s"}
    assert third["start"] == {"after": "5s", "spread": "5s"}
    assert imported.run == {"warm_up": "none", "window": {"duration": "90s"}}


def test_groups_after_a_stonewall_are_phases() -> None:
    text = "[global]\nsize=1m\nruntime=60\n[fill]\nrw=write\n[a]\nstonewall\nramp_time=5\n[b]\nruntime=30\n"
    imported = read_job_file(text, "a.fio")
    assert imported.workload["phases"] == [
        {"name": "1 fill", "lasts": "60s"},
        {"name": "2 a ramp", "lasts": "5s"},
        {"name": "2 a", "lasts": "60s"},
    ]
    fill, first, second = imported.workload["streams"]
    assert fill["active"] == [{"phase": "1 fill"}]
    assert first["active"] == second["active"] == [{"phase": "2 a ramp"}, {"phase": "2 a"}]
    assert (first["lasts"], second["lasts"]) == ("65s", "30s")
    assert imported.run == {"window": {"phase": "2 a"}}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["rw=trim"], [("fio.bad-value", "line 5, rw")]),
        (["rw=randtrimwrite"], [("fio.bad-value", "line 5, rw")]),
        (["rw=randred"], [("fio.bad-value", "line 5, rw")]),
        (["iodepht=4"], [("fio.unsupported-option", "line 5, iodepht")]),
        (["verify=crc32c"], [("fio.unsupported-option", "line 5, verify")]),
        (["bsrange=1k-4k"], [("fio.unsupported-option", "line 5, bsrange")]),
        (["bs=1000"], [("fio.bad-value", "line 5, bs")]),
        (["bs=0"], [("fio.bad-value", "line 5, bs")]),
        (["bs=4x"], [("fio.bad-value", "line 5, bs")]),
        (["bs=4k,4k,4k,4k"], [("fio.bad-value", "line 5, bs")]),
        (["size=20%"], [("fio.bad-value", "line 5, size")]),
        (["size=8*$mb_memory"], [("fio.unknown-variable", "line 5, size")]),
        (["size=(2*3)"], [("fio.bad-value", "line 5, size")]),
        (["bssplit=4k/60:8k/50"], [("fio.bad-value", "line 5, bssplit")]),
        (["bssplit=4k/60:8k/20"], [("fio.bad-value", "line 5, bssplit")]),
        (["rwmixread=140"], [("fio.bad-value", "line 5, rwmixread")]),
        (["iodepth=many"], [("fio.bad-value", "line 5, iodepth")]),
        (["iodepth"], [("fio.bad-value", "line 5, iodepth")]),
        (["ioengine=libaoi"], [("fio.bad-value", "line 5, ioengine")]),
        (["ioengine=mmap"], [("fio.bad-value", "line 5, ioengine")]),
        (["nrfiles=4"], [("fio.bad-value", "line 5, nrfiles")]),
        (["filename=/dev/sda:/dev/sdb"], [("fio.bad-value", "line 5, filename")]),
        (["random_distribution=normal:10"], [("fio.bad-value", "line 5, random_distribution")]),
        (["random_distribution=zipf:1"], [("fio.bad-value", "line 5, random_distribution")]),
        (["random_distribution=zipf:1.2:0.5"], [("fio.bad-value", "line 5, random_distribution")]),
        (["random_distribution=pareto:2"], [("fio.bad-value", "line 5, random_distribution")]),
        (["random_distribution=zoned:50/5:30/15"], [("fio.bad-value", "line 5, random_distribution")]),
        (["random_distribution=zoned:50/5:50/15"], [("fio.bad-value", "line 5, random_distribution")]),
        (["rate_iops=100", "thinktime=5"], [("fio.conflicting-options", "line 1, [job]")]),
        (["rw=randrw", "rate_iops=100,"], [("fio.bad-value", "line 6, rate_iops")]),
        (["runtime=5fortnights"], [("fio.bad-value", "line 5, runtime")]),
        (["kb_base=1023"], [("fio.bad-value", "line 5, kb_base")]),
        (
            ["direct=2", "time_based=x"],
            [("fio.bad-value", "line 5, direct"), ("fio.bad-value", "line 6, time_based")],
        ),
        (["offset=100"], [("fio.conflicting-options", "line 1, [job]")]),
        (["filesize=1m", "offset=1m"], [("fio.conflicting-options", "line 1, [job]")]),
        (["include other.fio"], [("fio.include", "line 5, include")]),
        (["rw=randread:8", "bs=4k,8k"], [("fio.conflicting-options", "line 1, [job]")]),
        (["numjobs=2000"], [("fio.too-many-jobs", "numjobs")]),
        (["rw_sequencer=identical", "rw=randread:4"], [("fio.bad-value", "line 5, rw_sequencer")]),
    ],
)
def test_mistake_has_code_and_place(lines: list[str], expected: list[tuple[str, str]]) -> None:
    assert mistakes(JOB + "\n".join(lines)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("fio.no-job", "")]),
        ("size=1m\n", [("fio.bad-syntax", "line 1, option")]),
        ("[global]\nsize=1m\n", [("fio.no-job", "")]),
        ("[a\nsize=1m\n", [("fio.bad-syntax", "line 1, section")]),
        ("[a]\nrw=read\n", [("fio.missing-size", "line 1, [a]")]),
        ("[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\n", [("fio.missing-size", "filename")]),
        ("[a]\nsize=1m\n[b]\nsize=1m\nstonewall\nruntime=4\n", [("fio.bad-stonewall", "line 1, [a]")]),
        (
            "[a]\nread_iolog=x\nruntime=4\n[b]\nsize=1m\nstonewall\nruntime=4\n",
            [("fio.bad-stonewall", "line 1, [a]")],
        ),
    ],
)
def test_invalid_file_is_rejected(text: str, expected: list[tuple[str, str]]) -> None:
    assert mistakes(text) == expected


def test_all_mistakes_at_once() -> None:
    assert len(mistakes(JOB + "rw=trim\nbs=1\nnope=1\niodepth=x\n")) == 1
    assert len(mistakes(JOB + "rw=trim\nbs=1\niodepth=x\n")) == 3


def test_ignore_unknown_skips_options_with_a_warning() -> None:
    text = JOB + "verify=crc32c\nnope=1\nrw=randwrite\n"
    assert len(mistakes(text)) == 2
    imported = read_job_file(text, "a.fio", ignore_unknown=True)
    assert [(warning.code, warning.place, warning.value) for warning in imported.warnings] == [
        ("fio.option-skipped", "line 5, verify", "crc32c"),
        ("fio.option-skipped", "line 6, nope", "1"),
    ]
    assert "# Warning: fio.option-skipped at line 5, verify: 'crc32c'" in imported.to_yaml()


def test_every_option_is_in_the_comments() -> None:
    """The comments have every option, with its translation or with the reason why it has no effect."""
    values = {
        "rw": "randrw",
        "bssplit": "4k/100",
        "ioengine": "libaio",
        "rate_process": "poisson",
        "random_distribution": "zipf:1.1",
        "filename": "/dev/sda",
        "sync": "dsync",
        "rw_sequencer": "sequential",
        "kb_base": "1024",
        "offset": "4k",
        "offset_increment": "4k",
        "numjobs": "1",
        "nrfiles": "1",
        "bs": "4k",
        "blockalign": "4k",
        "percentage_random": "100",
        "rwmixread": "50",
        "rwmixwrite": "50",
    }
    alone = {"thinktime", "thinktime_blocks", "read_iolog", "replay_no_stall", "replay_time_scale"}
    names = sorted(options.MAPPED - alone) + sorted(options.WITHOUT_EFFECT)
    lines = [f"{name}={values.get(name, '8192')}" for name in names]
    lines = [
        line.replace("=8192", "=1")
        if line.split("=")[0] in {"direct", "buffered", "time_based", "stonewall", "norandommap"}
        else line
        for line in lines
    ]
    texts = [
        "[a]\n" + "\n".join(lines),
        JOB + "thinktime=5\nthinktime_blocks=2\n",
        JOB + "read_iolog=x\nreplay_no_stall=0\nreplay_time_scale=50\n",
    ]
    for text in texts:
        imported = read_job_file(text, "a.fio").to_yaml()
        comments = " ".join(line for line in imported.splitlines() if line.lstrip().startswith("#"))
        for line in text.splitlines():
            if "=" in line:
                assert line in comments, line


def test_options_with_unexpected_effects_are_warnings() -> None:
    def warnings(imported: ImportedWorkload) -> list[tuple[str, str]]:
        return [(warning.code, warning.place) for warning in imported.warnings]

    assert warnings(job("iodepth=16", "ioengine=psync")) == [("fio.depth-without-effect", "line 5, iodepth")]
    buffered = read_job_file("[a]\nsize=1m\n", "a.fio")
    assert warnings(buffered) == [("fio.page-cache", "direct")]
    assert buffered.warnings[0].data == {"jobs": ["a"]}
    assert warnings(job("iodepth=16")) == []
    delayed = "[global]\ndirect=1\nsize=1m\n[a]\n[b]\nstartdelay=5\n"
    assert warnings(read_job_file(delayed, "a.fio")) == [("fio.missing-window", "run.window")]
    groups = "[global]\ndirect=1\nsize=1m\nruntime=9\n[a]\n[b]\nstonewall\n"
    assert warnings(read_job_file(groups, "a.fio")) == [("fio.last-group-measured", "run.window")]


def test_fios_jesd219_example_equals_the_preset() -> None:
    """A job file with the options of fio's example, and the catalogue's entry, are the same load."""
    text = """[JESD219]
ioengine=libaio
direct=1
rw=randrw
norandommap
randrepeat=0
rwmixread=40
rwmixwrite=60
iodepth=256
numjobs=4
bssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3
blockalign=4k
random_distribution=zoned:50/5:30/15:20/80
filename=/dev/nvme0n1
group_reporting=1
"""
    imported = read_job_file(text, "jesd219.fio").workload
    preset = normalise(workload_profile.build_reference_scenario({"use": "jesd219"}))["workload"]
    translated = normalise(workload_profile.build_reference_scenario(imported))["workload"]
    preset["streams"][0]["name"] = translated["streams"][0]["name"]
    assert translated == preset


def survives_yaml(imported: ImportedWorkload) -> bool:
    """Return whether the YAML has the same workload, whatever its comments contain."""
    document = parse_document(imported.to_yaml(), "a.yaml")
    run = {"run": imported.run} if imported.run else {}
    return bool(document == {"workload": imported.workload, **run})


LINES = st.sampled_from(
    [
        *(f"{name}=" for name in sorted(options.MAPPED)),
        *sorted(options.MAPPED),
        "[a]",
        "[a\x07\u2028b]",
        "description=",
        "[global]",
        "include x",
        "rw=randrw:8",
        "size=1m",
        "filename=/dev/sda",
        "bssplit=4k/50:8k/",
        "random_distribution=zoned:50/50:50/50",
        "thinktime=5",
        "rate_iops=5,6",
        "runtime=3",
        "stonewall",
        "startdelay=1-2",
        "read_iolog=x",
        "numjobs=3",
    ]
)
VALUES = st.one_of(
    st.just(""),
    st.integers(-3, 70_000).map(str),
    st.text(max_size=6),
    st.sampled_from(["4k", "1g", "0x10", "50%"]),
)


@given(st.lists(st.tuples(LINES, VALUES).map("".join), max_size=12))
def test_any_lines_make_a_workload_or_a_clear_error(lines: list[str]) -> None:
    text = "[first]\nsize=64k\n" + "\n".join(lines)
    issues: tuple[Issue, ...] = ()
    is_valid = False
    try:
        imported = read_job_file(text, "a.fio")
        workload_profile.check_workload(imported.workload)
        is_valid = survives_yaml(imported)
    except ConfigError as error:
        issues = error.issues
    assert bool(issues) != is_valid
    assert all("\n" not in str(issue) for issue in issues)


@given(st.text(max_size=200))
def test_any_text_makes_a_workload_or_a_clear_error(text: str) -> None:
    issues: tuple[Issue, ...] = ()
    try:
        imported = read_job_file(text, "a.fio")
    except ConfigError as error:
        issues = error.issues
    else:
        assert survives_yaml(imported)
    assert issues or imported
