"""The presets: every figure has a source or a mark, and the generated load matches the source."""

from collections.abc import Iterator
from typing import Any

import pytest
from scipy import stats

from destage.engine import catalog, normalise, simulate, workload_profile
from destage.engine.workload_profile import Profile
from destage.spec import quantities

ENTRIES = {entry.name: entry for entry in catalog.entries("workloads")}
EXPECTED = {
    "heavy_user",
    "call_center",
    "exchange_2003",
    "jetstress",
    "loadsim_mmb3",
    "iometer_oltp",
    "iometer_web",
    "iometer_file_server",
    "sequential",
    "sql_bench_create",
    "backup_stream",
    "tpcc_like",
    "tpch_scan",
    "spc1_like",
    "vdi",
    "jesd219",
}
CRYSTAL = {
    "crystaldiskmark_seq_q32": (32, "128KiB", "sequential"),
    "crystaldiskmark_seq_q1": (1, "1MiB", "sequential"),
    "crystaldiskmark_seq_q8": (8, "1MiB", "sequential"),
    "crystaldiskmark_random_512k": (1, "512KiB", "uniform"),
    "crystaldiskmark_random_4k_q1": (1, "4KiB", "uniform"),
    "crystaldiskmark_random_4k_q32": (32, "4KiB", "uniform"),
}
FILE_SERVER = {512: 10, 1024: 5, 2048: 5, 4096: 60, 8192: 2, 16384: 4, 32768: 4, 65536: 10}
WEB = {
    512: 22,
    1024: 15,
    2048: 8,
    4096: 23,
    8192: 15,
    16384: 2,
    32768: 6,
    65536: 7,
    131072: 1,
    524288: 1,
}
SMIX = {4096: 40, 8192: 24, 16384: 20, 32768: 8, 65536: 8}
JESD219 = {
    512: 4,
    1024: 1,
    1536: 1,
    2048: 1,
    2560: 1,
    3072: 1,
    3584: 1,
    4096: 67,
    8192: 10,
    16384: 7,
    32768: 3,
    65536: 3,
}
SPC1 = {
    "asu1_1": (0.035, 0.5),
    "asu1_2": (0.281, 0.5),
    "asu1_3": (0.070, 1.0),
    "asu1_4": (0.210, 0.5),
    "asu2_1": (0.018, 0.3),
    "asu2_2": (0.070, 0.3),
    "asu2_3": (0.035, 1.0),
    "asu3_1": (0.281, 0.0),
}
"""Share of the 50 I/Os per second and share of reads of each stream, from the generator's source."""


def sizes(table: dict[int, float], place: str = "size") -> dict[str, Any]:
    """Return the figures of a table of sizes by dotted path."""
    if len(table) == 1:
        return {f"{place}.value": quantities.render(next(iter(table)), "bytes")}
    return {
        f"{place}.options.{index}.{key}": value
        for index, (size, weight) in enumerate(table.items())
        for key, value in (("value", size), ("weight", weight))
    }


SOURCED: dict[str, dict[str, Any]] = {
    "call_center": {"users": 39},
    "heavy_user": {},
    "heavy_user_logon": {},
    "xenapp_mcs": {"streams.0.operations.read_fraction": 0.4},
    "vdi": {"streams.0.operations.size.value": 4096},
    "vdi_logon_storm": {"streams.1.operations.size.value": 4096},
    "exchange_2003": {
        "streams.0.arrival.rate": 0.75,
        "streams.0.operations.size.value": 4096,
        "streams.1.operations.read_fraction": 0.0,
        "streams.1.operations.fua_fraction": 1.0,
    },
    "jetstress": {
        "streams.0.steps.0.operations.read_fraction": 0.75,
        "streams.0.steps.0.operations.size.value": 4096,
        "streams.0.steps.1.operations.read_fraction": 0.0,
        "streams.0.steps.1.operations.fua_fraction": 1.0,
    },
    "loadsim_mmb3": {
        "streams.0.operations.size.value": 4096,
        "streams.0.address.footprint": "100MiB",
    },
    "iometer_oltp": {
        "streams.0.operations.read_fraction": 0.7,
        "streams.0.operations.size.value": 8192,
    },
    "iometer_web": {"streams.0.operations.read_fraction": 1.0},
    "iometer_file_server": {
        "streams.0.operations.read_fraction": 0.8,
        **sizes(FILE_SERVER, "streams.0.operations.size"),
    },
    "sequential": {"streams.0.operations.size.value": 65536},
    "crystaldiskmark": {
        f"streams.{index}.{key}": value
        for index, (depth, size) in enumerate([(32, "128KiB"), (32, "4KiB"), (1, "1MiB"), (1, "4KiB")])
        for key, value in (
            ("arrival.depth", depth),
            ("operations.read_fraction", 0.0),
            ("operations.size.value", size),
            ("address.footprint", "1GiB"),
        )
    },
    **{
        name: {
            "streams.0.arrival.depth": depth,
            "streams.0.operations.read_fraction": 0.0,
            "streams.0.operations.size.value": size,
            "streams.0.address.footprint": "1GiB",
        }
        for name, (depth, size, _) in CRYSTAL.items()
    },
    "jesd219": {
        "users": 4,
        "streams.0.arrival.depth": 256,
        "streams.0.operations.read_fraction": 0.4,
        "streams.0.operations.alignment": 4096,
        **sizes(JESD219, "streams.0.operations.size"),
        **{
            f"streams.0.address.zones.{index}.{key}": value
            for index, zone in enumerate(((50, 5), (30, 15), (20, 80)))
            for key, value in zip(("accesses", "size"), zone, strict=True)
        },
        "streams.0.address.placement.offset": 0,
    },
    "sql_bench_create": {
        "streams.0.arrival.think_time.value": "0.6ms",
        "streams.0.steps.0.ios": 1,
        "streams.0.steps.0.operations.read_fraction": 0.0,
        "streams.0.steps.0.operations.fua_fraction": 1.0,
        "streams.0.steps.1.ios": 2,
        "streams.0.steps.1.operations.read_fraction": 0.0,
        "streams.0.steps.1.operations.fua_fraction": 1.0,
    },
    "sql_bench_create_ufs": {
        "streams.0.arrival.ios": 12,
        "streams.0.operations.read_fraction": 0.0,
        "streams.0.operations.fua_fraction": 1.0,
    },
    "tpcc_like": {
        "streams.0.steps.0.operations.read_fraction": round(1.9 / 2.9, 4),
        "streams.0.steps.0.operations.size.value": 8192,
    },
    "tpc_e": {
        "streams.0.operations.read_fraction": round(9.7 / 10.7, 4),
        "streams.0.operations.size.value": 8192,
    },
    "tpch_scan": {
        "streams.0.mix.0.operations.read_fraction": 1.0,
        "streams.0.mix.1.operations.read_fraction": 0.0,
    },
    "spc1_like": {
        path: figure
        for index, (share, reads) in enumerate(SPC1.values())
        for path, figure in {
            f"streams.{index}.arrival.rate": round(50 * share, 6),
            f"streams.{index}.operations.read_fraction": reads,
            **sizes(SMIX if index in {2, 6, 7} else {4096: 100}, f"streams.{index}.operations.size"),
        }.items()
    },
    "backup_stream": {
        f"streams.{index}.{path}": figure
        for index in (0, 1)
        for path, figure in (("arrival.depth", 1), ("operations.read_fraction", 0.0))
    },
}
"""The figures of each preset without a mark, copied from the sources a second time."""


def figures(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and quantities of a configuration with their dotted paths."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from figures(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from figures(item, f"{path}.{index}")
    elif not isinstance(value, bool) and (not isinstance(value, str) or value[:1].isdigit()):
        yield path, value


def base(value: Any) -> float:
    """Return a figure in its base unit."""
    if not isinstance(value, str):
        return float(value)
    unit = "per_s" if value.endswith("/s") else "bytes" if value.endswith("B") else "ns"
    return float(quantities.parse(value, unit))


def test_names_are_the_expected_ones_and_unique() -> None:
    assert EXPECTED | CRYSTAL.keys() <= ENTRIES.keys()
    run = {"warm_up": "none", "window": {"requests": 1000}}
    configs = [
        normalise({**workload_profile.build_reference_scenario(dict(entry.config)), "run": run})
        for entry in ENTRIES.values()
    ]
    for config in configs:
        for stream in config["workload"]["streams"]:
            stream["name"] = ""
    assert all(one != other for at, one in enumerate(configs) for other in configs[:at])


@pytest.mark.parametrize("name", ENTRIES)
def test_every_figure_is_sourced_or_marked(name: str) -> None:
    entry = ENTRIES[name]
    # One user is the default, not a figure.
    unmarked = {
        path: base(value)
        for path, value in figures(dict(entry.config))
        if entry.mark(path) is None and (path, value) != ("users", 1)
    }
    assert unmarked == {path: base(value) for path, value in SOURCED[name].items()}


@pytest.mark.parametrize("name", ENTRIES)
def test_footprint_placement_and_locality_are_stated(name: str) -> None:
    for stream in ENTRIES[name].config["streams"]:
        for part in (stream, *stream.get("mix", ()), *stream.get("steps", ())):
            address = part.get("address")
            if address is not None:
                # A benchmark without a footprint fills the array.
                is_whole = address["kind"] in {"uniform", "zoned"} and "footprint" not in address
                assert is_whole or {"footprint", "placement"} <= address.keys()


ARRAY = {"raid": "5", "disks": 4, "disk": {"use": "u320_10k_36gb"}}


@pytest.mark.parametrize("name", ENTRIES)
def test_every_preset_can_be_simulated(name: str) -> None:
    phases = ENTRIES[name].config.get("phases")
    row = simulate(
        {
            "workload": {"use": name},
            "controller": {"use": "smart_array_5i_plus"},
            "array": ARRAY,
            "run": {"warm_up": "none", "window": {"requests": 300}},
        }
    )
    assert row["status"] == "ok"
    assert row["requests"] >= 300
    assert bool(phases) == name.endswith(("logon", "logon_storm", "crystaldiskmark"))


@pytest.fixture(scope="module")
def profile_of() -> Any:
    """Return a function that generates the requests of a preset once."""
    profiles: dict[str, Profile] = {}

    def draw(name: str) -> Profile:
        if name not in profiles:
            # Large requests are slow in a debug build, which tracks the version of every sector.
            seconds = 1.0 if name in CRYSTAL else None
            profiles[name] = workload_profile.generate_profile(dict(ENTRIES[name].config), seconds=seconds)
        return profiles[name]

    return draw


def fits_table(counts: dict[int, int], table: dict[int, float]) -> bool:
    """Return whether sizes follow a table, by a chi-square test at 1 in 1000."""
    assert counts.keys() == table.keys()
    total = sum(counts.values())
    expected = [total * share / sum(table.values()) for share in table.values()]
    return bool(stats.chisquare([counts[size] for size in table], expected).pvalue > 0.001)


def is_binomial(hits: int, total: int, share: float) -> bool:
    """Return whether a number of hits is likely for a share of a total, at 1 in 1000."""
    return bool(stats.binomtest(hits, total, share).pvalue > 0.001)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("iometer_file_server", FILE_SERVER),
        ("iometer_web", WEB),
        ("jesd219", JESD219),
        ("call_center", {4096: 50, 8192: 50}),
        ("heavy_user", {4096: 50, 8192: 50}),
    ],
)
def test_generated_sizes_equal_the_tables(profile_of: Any, name: str, table: dict[int, float]) -> None:
    assert fits_table(profile_of(name).sizes(), table)
    assert (
        not fits_table(profile_of(name).sizes(), {size: weight + 5 for size, weight in table.items()})
        or len(table) == 2
    )


@pytest.mark.parametrize("name", ["asu1_3", "asu2_3", "asu3_1"])
def test_spc1s_sequences_have_the_sizes_of_the_smix(profile_of: Any, name: str) -> None:
    assert fits_table(profile_of("spc1_like").of_stream(name).sizes(), SMIX)


def test_spc1s_streams_have_their_shares_and_reads(profile_of: Any) -> None:
    profile = profile_of("spc1_like")
    total = len(profile.time)
    for name, (share, reads) in SPC1.items():
        stream = profile.of_stream(name)
        assert is_binomial(len(stream.time), total, share), name
        if 0 < reads < 1:
            assert is_binomial(stream.count(0), len(stream.time), reads), name
        else:
            assert stream.read_fraction() == reads
    overall = sum(share * reads for share, reads in SPC1.values())
    assert overall == pytest.approx(0.4, abs=0.01)
    assert is_binomial(profile.count(0), total, overall)


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("call_center", 0.5),
        ("heavy_user", 0.3),
        ("xenapp_mcs", 0.4),
        ("vdi", 0.2),
        ("iometer_oltp", 0.7),
        ("iometer_file_server", 0.8),
        ("jesd219", 0.4),
        ("tpc_e", 0.9065),
        # Three reads and a write to the database, a write to the log.
        ("jetstress", 3 / 5),
        # As many log writes as database writes.
        ("exchange_2003", 0.7 / 1.3),
        ("loadsim_mmb3", 0.7 / 1.3),
        ("tpcc_like", 29 * 0.6552 / 30),
        ("tpch_scan", 0.97),
    ],
)
def test_reads_are_within_binomial_limits_of_the_share(profile_of: Any, name: str, reads: float) -> None:
    profile = profile_of(name)
    assert is_binomial(profile.count(0), profile.count(0) + profile.count(1), reads)


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("iometer_web", 1),
        ("sequential", 1),
        ("sql_bench_create", 0),
        ("backup_stream", 0),
        *((name, 0) for name in CRYSTAL),
    ],
)
def test_some_streams_only_read_or_only_write(profile_of: Any, name: str, reads: float) -> None:
    assert profile_of(name).read_fraction() == reads


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("vdi", 50 * 9),
        ("exchange_2003", 200 * (0.75 + 0.225)),
        ("loadsim_mmb3", 200 * (0.5 + 0.15)),
        ("spc1_like", 5 * 50),
    ],
)
def test_open_loads_have_the_stated_rate(profile_of: Any, name: str, rate: float) -> None:
    """The number of requests is likely for a Poisson process over their duration."""
    profile = profile_of(name)
    low, high = stats.poisson.interval(0.999, rate * profile.seconds)
    assert low <= len(profile.time) <= high


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("sequential", 1.0),
        ("crystaldiskmark_seq_q1", 1.0),
        ("backup_stream", 1.0),
        ("crystaldiskmark_random_4k_q1", 0.0),
        ("iometer_oltp", 0.0),
    ],
)
def test_sequential_streams_are_sequential(profile_of: Any, name: str, share: float) -> None:
    assert profile_of(name).sequential_fraction() == pytest.approx(share, abs=0.02)


def test_a_sql_bench_table_is_three_forced_writes_in_sequence(profile_of: Any) -> None:
    """One write to the data is followed by two sequential ones to the journal."""
    profile = profile_of("sql_bench_create")
    assert profile.is_forced.all()
    journal = profile.offset >= 1_000_000_000
    assert journal[: len(journal) // 3 * 3].reshape(-1, 3).tolist() == [[False, True, True]] * (
        len(journal) // 3
    )


@pytest.mark.parametrize("name", ["exchange_2003", "jetstress", "loadsim_mmb3", "tpcc_like"])
def test_all_users_append_to_one_log(profile_of: Any, name: str) -> None:
    """Each write to the log starts at the end of the previous one; the log starts at its placement."""
    profile = profile_of(name)
    offsets = profile.offset[profile.is_forced]
    assert len(set(profile.source[profile.is_forced])) > 1
    assert (offsets[1:] == offsets[:-1] + 4096).all()
    assert offsets[0] in {0, 40_000_000_000, 50_000_000_000}


def test_jesd219s_zones_get_their_accesses(profile_of: Any) -> None:
    profile = profile_of("jesd219")
    place = profile.offset / profile.capacity
    for low, high, share in ((0.0, 0.05, 0.5), (0.05, 0.2, 0.3), (0.2, 1.0, 0.2)):
        assert is_binomial(int(((place >= low) & (place < high)).sum()), len(place), share)


def test_four_fifths_of_heavy_users_load_is_not_sequential(profile_of: Any) -> None:
    """In runs of 64 KiB with requests of 6 KiB on average, ten in eleven continue; the rest is random."""
    follows = profile_of("heavy_user").sequential_fraction()
    assert follows < 0.2
