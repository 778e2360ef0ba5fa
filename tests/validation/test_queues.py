"""Open and closed queues of the abstract server against their closed forms."""

import math
from collections.abc import Mapping
from typing import Any

import pytest
from validation.mutations import UNMEASURED
from validation.replicates import (
    Row,
    assert_covers,
    assert_equal,
    each,
    mutants_of,
    replicate,
    requests,
    response_ms,
)
from validation.scenarios import (
    Scenario,
    closed,
    constant,
    exponential,
    outstanding,
    poisson,
    scenario,
    server,
)

from destage.engine import simulate_batch

SLOWER = "service 3 % longer"


def _slower(service: Scenario) -> Scenario:
    """The distribution with all its times 3 % longer."""

    def longer(value: Any) -> Any:
        for unit in ("ns", "us", "ms"):
            if isinstance(value, str) and value.endswith(unit):
                scale = {"ns": 1, "us": 1_000, "ms": 1_000_000}[unit]
                return round(float(value.removesuffix(unit)) * scale * 1.03)
        return value

    return {key: longer(value) for key, value in service.items()}


# (name, arrivals [1/s], service, its mean [ms], its second moment [ms^2])
SINGLE = [
    ("M/M/1, 80/s, 8 ms", 80.0, exponential("8ms"), 8.0, 128.0),
    ("M/D/1, 90/s, 8.3333 ms", 90.0, constant("8333333ns"), 8.333333, 8.333333**2),
    ("M/G/1, 100/s, uniform 0-12 ms", 100.0, {"kind": "uniform", "low": "0ms", "high": "12ms"}, 6.0, 48.0),
    (
        "M/G/1, 50/s, lognormal 10 ms, cv 1.5",
        50.0,
        {"kind": "lognormal", "mean": "10ms", "cv": 1.5},
        10.0,
        100 * (1 + 1.5**2),
    ),
]


def _rate(row: Row) -> float:
    return float(row["throughput_iops"])


def _open(rate: float, service: Scenario, *, servers: int = 1, count: int = 8_000_000) -> Scenario:
    return scenario(poisson(rate), server(service, servers=servers), warm_up=5_000, window=requests(count))


@pytest.mark.parametrize(
    ("name", "rate", "service", "mean", "second"), SINGLE, ids=[row[0] for row in SINGLE]
)
def test_response_time_of_a_single_server(
    name: str, rate: float, service: Scenario, mean: float, second: float
) -> None:
    """Pollaczek and Khinchine: R = S + rate E[S^2] / (2 (1 - rate S)); L = rate R; busy = rate S."""
    per_ms = rate / 1000
    response = mean + per_ms * second / (2 * (1 - per_ms * mean))
    count = 24_000_000 if "lognormal" in name else 12_000_000
    load = _open(rate, service, count=count)
    rows, slower = replicate(load), replicate(_open(rate, _slower(service), count=count // 4))
    for title, unit, exact, column in [
        ("response time", "ms", response, response_ms),
        ("in the system", "I/Os", per_ms * response, lambda row: row["disk_queue_mean"]),
        ("busy", "share", per_ms * mean, lambda row: row["disk_busy_mean_fraction"]),
    ]:
        mutants = {SLOWER: each(slower, column)}
        assert_covers(f"{name}: {title}", unit, exact, each(rows, column), mutants=mutants)
    mutants = mutants_of(load, UNMEASURED, _rate)
    assert_covers(f"{name}: throughput", "1/s", rate, each(rows, _rate), mutants=mutants)


def test_published_figures_of_single_servers() -> None:
    """The formulas give the figures that the literature prints."""
    figures: dict[str, float] = {}
    for name, rate, _, mean, second in SINGLE:
        per_ms = rate / 1000
        figures[name[:5]] = figures.get(name[:5], per_ms * second / (2 * (1 - per_ms * mean)))
    assert figures["M/M/1"] + 8 == pytest.approx(22.2222, abs=1e-4)
    assert figures["M/D/1"] == pytest.approx(12.5, abs=1e-4)
    assert figures["M/G/1"] == pytest.approx(6.0, abs=1e-12)


def test_response_time_of_four_servers() -> None:
    """Erlang C: at a = 3 on c = 4 servers, C = 0.50943, W = C S / (c - a), R = 15.0943 ms for S = 10 ms."""
    load, servers = 3.0, 4
    terms = [load**k / math.factorial(k) for k in range(servers + 1)]
    queued = terms[-1] * servers / (servers - load)
    waiting = queued / (sum(terms[:-1]) + queued)
    assert waiting == pytest.approx(0.50943, abs=5e-6)
    offered = _open(300.0, exponential("10ms"), servers=servers)
    rows = replicate(offered)
    slower = replicate(_open(300.0, exponential("10.3ms"), servers=servers, count=2_000_000))
    name = "M/M/4, 300/s, 10 ms"
    response = 10 + waiting * 10 / (servers - load)
    for title, unit, exact, column in [
        ("response time", "ms", response, response_ms),
        ("busy", "share", load / servers, lambda row: row["disk_busy_mean_fraction"]),
    ]:
        mutants = {SLOWER: each(slower, column)}
        assert_covers(f"{name}: {title}", unit, exact, each(rows, column), mutants=mutants)
    mutants = mutants_of(offered, UNMEASURED, _rate)
    assert_covers(f"{name}: throughput", "1/s", 300, each(rows, _rate), mutants=mutants)


def _users(
    count: int, *, think: Scenario, service: Scenario, total: int = 4_000_000, **fields: Any
) -> Scenario:
    return scenario(
        closed(think), server(service), users=count, warm_up=5_000, window=requests(total), **fields
    )


def _mean_values(users: int, demands: list[float], think: float) -> tuple[float, float]:
    """Throughput [1/ms] and response time [ms] of users who think and exponential servers, by exact MVA."""
    queues = [0.0] * len(demands)
    throughput = response = 0.0
    for count in range(1, users + 1):
        times = [demand * (1 + queue) for demand, queue in zip(demands, queues, strict=True)]
        response = sum(times)
        throughput = count / (response + think)
        queues = [throughput * time for time in times]
    return throughput, response


def _check_closed(
    name: str, users: int, exact: tuple[float, float], load: Scenario, slower: Mapping[str, Scenario]
) -> None:
    """Throughput, response time and their law N = X (R + Z) for a think time of 1 s."""
    rows = replicate(load)
    dropped = {change: replicate(load, mutation=mutation) for change, mutation in UNMEASURED.items()}

    def law(row: Row) -> float:
        return float(row["throughput_iops"] * (row["response_mean_us"] * 1e-6 + 1.0))

    def busy(row: Row) -> float:
        return float(row["disk_busy_mean_fraction"] / row["throughput_iops"] / 0.010)

    for title, unit, value, column in [
        ("throughput", "1/s", exact[0] * 1000, _rate),
        ("N = X (R + Z)", "users", users, law),
        ("busy / (X S), the utilisation law", "ratio", 1.0, busy),
    ]:
        mutants = {change: each(wrong, column) for change, wrong in dropped.items()}
        assert_covers(f"{name}: {title}", unit, value, each(rows, column), mutants=mutants)
    mutants = {change: each(replicate(wrong), response_ms) for change, wrong in slower.items()}
    assert_covers(f"{name}: response time", "ms", exact[1], each(rows, response_ms), mutants=mutants)


@pytest.mark.parametrize(
    ("users", "rate", "response"), [(1, 1000 / 1010, 10.0), (50, 49.0695, 18.9622), (100, 92.4300, 81.9003)]
)
def test_machine_repairman(users: int, rate: float, response: float) -> None:
    """Users who think 1 s in the mean, one exponential server of 10 ms: mean value analysis is exact."""
    exact = _mean_values(users, [10.0], 1000.0)
    assert exact[0] * 1000 == pytest.approx(rate, rel=1e-4)
    assert exact[1] == pytest.approx(response, rel=1e-4)
    total = 16_000_000 if users == 100 else 4_000_000
    load = _users(users, think=exponential("1s"), service=exponential("10ms"), total=total)
    slower = _users(users, think=exponential("1s"), service=exponential("10.3ms"), total=total // 2)
    name = f"{users} users, think time 1 s, service 10 ms"
    _check_closed(name, users, exact, load, {SLOWER: slower})


@pytest.mark.parametrize(
    ("users", "rate", "response"), [(1, 0.9881, 12.0), (10, 9.8717, 13.0), (50, 48.9649, 21.1392)]
)
def test_processor_and_disk(users: int, rate: float, response: float) -> None:
    """Think time 1 s, processor 2 ms, disk 10 ms, all exponential: mean value analysis is exact.

    The processor is the firmware, whose times vary exponentially here.
    """
    exact = _mean_values(users, [2.0, 10.0], 1000.0)
    assert exact[0] * 1000 == pytest.approx(rate, rel=1e-4)
    assert exact[1] == pytest.approx(response, rel=5e-3 if users == 10 else 1e-4)

    def run(command_time: str, service: str, total: int) -> Scenario:
        firmware = {"command_time": command_time, "spread": "exponential"}
        controller = {"firmware": firmware}
        return _users(
            users, think=exponential("1s"), service=exponential(service), total=total, controller=controller
        )

    total = 8_000_000
    mutants = {
        "disk 3 % slower": run("2ms", "10.3ms", total // 2),
        "processor 20 % slower": run("2.4ms", "10ms", total // 2),
    }
    name = f"{users} users, processor 2 ms, disk 10 ms"
    _check_closed(name, users, exact, run("2ms", "10ms", total), mutants)


def test_interactions_of_several_ios_keep_the_response_time_law() -> None:
    """N users, interactions of k serial I/Os: N = X_interactions (R_interaction + Z)."""

    def run(think: str) -> list[float]:
        rows = replicate(
            scenario(
                closed(exponential(think), ios=5, order="serial"),
                server(exponential("5ms")),
                users=20,
                warm_up=5_000,
                window=requests(10_000_000),
            )
        )
        return [
            row["interactions_per_s"] * (row["interaction_response_mean_us"] * 1e-6 + 1.0) for row in rows
        ]

    title = "20 users, interactions of 5 serial I/Os: N = X (R + Z)"
    assert_covers(title, "users", 20, run("1s"), mutants={"think time 3 % longer": run("1.03s")})


def test_parallel_ios_of_one_user_take_their_longest_time() -> None:
    """5 I/Os at once on 5 free exponential servers: the mean of the greatest is S (1 + 1/2 + .. + 1/5)."""

    def run(mean: str) -> list[float]:
        rows = replicate(
            scenario(
                closed(exponential("50ms"), ios=5, order="parallel"),
                server(exponential(mean), servers=5),
                warm_up=1_000,
                window=requests(2_000_000),
            )
        )
        return [row["interaction_response_mean_us"] / 1e3 for row in rows]

    exact = 10 * sum(1 / k for k in range(1, 6))
    title = "5 parallel I/Os on 5 exponential servers: interaction"
    assert_covers(title, "ms", exact, run("10ms"), mutants={SLOWER: run("10.3ms")})


@pytest.mark.parametrize(("depth", "servers"), [(1, 1), (16, 1), (3, 8), (32, 8)])
def test_fixed_outstanding(depth: int, servers: int) -> None:
    """With d I/Os on c servers of constant time S: X = min(d, c) / S and R = d / X."""

    def run(service: str) -> Row:
        disk = server(constant(service), servers=servers)
        (row,) = replicate(scenario(outstanding(depth), disk, warm_up=1_000, window=20_000), 1)
        return row

    row, slower = run("5ms"), run("5.15ms")
    rate = min(depth, servers) / 0.005
    name = f"{depth} outstanding on {servers} servers of 5 ms"
    assert_equal(
        f"{name}: throughput",
        "1/s",
        rate,
        row["throughput_iops"],
        tolerance=2e-3,
        mutants={SLOWER: slower["throughput_iops"]},
    )
    assert_equal(
        f"{name}: response time",
        "ms",
        depth / rate * 1e3,
        response_ms(row),
        tolerance=2e-3,
        mutants={SLOWER: response_ms(slower)},
    )


# Arrivals, users, mean service [ms], mean response time [ms].
COVERED = {
    "M/M/1 at half load": (poisson(50.0), 1, 10.0, 20.0),
    "10 users, think time 1 s, service 50 ms": (
        closed(exponential("1s")),
        10,
        50.0,
        _mean_values(10, [50.0], 1000.0)[1],
    ),
}


@pytest.mark.parametrize("name", list(COVERED))
def test_intervals_have_their_nominal_coverage(name: str) -> None:
    """Over 400 root seeds the run's own 95 % interval of the mean response time covers it in 93 to 97 %."""
    arrival, users, service, exact = COVERED[name]
    count = 20_000
    run = {"warm_up": {"requests": 500}, "window": {"requests": count}}

    def share(service: float) -> float:
        base = scenario(arrival, server(exponential(f"{service}ms")), users=users)
        table = simulate_batch([{**base, "run": {**run, "seed": seed}} for seed in range(1, 401)])
        rows = table.to_pylist()
        assert len({row["response_mean_us"] for row in rows[:50]}) == 50, "seeds are used"
        off = [abs(response_ms(row) - exact) for row in rows]
        widths = [row["response_mean_half_width_us"] / 1e3 for row in rows]
        return sum(one <= width for one, width in zip(off, widths, strict=True)) / len(rows)

    assert_equal(
        f"{name}: 400 runs of {count} I/Os whose own 95 % interval covers {exact:.6g} ms",
        "share",
        0.95,
        share(service),
        tolerance=0.0211,
        mutants={SLOWER: share(1.03 * service)},
    )
