"""What a sweep asks Ray's autoscaler for: all at once, less if nothing comes, and nothing in the end."""

import pytest
from ray.autoscaler.v2.schema import (
    ClusterStatus,
    NodeInfo,
    NodeUsage,
    RayTaskActorDemand,
    ResourceDemandSummary,
    ResourceRequestByCount,
    ResourceUsage,
)

from destage.sweeps.ray import demand as ray_demand
from destage.sweeps.ray.demand import PATIENCE_S, RayDemand
from destage.sweeps.ray.ray_status import RayStatus, parse_status


class Clock:
    """The time, set by a test."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(ray_demand, "time", clock)
    return clock


def test_growing_to_a_hundred_nodes_is_one_request(clock: Clock) -> None:
    asked: list[int] = []
    demand = RayDemand(asked.append)
    for had in range(0, 1601, 16):
        demand.update(1600, had, 0)
        clock.now += PATIENCE_S - 1
    assert asked == [1600, 0]


def test_a_request_is_renewed_when_it_changes_by_much(clock: Clock) -> None:
    asked: list[int] = []
    demand = RayDemand(asked.append)
    for wanted in (1000, 990, 760, 700, 4, 4):
        demand.update(wanted, 16, 0)
    assert asked == [1000, 700, 0]
    assert clock.now == 0.0
    demand.withdraw()
    assert asked == [1000, 700, 0]


def test_a_request_is_halved_until_the_cluster_grows(clock: Clock) -> None:
    """Ray's second autoscaler ignores a request that exceeds what is allowed, here 200 of 1,600."""
    asked: list[int] = []
    demand = RayDemand(asked.append)
    had = 0
    for _ in range(40):
        demand.update(1600, had, 0)
        if asked[-1] <= 200:
            had = max(had, asked[-1])
        clock.now += PATIENCE_S
    assert asked[:4] == [1600, 800, 400, 200]
    assert had == 200
    # The limit may be raised later: the whole is asked for again and again.
    assert 1600 in asked[10:]


def test_a_small_part_is_asked_for_again_as_a_whole(clock: Clock) -> None:
    asked: list[int] = []
    demand = RayDemand(asked.append)
    for _ in range(5):
        demand.update(5, 2, 10)
        clock.now += PATIENCE_S
    assert asked == [15, 13, 15, 13, 15]


def _node(name: str, status: str, used: float, total: float) -> NodeInfo:
    usage = NodeUsage([ResourceUsage("CPU", total, used), ResourceUsage("memory", 1e9, 0.0)], 0)
    return NodeInfo("", "worker", name, "10.0.0.1", status, name, usage)


def test_the_status_leaves_out_drained_nodes_and_other_demands() -> None:
    pending = [
        ({"CPU": 1.0}, 5),
        ({"CPU": 8.0}, 1),
        ({"CPU": 64.0}, 7),
        ({"GPU": 1.0, "CPU": 1.0}, 9),
        ({}, 3),
    ]
    status = ClusterStatus(
        active_nodes=[_node("a", "RUNNING", 5.5, 16.0), _node("b", "DRAINING", 1.0, 16.0)],
        idle_nodes=[_node("c", "IDLE", 0.0, 4.0)],
        failed_nodes=[_node("d", "DEAD", 0.0, 16.0)],
        resource_demands=ResourceDemandSummary(
            ray_task_actor_demand=[
                RayTaskActorDemand([ResourceRequestByCount(bundle, count)]) for bundle, count in pending
            ]
        ),
    )
    assert parse_status(status) == RayStatus(20, 14, 6, frozenset({"b"}))
    assert parse_status(ClusterStatus()) == RayStatus(0, 0)
