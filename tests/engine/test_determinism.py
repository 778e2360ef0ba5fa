"""The same configuration and seed give the same row, independently of other runs."""

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from small_scenarios import Scenario, constant_server, stream, users

from destage.engine import simulate, simulate_batch


def _serialise(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.combine_chunks().to_batches():
            writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


BATCH = [
    users(),
    users(raid="10", disks=4),
    users(count=21),
    users(seed=8),
    users(replicate=1),
    users(raid="6", disks=6, warm_up="auto", window="auto", max_requests=60_000),
]


def test_the_same_batch_gives_the_same_bytes() -> None:
    assert _serialise(simulate_batch(BATCH)) == _serialise(simulate_batch(BATCH))


def test_a_run_is_the_same_alone_as_in_a_batch() -> None:
    together = simulate_batch(BATCH).to_pylist()
    assert together == [simulate(scenario) for scenario in BATCH]


def test_the_order_of_a_batch_does_not_matter() -> None:
    assert simulate_batch(BATCH[::-1]).to_pylist() == simulate_batch(BATCH).to_pylist()[::-1]


def test_concurrent_runs_are_independent() -> None:
    expected = simulate_batch(BATCH).to_pylist()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: simulate_batch(BATCH).to_pylist(), range(6)))
    assert found == [expected] * 6


def test_seed_replicate_and_users_matter() -> None:
    means = [row["response_mean_us"] for row in simulate_batch(BATCH).to_pylist()]
    assert len(set(means)) == len(means)


def _two_arrays(*, second_rate: float, second: Scenario, users_of_second: int = 1) -> Scenario:
    """Return two arrays whose streams share only a controller without costs."""
    return {
        "workload": {
            "users": users_of_second,
            "streams": [
                stream("first", {"kind": "poisson", "rate": 90.0}, array="one"),
                stream(
                    "second",
                    {"kind": "poisson", "rate": second_rate, "per_user": True},
                    array="two",
                    read_fraction=0.2,
                ),
            ],
        },
        "arrays": [
            {
                "name": "one",
                "raid": "0",
                "disks": 1,
                "disk": {
                    "kind": "server",
                    "service": {"kind": "exponential", "mean": "8ms"},
                    "capacity": "2GB",
                },
            },
            {"name": "two", **second},
        ],
        "run": {"warm_up": "none", "window": {"duration": "200s"}},
    }


def test_load_on_one_array_changes_no_draws_of_another() -> None:
    """Common random numbers: arrivals, operations, addresses and services of the first array stay."""
    one = {"raid": "0", "disks": 1, "disk": constant_server("1ms")}
    six = {"raid": "6", "disks": 6, "disk": constant_server("2ms", servers=2)}
    rows = simulate_batch(
        [
            _two_arrays(second_rate=10.0, second=one),
            _two_arrays(second_rate=70.0, second=one),
            _two_arrays(second_rate=10.0, second=six),
            _two_arrays(second_rate=10.0, second=six, users_of_second=9),
        ]
    ).to_pylist()
    first = {
        (row["array_requests"][0], row["array_response_mean_us"][0], row["array_response_p95_us"][0])
        for row in rows
    }
    assert len(first) == 1
    assert len({row["array_requests"][1] for row in rows}) > 2


def test_a_further_user_changes_no_other_user() -> None:
    """On a device without queueing, each further user adds only its own requests."""

    def counts(users_in_all: int) -> tuple[int, int, int]:
        arrival = {"kind": "closed", "think_time": {"kind": "exponential", "mean": "1s"}, "ios": 3}
        row = simulate(
            {
                "workload": {"users": users_in_all, "streams": [stream("users", arrival)]},
                "array": {"raid": "0", "disks": 1, "disk": constant_server("1ms", servers=1000)},
                "run": {"warm_up": "none", "window": {"duration": "100s"}},
            }
        )
        return row["requests"], row["reads"], row["interactions"]

    def difference(more: int, fewer: int) -> list[int]:
        return [one - other for one, other in zip(counts(more), counts(fewer), strict=True)]

    # The eleventh user alone: about 100 s / (1 s + 3 ms) interactions of three.
    requests, reads, interactions = difference(11, 10)
    assert abs(interactions - 99.7) < 40
    assert 3 * interactions <= requests <= 3 * interactions + 3
    assert 0.5 < reads / requests < 0.85
    # The eleventh user has the same requests with any number of later users.
    both = difference(12, 10)
    assert [one + other for one, other in zip(difference(12, 11), difference(11, 10), strict=True)] == both


def test_the_policy_of_the_disks_changes_no_request() -> None:
    """Open arrivals: the reads and writes are the same on any disk."""

    def counts(**array: object) -> tuple[int, int]:
        row = simulate(
            {
                "workload": {"streams": [stream("load", {"kind": "poisson", "rate": 200.0})]},
                "array": {"raid": "10", "disks": 4, "disk": constant_server("1us"), **array},
                "run": {"warm_up": "none", "window": {"requests": 20_000}},
            }
        )
        return row["reads"], row["writes"]

    plain = counts()
    assert counts(raid="5", disks=5, parity_update="rmw") == plain
    assert counts(stripe_unit="16KiB") == plain
    assert counts(disk=constant_server("2us", servers=4)) == plain
