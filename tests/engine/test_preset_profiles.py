"""The presets: the generated load matches the source."""

from typing import Any

import pytest
from preset_figures import CRYSTAL, FILE_SERVER, JESD219, SMIX, SPC1, WEB
from scipy import stats

from destage.engine import catalog, workload_profile
from destage.engine.workload_profile import Profile

ENTRIES = {entry.name: entry for entry in catalog.entries("workloads")}


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
