"""Batches on a Ray cluster that grows while the sweep runs, and what it asks for."""

from pathlib import Path

import pytest
import ray

from destage.sweeps.ray import executor as ray_executor
from destage.sweeps.ray.executor import RayExecutor
from destage.sweeps.ray.ray_status import RayStatus


class Cluster:
    """Stands for Ray's status and its autoscaler."""

    def __init__(self) -> None:
        self.status: RayStatus | None = RayStatus(0, 0)
        self.asked: list[int] = []

    def read(self, _: str) -> RayStatus | None:
        return self.status

    def request(self, _: str, processors: int) -> None:
        self.asked.append(processors)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    cluster = Cluster()
    monkeypatch.setattr(ray, "is_initialized", lambda: True)
    monkeypatch.setattr(ray, "nodes", list)
    monkeypatch.setattr(ray_executor, "_head_address", lambda: "")
    monkeypatch.setattr(ray_executor, "LOOK_S", 0.0)
    monkeypatch.setattr(ray_executor, "read_status", cluster.read)
    monkeypatch.setattr(ray_executor, "request_processors", cluster.request)
    return cluster


def test_slots_grow_with_the_cluster(tmp_path: Path, cluster: Cluster) -> None:
    executor = RayExecutor(None, tmp_path / "fragments", ())
    few = RayExecutor(16, tmp_path / "fragments", ())
    assert (executor.slots, few.slots) == (1, 1)
    cluster.status = RayStatus(64, 64)
    assert executor.collect(0) == few.collect(0) == []
    assert (executor.slots, few.slots) == (64, 16)
    cluster.status = None
    assert executor.collect(0) == []
    assert executor.slots == 64


@pytest.mark.parametrize(
    ("left_s", "most", "asked"),
    [
        (48_000.0, None, 1600),  # a processor per 30 s of work
        (48_000.0, 200, 200),
        (480.0, None, None),  # the 16 that it has are enough
        (0.0, None, None),
    ],
)
def test_one_request_has_all_that_the_plan_can_use(
    tmp_path: Path,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    left_s: float,
    most: int | None,
    asked: int | None,
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:6379")
    cluster.status = RayStatus(16, 16)
    executor = RayExecutor(most, tmp_path / "fragments", ())
    executor.left_s = left_s
    for _ in range(3):
        executor.collect(0)
    assert cluster.asked == ([] if asked is None else [asked])
    executor.close()
    assert cluster.asked == ([] if asked is None else [asked, 0])


def test_processors_of_others_are_asked_for_too(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray compares a request with the whole cluster, used or not."""
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:6379")
    cluster.status = RayStatus(16, 4)
    executor = RayExecutor(None, tmp_path / "fragments", ())
    executor.left_s = 3000.0
    executor.collect(0)
    assert cluster.asked == [112]


def test_a_cluster_of_this_machine_is_asked_for_nothing(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    executor = RayExecutor(None, tmp_path / "fragments", ())
    executor.left_s = 48_000.0
    executor.collect(0)
    executor.close()
    assert cluster.asked == []


def test_a_plan_that_is_handed_out_withdraws_its_request(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:6379")
    executor = RayExecutor(None, tmp_path / "fragments", ())
    executor.left_s = 300.0
    executor.collect(0)
    executor.left_s = 0.0  # the plan is handed out, or the session ends early
    executor.collect(0)
    executor.close()
    assert cluster.asked == [10, 0]
