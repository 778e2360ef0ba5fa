"""Profiles of generated requests, worked by hand on eight of them."""

import numpy as np
import pytest

from destage.engine.workload_profile import Profile, generate_profile
from destage.errors import ConfigError

MIB = 2**20
EIGHT = Profile(
    seconds=4.0,
    capacity=100 * MIB,
    is_open=True,
    is_whole=True,
    streams=("a", "b"),
    stream=np.array([0, 0, 0, 1, 1, 0, 1, 1]),
    source=np.array([0, 0, 1, 2, 2, 0, 2, 2]),
    time=np.array([0.0, 0.5, 0.9, 1.1, 2.0, 2.5, 3.0, 4.0]),
    op=np.array([0, 0, 0, 1, 1, 2, 1, 0]),
    offset=np.array([0, 4096, 8192, MIB, MIB + 512, 0, 2 * MIB, 5 * MIB - 4096]),
    size=np.array([4096, 4096, 4096, 512, 512, 0, 512, 4096]),
    is_forced=np.array([False, False, False, True, False, False, False, False]),
)


def test_counts() -> None:
    assert [EIGHT.count(op) for op in (0, 1, 2)] == [4, 3, 1]
    assert EIGHT.read_fraction() == pytest.approx(4 / 7)
    assert EIGHT.sizes() == {512: 3, 4096: 4}
    assert EIGHT.sizes(1) == {512: 3}


def test_rates_are_counts_over_equal_times() -> None:
    middle, reads, writes = EIGHT.rates(4)
    assert middle.tolist() == [0.5, 1.5, 2.5, 3.5]
    # Requests at 0 s fill queues and are not part of the rate.
    assert reads.tolist() == [2, 0, 0, 1]
    # A request at the end belongs to the last bin, one on an edge to the later bin.
    assert writes.tolist() == [0, 1, 1, 1]


def test_places_cover_the_touched_range() -> None:
    begin, end, counts = EIGHT.places(5)
    assert (begin, end) == (0, 5 * MIB)
    assert counts.tolist() == [3, 2, 1, 0, 1]


def test_skew_of_four_touched_extents() -> None:
    """Of seven requests, the extents get 3, 2, 1 and 1."""
    assert EIGHT.touched_bytes() == 4 * MIB
    assert EIGHT.skew((0.25, 0.5, 1.0)) == pytest.approx((3 / 7, 5 / 7, 1.0))
    assert EIGHT.skew((0.125,)) == pytest.approx((1.5 / 7,))


def test_a_request_continues_the_last_of_its_kind() -> None:
    """The second read of source 0 and the second write of source 2; the read of source 1 by its stream."""
    assert EIGHT.sequential_fraction() == pytest.approx(3 / 7)


def test_a_stream_has_its_own_requests() -> None:
    own = EIGHT.of_stream("b")
    assert [own.count(op) for op in (0, 1, 2)] == [1, 3, 0]
    assert own.seconds == 4.0


def test_flushes_alone_touch_nothing() -> None:
    flushes = EIGHT.of_stream("a")
    only = Profile(
        1.0,
        MIB,
        is_open=True,
        is_whole=True,
        streams=("a",),
        **{
            name: getattr(flushes, name)[flushes.op == 2]
            for name in ("stream", "source", "time", "op", "offset", "size", "is_forced")
        },
    )
    assert only.read_fraction() is None
    assert only.sizes() == {}
    assert only.touched_bytes() == 0
    assert only.skew((0.5,)) == (0.0,)
    assert only.sequential_fraction() == 0.0
    assert only.places(2)[:2] == (0, 0)


def stream(name: str, **arrival: object) -> dict[str, object]:
    return {
        "name": name,
        "arrival": arrival,
        "operations": {"read_fraction": 1, "size": {"kind": "constant", "value": "4KiB"}},
        "address": {"kind": "uniform"},
    }


def test_requests_are_assigned_to_their_stream() -> None:
    """Three users at 10/s, one stream of 5/s for all of them, three users at 20/s, over 100 s."""
    workload = {
        "users": 3,
        "streams": [
            stream("each", kind="poisson", rate="10/s", per_user=True),
            stream("all", kind="poisson", rate="5/s"),
            stream("more", kind="poisson", rate="20/s", per_user=True),
        ],
    }
    profile = generate_profile(workload, seconds=100)
    assert profile.is_open
    counts = [len(profile.of_stream(name).time) for name in profile.streams]
    for count, expected in zip(counts, (3000, 500, 6000), strict=True):
        assert abs(count - expected) < 4 * expected**0.5


def test_a_large_footprint_needs_a_larger_reference_device() -> None:
    workload = {"streams": [stream("a", kind="poisson", rate="100/s")]}
    workload["streams"][0]["address"] = {"kind": "uniform", "footprint": "5TB"}
    assert generate_profile(workload, seconds=1).capacity == 10**13


def test_mistakes_are_those_of_the_configuration() -> None:
    with pytest.raises(ConfigError) as caught:
        generate_profile({"streams": [{"name": "a"}]})
    assert {issue.place for issue in caught.value.issues} >= {"workload.streams.0.arrival"}


def test_times_are_those_of_the_run() -> None:
    """A stream that starts after 10 s and lasts 10 s, over its timeline."""
    workload = {
        "streams": [{**stream("a", kind="poisson", rate="100/s"), "start": {"after": "10s"}, "lasts": "10s"}]
    }
    profile = generate_profile(workload)
    assert profile.seconds == 20
    assert 10 <= profile.time.min() < profile.time.max() <= 20
    with pytest.raises(ConfigError, match="^scenario.no-requests "):
        generate_profile(workload, seconds=5)


def test_streams_of_several_arrays_run_on_one() -> None:
    streams = [{**stream(name, kind="poisson", rate="100/s"), "array": name} for name in ("data", "log")]
    assert generate_profile({"streams": streams}, seconds=2).streams == ("data", "log")
