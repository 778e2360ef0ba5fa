"""Processors of the host against closed forms: interactions compute before an I/O of next to no time."""

import math
from typing import Any

import pytest
from validation.replicates import Row, assert_covers, each, replicate, requests
from validation.scenarios import Scenario, closed, constant, exponential, poisson, scenario, server

MANY = server(constant("1ns"), servers=64)


def _computing(arrival: Scenario, time: Scenario, cores: int, scheduling: str, **fields: Any) -> Scenario:
    """A load whose interactions compute for `time` on `cores`."""
    load = scenario(arrival, fields.pop("disk", MANY), **fields)
    load["workload"]["streams"][0]["processor_time"] = time
    return {**load, "host": {"cores": cores, "scheduling": scheduling}}


def _response_ms(row: Row) -> float:
    return float(row["host_response_mean_us"] / 1e3)


def _flow(row: Row) -> float:
    """The utilisation law: busy cores over throughput x demand."""
    return float(row["host_busy_fraction"] / (row["throughput_iops"] * row["host_demand_mean_us"] * 1e-6))


@pytest.mark.parametrize("scheduling", ["fcfs", "shared"])
def test_poisson_arrivals_at_four_cores(scheduling: str) -> None:
    """Erlang C at a = 3 on c = 4 cores: R = 15.0943 ms for S = 10 ms, queued or shared; the law U c = X D."""
    load, cores = 3.0, 4
    terms = [load**k / math.factorial(k) for k in range(cores + 1)]
    queued = terms[-1] * cores / (cores - load)
    response = 10 + queued / (sum(terms[:-1]) + queued) * 10 / (cores - load)
    assert response == pytest.approx(15.0943, abs=1e-4)

    def run(rate: float, mean: str) -> list[Row]:
        window = requests(12_000_000)
        return replicate(
            _computing(poisson(rate), exponential(mean), cores, scheduling, warm_up=5_000, window=window)
        )

    rows, slower = run(300.0, "10ms"), run(300.0, "10.3ms")
    name = f"M/M/4 processors, {scheduling}"
    for title, unit, exact, column in [
        ("time at the processors", "ms", response, _response_ms),
        ("busy", "share", load / cores, lambda row: row["host_busy_fraction"]),
        ("interactions there", "count", 0.3 * response, lambda row: row["host_queue_mean"]),
    ]:
        mutants = {"demand 3 % longer": each(slower, column)}
        assert_covers(f"{name}: {title}", unit, exact, each(rows, column), mutants=mutants)
    assert all(_flow(row) == pytest.approx(1 / cores, rel=2e-3) for row in rows)


def test_shared_processors_depend_on_the_mean_demand_only() -> None:
    """M/G/1 with processor sharing: R = S / (1 - rho), here with lognormal demands of cv 1.5."""

    def run(scheduling: str) -> list[float]:
        time = {"kind": "lognormal", "mean": "10ms", "cv": 1.5}
        window = requests(12_000_000)
        load = _computing(poisson(50.0), time, 1, scheduling, warm_up=5_000, window=window)
        return each(replicate(load), _response_ms)

    title = "M/G/1-PS, 50/s, lognormal 10 ms, cv 1.5: time at the processor"
    assert_covers(title, "ms", 20.0, run("shared"), mutants={"first come, first served": run("fcfs")})


def _repairman(users: int, think: float, service: float, cores: int) -> tuple[float, float]:
    """Throughput [1/ms] and time at the processors [ms] of users who think, by the balance of flows."""
    weights = [1.0]
    for n in range(1, users + 1):
        weights.append(weights[-1] * (users - n + 1) / think * service / min(n, cores))
    total = sum(weights)
    rate = sum(weight * min(n, cores) / service for n, weight in enumerate(weights)) / total
    return rate, sum(n * weight for n, weight in enumerate(weights)) / total / rate


@pytest.mark.parametrize("scheduling", ["fcfs", "shared"])
def test_users_and_three_cores(scheduling: str) -> None:
    """Machine repairman: 32 users who think 100 ms, 10 ms on one of three cores."""
    rate, response = _repairman(32, 100.0, 10.0, 3)

    def run(mean: str) -> list[Row]:
        arrival = closed(exponential("100ms"))
        window = requests(8_000_000)
        return replicate(
            _computing(arrival, exponential(mean), 3, scheduling, users=32, warm_up=20_000, window=window)
        )

    rows, slower = run("10ms"), run("10.3ms")
    name = f"32 users, three cores, {scheduling}"
    for title, unit, exact, column in [
        ("throughput", "1/s", rate * 1000, lambda row: row["interactions_per_s"]),
        ("time at the processors", "ms", response, _response_ms),
    ]:
        mutants = {"demand 3 % longer": each(slower, column)}
        assert_covers(f"{name}: {title}", unit, exact, each(rows, column), mutants=mutants)
    users = [row["interactions_per_s"] * (row["interaction_response_mean_us"] * 1e-6 + 0.1) for row in rows]
    assert math.fsum(users) / len(users) == pytest.approx(32, rel=3e-3)
