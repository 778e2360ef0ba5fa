"""Batches on a Ray cluster that grows while the sweep runs."""

from pathlib import Path

import pytest
import ray

from destage.sweeps.ray import executor as ray_executor
from destage.sweeps.ray.executor import RayExecutor


def test_slots_grow_with_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    processors = {"CPU": 0.0}
    monkeypatch.setattr(ray, "is_initialized", lambda: True)
    monkeypatch.setattr(ray, "cluster_resources", lambda: processors)
    monkeypatch.setattr(ray, "nodes", list)
    monkeypatch.setattr(ray_executor, "_head_address", lambda: "")
    monkeypatch.setattr(ray_executor, "RECOUNT_S", 0.0)
    executor = RayExecutor(None, tmp_path / "fragments", ())
    few = RayExecutor(16, tmp_path / "fragments", ())
    assert (executor.slots, few.slots) == (1, 1)
    processors["CPU"] = 64.0
    assert executor.collect(0) == few.collect(0) == []
    assert (executor.slots, few.slots) == (64, 16)
