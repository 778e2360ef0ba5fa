"""fio import: each option worked by hand."""

from typing import Any

import pytest
from fio_jobs import job, read_job_file, stream

CONTIGUOUS = {"placement": {"kind": "contiguous", "offset": "0B"}}
FILE = {"footprint": "1GiB", **CONTIGUOUS}
BLOCK = {"size": {"kind": "constant", "value": "4KiB"}}
SEQUENTIAL = {"kind": "sequential", **FILE}
UNIFORM = {"kind": "uniform", **FILE}
MAPPED = {**UNIFORM, "sampling": "without_replacement"}
CYCLIC = {**UNIFORM, "sampling": "cyclic"}


def choice(*options: tuple[str, float]) -> dict[str, Any]:
    return {"kind": "choice", "options": [{"value": value, "weight": weight} for value, weight in options]}


@pytest.mark.parametrize(
    ("lines", "operations", "address"),
    [
        (["rw=read"], {"read_fraction": 1.0, **BLOCK}, SEQUENTIAL),
        ([], {"read_fraction": 1.0, **BLOCK}, SEQUENTIAL),
        (["rw=write"], {"read_fraction": 0.0, **BLOCK}, SEQUENTIAL),
        (["rw=randread"], {"read_fraction": 1.0, **BLOCK}, MAPPED),
        (["readwrite=randwrite"], {"read_fraction": 0.0, **BLOCK}, MAPPED),
        (["rw=randrw"], {"read_fraction": 0.5, **BLOCK}, MAPPED),
        (["rw=randrw", "rwmixread=70"], {"read_fraction": 0.7, **BLOCK}, MAPPED),
        (["rw=randrw", "rwmixwrite=70"], {"read_fraction": 0.3, **BLOCK}, MAPPED),
        # The later of the two holds.
        (["rw=randrw", "rwmixread=70", "rwmixwrite=60"], {"read_fraction": 0.4, **BLOCK}, MAPPED),
        (["rw=randrw", "rwmixwrite=60", "rwmixread=70"], {"read_fraction": 0.7, **BLOCK}, MAPPED),
        # The mix is that of mixed jobs only.
        (["rw=randread", "rwmixread=70"], {"read_fraction": 1.0, **BLOCK}, MAPPED),
        (["rw=randread:8"], {"read_fraction": 1.0, **BLOCK}, {"kind": "sequential", "run": "32KiB", **FILE}),
        (
            ["rw=read:4k"],
            {"read_fraction": 1.0, **BLOCK},
            {"kind": "strided_zones", "zone": "4KiB", "skip": "4KiB", **FILE},
        ),
        (
            ["rw=randread", "percentage_random=30"],
            {"read_fraction": 1.0, **BLOCK},
            {"kind": "sequential", "jump_fraction": 0.3, **FILE},
        ),
        (["rw=randread", "percentage_random=0"], {"read_fraction": 1.0, **BLOCK}, SEQUENTIAL),
        (
            ["rw=randread", "random_distribution=zipf:1.2"],
            {"read_fraction": 1.0, **BLOCK},
            {"kind": "zipf", "exponent": 1.2, "approximate": True, "block": "4KiB", **FILE},
        ),
        (
            ["rw=randread", "bssplit=4k/100", "blockalign=512", "random_distribution=zipf:0.8"],
            {"read_fraction": 1.0, **BLOCK, "alignment": "512B"},
            {
                "kind": "zipf",
                "exponent": 0.8,
                "approximate": True,
                "block": "512B",
                **FILE,
                "footprint": "128MiB",
            },
        ),
        # Ranks are blocks of the smallest size; the blocks are scattered, so the centre has no effect.
        (
            ["rw=randread", "bssplit=4k/50:64k/50", "random_distribution=zipf:1.2:0.5"],
            {"read_fraction": 1.0, "size": choice(("4KiB", 50), ("64KiB", 50)), "alignment": "4KiB"},
            {"kind": "zipf", "exponent": 1.2, "approximate": True, "block": "4KiB", **FILE},
        ),
        (
            ["rw=randread", "random_distribution=normal:20"],
            {"read_fraction": 1.0, **BLOCK},
            {"kind": "normal", "width": 0.2, "block": "4KiB", **FILE},
        ),
        (
            ["rw=randread", "random_distribution=normal"],
            {"read_fraction": 1.0, **BLOCK},
            {"kind": "normal", "block": "4KiB", **FILE},
        ),
        (["rw=randread", "norandommap"], {"read_fraction": 1.0, **BLOCK}, UNIFORM),
        (["rw=randread", "random_generator=tausworthe64"], {"read_fraction": 1.0, **BLOCK}, MAPPED),
        (["rw=randread", "random_generator=lfsr"], {"read_fraction": 1.0, **BLOCK}, CYCLIC),
        (["rw=randread", "random_generator=lfsr", "norandommap"], {"read_fraction": 1.0, **BLOCK}, CYCLIC),
        # fio restarts its random numbers when it loops, unless they have a seed or time decides.
        (["rw=randread", "loops=3"], {"read_fraction": 1.0, **BLOCK}, CYCLIC),
        (["rw=randread", "io_size=3g"], {"read_fraction": 1.0, **BLOCK}, CYCLIC),
        (["rw=randread", "loops=3", "randrepeat=0"], {"read_fraction": 1.0, **BLOCK}, MAPPED),
        (["rw=randread", "loops=3", "randseed=9"], {"read_fraction": 1.0, **BLOCK}, MAPPED),
        (["rw=randread", "loops=3", "runtime=9", "time_based"], {"read_fraction": 1.0, **BLOCK}, MAPPED),
        (
            ["rw=randrw", "bs=8k,64k"],
            {
                "read_fraction": 0.5,
                "size": {"kind": "constant", "value": "8KiB"},
                "write_size": {"kind": "constant", "value": "64KiB"},
            },
            UNIFORM,
        ),
        (
            ["rw=read", "zonemode=strided", "zonesize=1m", "zonerange=2m", "zoneskip=6m"],
            {"read_fraction": 1.0, **BLOCK},
            {"kind": "strided_zones", "zone": "2MiB", "skip": "6MiB", "accessed": "1MiB", **FILE},
        ),
        (
            ["rw=randread", "zonemode=strided", "zonesize=1m"],
            {"read_fraction": 1.0, **BLOCK},
            {"kind": "strided_zones", "zone": "1MiB", "sampling": "without_replacement", **FILE},
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
                **CONTIGUOUS,
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
            ["bssplit=4k/50:8k/50,4k/90:8k/10"],
            {
                "size": choice(("4KiB", 50), ("8KiB", 50)),
                "write_size": choice(("4KiB", 90), ("8KiB", 10)),
                "alignment": "4KiB",
            },
        ),
        (
            ["bsrange=4k-64k"],
            {"size": {"kind": "uniform", "min": "4KiB", "max": "64KiB"}, "alignment": "4KiB"},
        ),
        # Of 16 KiB, which is no multiple, the sizes from 15 KiB to 16 KiB have the rest.
        (
            ["bsrange=6k-16k"],
            {"size": choice(("6KiB", 37.5), ("12KiB", 37.5), ("16KiB", 25)), "alignment": "6KiB"},
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
        (["rw=randwrite", "rate=10m", "bs=64k"], {"kind": "constant", "rate": "160/s"}),
        (["rate=1m", "bssplit=4k/50:12k/50"], {"kind": "constant", "rate": "128/s"}),
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


def test_poisson_reads_and_writes_make_one_process() -> None:
    imported = stream("rw=randrw", "rwmixread=50", "rate_iops=300,100", "rate_process=poisson")
    assert imported["arrival"] == {"kind": "poisson", "rate": "400/s"}
    assert imported["operations"]["read_fraction"] == 0.75


def test_a_rate_in_bytes_is_that_of_each_size() -> None:
    read, write = job("rw=randrw", "rate=1m,512k", "bs=4k,64k").workload["streams"]
    assert (read["arrival"]["rate"], write["arrival"]["rate"]) == ("256/s", "8/s")


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


def test_reads_and_writes_of_different_units_are_a_mixture() -> None:
    """Reads are at multiples of their smallest size, and writes at multiples of theirs."""
    imported = stream("rw=randrw", "bssplit=2k/50:4k/50,4k/90:8k/10", "norandommap")
    reads, writes = (part["operations"] for part in imported["mix"])
    assert reads == {"read_fraction": 1.0, "size": choice(("2KiB", 50), ("4KiB", 50)), "alignment": "2KiB"}
    assert writes == {"read_fraction": 0.0, "size": choice(("4KiB", 90), ("8KiB", 10)), "alignment": "4KiB"}
    assert [part["address"] for part in imported["mix"]] == [UNIFORM, UNIFORM]


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
