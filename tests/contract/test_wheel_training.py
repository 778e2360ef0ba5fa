"""The engine of a release is trained with scenarios that are up to date and run."""

import runpy
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from replacement_policies import POLICIES

from destage.engine import _engine

WHEEL = Path(__file__).parents[2] / "scripts" / "wheel"
SCENARIOS = (WHEEL / "scenarios.jsonl").read_text(encoding="utf-8").splitlines()


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(WHEEL))
    return runpy.run_path(str(WHEEL / name))


def test_the_file_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make training` regenerates it."""
    assert load("generate.py", monkeypatch)["scenarios"]() == SCENARIOS


def test_every_scenario_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that fails trains nothing."""
    recorded = load("train.py", monkeypatch)["RECORDED"]
    trace = _engine.record_requests(SCENARIOS[0], {})
    batch, _, ended = _engine.simulate_batch(SCENARIOS, {recorded: trace})
    rows = pa.record_batch(batch).to_pylist()
    assert ended is None
    assert [row["error"] for row in rows if row["status"] == "failed"] == []
    assert len(rows) > 20


def test_the_engine_of_a_wheel_is_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A wheel has the engine's stub beside it."""
    wheel = tmp_path / "destage.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(_engine.__file__, "destage/engine/_engine.abi3.so")
        archive.writestr("destage/engine/_engine.pyi", "")
    engine = load("train.py", monkeypatch)["load_engine"](wheel, tmp_path)
    assert engine.schema() == _engine.schema()


def test_every_replacement_policy_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[str] = []

    class Engine:
        """Records the policies, and trains nothing else."""

        schema = staticmethod(_engine.schema)
        record_requests = miss_ratio_curves = staticmethod(lambda *_, **__: None)
        simulate_batch = staticmethod(lambda *_: (None, None, None))

        @staticmethod
        def count_hits(policy: str, capacity: int, keys: bytes) -> None:
            assert 0 < _engine.count_hits(policy, capacity, keys) < len(keys) // 8
            trained.append(policy)

    load("train.py", monkeypatch)["train"](Engine)
    assert set(trained) == set(POLICIES)
