"""Options that no other test of the command line uses: estimates, samples, targets, limits, execution."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from destage import sweeps
from destage.sweeps.workers import executors


def test_a_plan_is_shown_without_pilot_runs(destage: Any, study: Path) -> None:
    measured = destage("run", "--plan", str(study), "--estimate")
    assert "pilot" in measured.out
    assert "pilot" not in destage("run", "--plan", str(study), "--no-estimate").out


def test_a_resume_has_its_workers(destage: Any, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three workers execute what is left."""
    study.write_text(f"{study.read_text()}budget: {{wall: 1ms}}\n")
    assert destage("run", str(study), "--quiet").code == 5
    found: list[int] = []
    create = executors.InlineExecutor.__init__

    def note(self: Any, workers: int, *arguments: Any, **named: Any) -> None:
        found.append(workers)
        create(self, workers, *arguments, **named)

    monkeypatch.setattr(executors.InlineExecutor, "__init__", note)
    destage("run", "small", "--quiet", "--workers", "3")
    assert found == [3]
    assert destage("run", "small", "--workers", "0").issues == [("usage.bad-value", "--workers")]


@pytest.mark.usefixtures("sweep")
def test_a_resume_runs_on_the_ray_cluster_that_is_named(
    destage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "")
    given: list[Any] = []

    def note(*_: Any, executor: str, **__: Any) -> None:
        given.append(executor)
        raise SystemExit(0)

    monkeypatch.setattr("destage.sweeps.resume", note)
    destage("run", "small", "--ray-address", "127.0.0.1:6379")
    assert given == ["ray"]


@pytest.mark.usefixtures("sweep")
def test_all_runs_or_a_sample_by_its_seed_are_verified(destage: Any) -> None:
    assert json.loads(destage("admin", "verify", "small", "--all", "--json").out)["checked"] == 8
    half = [
        json.loads(destage("admin", "verify", "small", "--sample", "50%", "--seed", seed, "--json").out)[
            "checked"
        ]
        for seed in ("1", "2")
    ]
    assert all(0 < count < 8 for count in half)


@pytest.mark.usefixtures("sweep")
def test_the_seed_chooses_the_runs_that_are_verified(destage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    verify = sweeps.verify

    def note(*arguments: Any, seed: int, **named: Any) -> Any:
        given.append(seed)
        return verify(*arguments, seed=seed, **named)

    monkeypatch.setattr("destage.sweeps.verify", note)
    destage("admin", "verify", "small", "--seed", "7")
    assert given == [7]


def test_examples_are_listed_as_json(destage: Any) -> None:
    listed = json.loads(destage("catalog", "list", "examples", "--json").out)
    assert "first-sweep" in json.dumps(listed)


def test_the_study_of_a_test_has_the_parts_that_are_named(destage: Any, tmp_path: Path) -> None:
    job = tmp_path / "job.fio"
    job.write_text("[one]\nrw=randread\nbs=4k\nsize=1g\nruntime=10\ntime_based\nioengine=libaio\ndirect=1\n")
    parts = ("--disk", "dc600m_960gb", "--controller", "megaraid_9540")
    done = destage("workload", "import", str(job), "--study", "--on", "raid10x4", *parts)
    assert done.code == 0, done.err
    scenario = yaml.safe_load(done.out)["scenario"]
    assert scenario["array"]["disk"]["use"] == "dc600m_960gb"
    assert scenario["controller"]["use"] == "megaraid_9540"
    assert (
        destage("workload", "import", str(job), "--study", "--on", "raid10x4", "--disk", "floppy").code == 2
    )


def test_an_exported_job_has_its_target(destage: Any) -> None:
    done = destage("workload", "export", "vdi", "--to", "fio", "--target", "/dev/nothing")
    assert "filename=/dev/nothing" in done.out
    done = destage(
        "workload",
        "export",
        "iometer_oltp",
        "--to",
        "diskspd",
        "--size",
        "1GiB",
        "--target",
        "D:\\nothing.dat",
    )
    assert "nothing.dat" in done.out
