"""The benchmarks of the engine, policies, the path of a run and start-up, at a small size."""

import argparse
import shutil
import sys
from pathlib import Path

import pytest
import script_modules
from replacement_policies import POLICIES

from destage import engine
from destage.engine import _engine

ENVIRONMENT = script_modules.load_script("benchmarks/environment.py")
EXECUTION = script_modules.load_script("benchmarks/execution.py")
INSTRUCTIONS = script_modules.load_script("benchmarks/instructions.py")
LISTS = script_modules.load_script("benchmarks/request_list.py")
REPLACEMENT = script_modules.load_script("benchmarks/replacement.py")
RUN = script_modules.load_script("benchmarks/run.py")
STARTUP = script_modules.load_script("benchmarks/startup.py")
TREE = script_modules.load_script("benchmarks/process_tree.py")


def test_the_heading_has_the_settings_of_the_build() -> None:
    settings = _engine.build_settings()
    assert settings["profile"] == "release"
    assert settings["opt-level"] == "3"
    manifest = (script_modules.ROOT / "engine/Cargo.toml").read_text()
    assert f'lto = "{settings["lto"]}"' in manifest
    assert all(f"{name} {value}" in ENVIRONMENT.describe_build() for name, value in settings.items())


@pytest.mark.parametrize("name", ["7-mrc-exact", "8-mrc-shards"])
def test_a_curve_counts_each_access_once(name: str) -> None:
    case = LISTS.load_case(name)
    case["accesses"].update(objects=20_000, count=30_000)
    assert RUN.measure(case, 1)["n"] == 30_000


def test_every_case_has_a_floor_and_no_rate_of_another_simulator() -> None:
    for path in LISTS.CASES.glob("*.json"):
        case = LISTS.load_case(path.stem)
        assert case["floor_requests_per_s"] > 0
        assert not [key for key in case if "reference" in key]


def test_every_policy_is_compared() -> None:
    compared = [found.policy for found in REPLACEMENT.compare(REPLACEMENT.load_zipf(1_000, 5_000), None, 1)]
    assert sorted(compared) == sorted(POLICIES)


@pytest.mark.parametrize(
    ("chosen", "recorded"),
    [
        ({}, "--runs 5"),
        ({"libcachesim": "/a/python"}, "--libcachesim PYTHON --runs 5"),
        ({"trace": Path("/a/x.csv"), "capacity": 9}, "--trace x.csv --capacity 9 --runs 5"),
    ],
)
def test_the_recorded_command_has_its_options(chosen: dict[str, object], recorded: str) -> None:
    usual = {"libcachesim": None, "trace": REPLACEMENT.EXAMPLE, "capacity": REPLACEMENT.TRACE_CAPACITY}
    options = argparse.Namespace(**{**usual, "runs": 5, **chosen})
    assert REPLACEMENT.describe_command(options) == f"python benchmarks/replacement.py {recorded}"


def test_a_ratio_needs_equal_models(tmp_path: Path) -> None:
    """A peer with one hit more or less than ours has no ratio, whatever its rate."""
    load = REPLACEMENT.load_zipf(1_000, 5_000)
    hits = _engine.count_hits("lru", load.capacity, load.keys.astype("<u8").tobytes())
    for difference, is_equal in ((0, True), (1, False)):
        misses = (len(load.keys) - hits + difference) / len(load.keys)
        peer = tmp_path / "peer"
        answer = f'{{"seconds": 1.0, "miss_ratio": {misses!r}, "version": "0"}}'
        peer.write_text(f"#!/bin/sh\necho '{answer}'\n")
        peer.chmod(0o700)
        found = next(iter(REPLACEMENT.compare(load, str(peer), 1)))
        assert found.policy == "lru"
        assert (found.ratio is not None) == is_equal
        assert ("models differ" in found.verdict) != is_equal


def test_a_real_trace_is_every_block_of_its_requests() -> None:
    """The recorded pgbench: 670,024 blocks of 4 KiB in reads and writes, most of them misses."""
    load = REPLACEMENT.load_trace(REPLACEMENT.EXAMPLE)
    assert len(load.keys) == 670_024
    hits = _engine.count_hits("lru", load.capacity, load.keys.astype("<u8").tobytes())
    assert 1 - hits / len(load.keys) > 0.8


@pytest.mark.parametrize("runs", [2, 200])
def test_the_study_of_short_runs_has_the_given_number(runs: int, tmp_path: Path) -> None:
    study = EXECUTION.make_study(runs)
    assert EXECUTION.sweeps.plan(study, tmp_path).runs == runs


@pytest.mark.parametrize("mode", ["loop", "inline"])
def test_a_mode_executes_every_run(mode: str, tmp_path: Path) -> None:
    assert EXECUTION.MODES[mode](EXECUTION.make_study(3), tmp_path) == 3


def test_the_time_of_processes_that_a_command_starts_counts(tmp_path: Path) -> None:
    """A process computes for about half a second in a child and not itself."""
    script = tmp_path / "parent.py"
    busy = "import time; end = time.process_time() + 0.8\nwhile time.process_time() < end: pass"
    script.write_text(
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])\nprint('{{\"a\": 1}}')\n"
    )
    usage = TREE.run_measured([sys.executable, str(script)])
    assert usage.result == {"a": 1}
    assert usage.processor_s > 0.8
    assert 0.3 < usage.descendants_s < usage.processor_s + 0.1


def test_the_time_of_a_command_and_of_a_process_left_behind_add_up(tmp_path: Path) -> None:
    """Each computes for 0.8 s; the command ends without waiting for the other, as `destage` leaves Ray's."""
    script = tmp_path / "parent.py"
    busy = "import time\nwhile time.process_time() < 0.8: pass\n"
    script.write_text(
        f"import os, subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {busy + 'time.sleep(30)'!r}])\n"
        f"{busy}"
        f"def used(): return sum(map(int, open(f'/proc/{{child.pid}}/stat').read().split()[13:15]))\n"
        f"while used() < 0.7 * os.sysconf('SC_CLK_TCK'): time.sleep(0.1)\n"
        f"time.sleep(0.6)\n"
        f"child.kill()\n"
        f"os._exit(0)\n"
    )
    usage = TREE.run_measured([sys.executable, str(script)])
    assert 0.7 < usage.processor_s < 1.2
    assert 1.4 < usage.total_s < 2.0


def test_a_command_that_fails_ends_the_benchmark() -> None:
    with pytest.raises(SystemExit, match="no such thing"):
        TREE.run_measured([sys.executable, "-c", "raise SystemExit('no such thing')"])


def test_start_up_is_that_of_commands_that_succeed(tmp_path: Path) -> None:
    # The last command is a sweep of 10,000 runs, which the benchmark itself executes first.
    for command in [*STARTUP.BOUNDS][:-1]:
        assert STARTUP.measure(command, 1, tmp_path)[0] > 0.02


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_instructions_per_request_are_repeatable() -> None:
    case = LISTS.load_case("1-disk-closed")
    first, second = (INSTRUCTIONS.count_instructions(case, (500, 3_000)) for _ in range(2))
    assert 200 < first < 20_000
    assert second == pytest.approx(first, rel=0.02)


def test_without_valgrind_the_benchmark_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    INSTRUCTIONS.main([])
    assert "valgrind is not installed" in capsys.readouterr().out


def test_the_call_centre_case_is_that_of_the_preset() -> None:
    scenario = LISTS.load_case("9-call-center")["scenario"]
    short = {**scenario, "run": {**scenario["run"], "window": {"requests": 5_000}}}
    row = engine.simulate(short)
    assert row["status"] == "ok"
    assert row["requests"] == 5_000
