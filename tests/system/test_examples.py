"""The examples for newcomers: valid studies that finish in seconds and give plausible answers."""

import json
import re
from pathlib import Path

import pyarrow.compute as pc
import pytest

from destage import queries, store, sweeps
from destage.queries.report.reported_kinds import compose_answer

EXAMPLES = Path(__file__).parents[2] / "examples"
STUDIES = sorted(set(EXAMPLES.glob("*.yaml")) - {EXAMPLES / "ray-cluster.yaml"})
"""The studies; the description of machines for `ray up` has its own test (tests/contract)."""


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_each_example_is_a_valid_study(path: Path, tmp_path: Path) -> None:
    study = sweeps.load_study(path)
    assert study.name == path.stem
    preview = sweeps.plan(study, tmp_path)
    # The search of a seek begins with one run per point.
    assert preview.runs >= preview.points > 0


def test_users_of_the_first_sweep_wait_longer_unprotected(tmp_path: Path) -> None:
    outcome = sweeps.run(sweeps.load_study(EXAMPLES / "first-sweep.yaml"), tmp_path, executor="inline")
    assert outcome.exit_code == 0
    rows = store.open_sweep(outcome.path).runs()
    assert set(rows["status"].to_pylist()) == {"ok"}
    mean = {
        state: pc.mean(
            rows.filter(pc.equal(rows["controller.battery.state"], state))["response_p95_us"]
        ).as_py()
        for state in ("absent", "present")
    }
    assert mean["absent"] > 2 * mean["present"]


def test_a_seek_says_whether_processors_or_disks_limit(tmp_path: Path) -> None:
    study = sweeps.load_study(EXAMPLES / "processors-or-disks.yaml")
    outcome = sweeps.run(study, tmp_path, executor="inline")
    assert outcome.exit_code == 0
    with queries.open_session(outcome.path) as session:
        answer = compose_answer(session)
        rows = session.query("design_space").to_pylist()
    found = {(row["host.cores"], row["controller.battery.state"]): row for row in rows}
    limits = {point: row["limiting"] for point, row in found.items()}
    assert limits[2, "present"] == limits[4, "present"] == "host"
    assert limits[8, "absent"] == "disk"
    # More cores help where they limit, and nowhere else.
    users = {point: row["users_supported"] for point, row in found.items()}
    assert users[4, "present"] > 1.5 * users[2, "present"]
    assert users[8, "absent"] < 1.1 * users[4, "absent"]
    (host,) = (sentence for sentence in answer if sentence.startswith("Limited by host: "))
    assert "cores 2, battery present" in host


def test_a_battery_that_fails_costs_time_or_is_a_risk(tmp_path: Path) -> None:
    outcome = sweeps.run(sweeps.load_study(EXAMPLES / "battery-fails.yaml"), tmp_path, executor="inline")
    assert outcome.exit_code == 0
    rows = store.open_sweep(outcome.path).runs().to_pylist()
    case = {
        (*(fault["kind"] for fault in json.loads(row["faults"])), row["allow"]): row
        for row in (
            {**row, "allow": row["controller.battery.allow_without_battery"]}
            for row in rows
            if row["replicate"] == 0
        )
    }
    intact = case[(False,)]
    for allowed in (False, True):
        failed, both = case["battery_fails", allowed], case["battery_fails", "mains_lost", allowed]
        # Without the battery, either speed or safety is lost.
        assert (failed["response_mean_us"] > 2 * intact["response_mean_us"]) is not allowed
        assert failed["data_at_risk_byte_s"] > 0 == intact["data_at_risk_byte_s"]
        assert both["dirty_lost_bytes"] > 0
        kept = case["mains_lost", allowed]
        assert kept["dirty_preserved_bytes"] > 0 == kept["dirty_lost_bytes"]
    assert case["battery_fails", True]["unprotected_s"] > case["battery_fails", False]["unprotected_s"]


@pytest.mark.long
def test_the_pgbench_study_states_the_gain_of_a_cache(tmp_path: Path) -> None:
    outcome = sweeps.run(
        sweeps.load_study(EXAMPLES / "pgbench-write-cache.yaml"), tmp_path, executor="inline"
    )
    assert outcome.exit_code == 0
    rows = store.open_sweep(outcome.path).runs()
    assert set(rows["status"].to_pylist()) == {"ok"}
    assert set(rows["flushes"].to_pylist()) == {31_322}
    absent = rows.filter(pc.equal(rows["controller.battery.state"], "absent"))
    present = rows.filter(pc.equal(rows["controller.battery.state"], "present"))
    for column in ("completion_time_s", "commit_p50_us", "commit_p99_us"):
        assert pc.max(present[column]).as_py() < pc.min(absent[column]).as_py()
    assert pc.max(absent["write_stalls"]).as_py() == 0
    full = present.filter(pc.equal(present["controller.cache.write_fraction"], 1))
    by_size = full.group_by("controller.cache.capacity").aggregate(
        [
            ("completion_time_s", "mean"),
            ("write_stalls", "mean"),
        ]
    )
    by_size = by_size.sort_by("controller.cache.capacity")
    for column in ("completion_time_s_mean", "write_stalls_mean"):
        falling = by_size[column].to_pylist()
        assert falling == sorted(falling, reverse=True)


@pytest.mark.long
def test_the_create_and_drop_study_states_gain_and_limit(tmp_path: Path) -> None:
    study = sweeps.load_study(EXAMPLES / "create-drop-write-cache.yaml")
    outcome = sweeps.run(study, tmp_path, executor="inline")
    assert outcome.exit_code == 0
    rows = store.open_sweep(outcome.path).runs()
    assert set(rows["status"].to_pylist()) == {"ok"}
    assert set(rows["flushes"].to_pylist()) == {40_145}
    with queries.open_session(outcome.path) as session:
        answer = compose_answer(session)
    assert answer[0].startswith("The replay takes ")
    assert " with 64 MiB of cache, battery present, and " in answer[0]
    gain = re.search(r" with 64 MiB of cache, battery absent: ([\d.]+) times (?:\(.*\) )?as fast", answer[0])
    seconds = {
        state: pc.mean(
            rows.filter(pc.equal(rows["controller.battery.state"], state))["completion_time_s"]
        ).as_py()
        for state in ("absent", "present")
    }
    assert gain is not None
    assert float(gain[1]) == pytest.approx(seconds["absent"] / seconds["present"], rel=0.05)
    assert float(gain[1]) > 2
    (protected, bare) = (sentence for sentence in answer if sentence.startswith("Limiting resource with"))
    assert ": host (the recorded pauses are kept);" in protected
    assert ": disks;" in bare
    assert any(sentence.startswith("29 % of all commands are flushes") for sentence in answer)


@pytest.mark.long
def test_the_backup_study_states_the_gain_of_separation(tmp_path: Path) -> None:
    outcome = sweeps.run(sweeps.load_study(EXAMPLES / "backup-streams.yaml"), tmp_path, executor="inline")
    assert outcome.exit_code == 0
    rows = store.open_sweep(outcome.path).runs()
    assert set(rows["status"].to_pylist()) == {"ok"}
    counts = {
        Path(row["workload.streams.0.arrival.file"]).stem: row["reads"] + row["writes"] + row["flushes"]
        for row in rows.to_pylist()
    }
    assert counts["backup"] == 23_696 == counts["backup-archive"] + counts["backup-copy"]
    with queries.open_session(outcome.path) as session:
        bare, protected, *_ = compose_answer(session)
    # Without a protected cache the disks do the same work in another order: the interval includes 1.
    low, high = _ratio_interval(bare, "absent")
    assert low < 1 < high
    assert _ratio_interval(protected, "present")[1] < 1


def _ratio_interval(sentence: str, battery: str) -> tuple[float, float]:
    """Return the ends of the interval of a ratio of times in a sentence of an answer."""
    found = re.search(rf"battery {battery}: [\d.]+ times \(95 % CI ([\d.]+) to ([\d.]+)\) as long", sentence)
    assert found is not None, sentence
    return float(found[1]), float(found[2])
