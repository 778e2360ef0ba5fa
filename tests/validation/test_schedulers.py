"""The gain of disk schedulers under random reads."""

import math

import pytest
from validation.replicates import assert_equal
from validation.scenarios import SAVVIO_CYLINDERS, outstanding, savvio, scenario

from destage.engine import simulate


def _service_ms(policy: str, depth: int) -> float:
    """Mean time between completions with `depth` random 4 KB reads outstanding."""
    disk = savvio() | {"queue": {"policy": policy, "depth": 64, "age_limit": None}}
    row = simulate(scenario(outstanding(depth), disk, warm_up=2_000, window=50_000))
    rate: float = row["throughput_iops"]
    return 1e3 / rate


def test_first_come_first_served_is_flat_in_queue_depth() -> None:
    for depth in (1, 4, 16, 64):
        title = f"Savvio 10K.1 served in order, {depth} outstanding: time of one read (7.3 ms, 137/s)"
        assert_equal(title, "ms", 7.3, _service_ms("fcfs", depth), tolerance=0.01)


@pytest.mark.parametrize("depth", [4, 16, 64])
def test_c_look_seeks_over_the_gap_between_requests(depth: int) -> None:
    """With n outstanding the arm seeks over about C / n cylinders; the approximation holds within 10 %."""
    steps = SAVVIO_CYLINDERS / depth - 1
    approximation = 0.2 + 0.0258185 * math.sqrt(steps) + 4.04802e-5 * steps + 3.0 + 0.3
    title = f"Savvio 10K.1, C-LOOK, {depth} outstanding: time of one read (approximation)"
    assert_equal(title, "ms", approximation, _service_ms("c_look", depth), tolerance=0.1)


def test_c_look_and_then_shortest_positioning_gain_most() -> None:
    fcfs, c_look, sptf = (_service_ms(policy, 16) for policy in ("fcfs", "c_look", "sptf"))
    assert sptf < 0.8 * c_look < 0.8 * 0.7 * fcfs
