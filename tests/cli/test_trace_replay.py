"""`destage trace replay`: one line in, a table and a sweep out."""

import json
from pathlib import Path
from typing import Any

import pytest

from destage.store import open_sweep


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """Four hundred writes, 5 ms apart, to fifty places in turn, and reads of other places."""
    lines = [f"0,{at % 50 * 8000},4096,{'R' if at % 8 == 7 else 'W'},{at * 0.005:.3f}" for at in range(400)]
    path = tmp_path / "mine.spc"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


SMALL = ("--controller", "smart_array_5i_plus", "--disk", "u320_10k_36gb", "--on", "raid10x4", "--quiet")


@pytest.mark.parametrize(
    ("mode", "column"),
    [("dependent", "completion_time_s"), ("open", "response_p95_us"), ("asap", "throughput_iops")],
)
def test_replay_prints_the_result_of_its_mode(destage: Any, trace: str, mode: str, column: str) -> None:
    done = destage("trace", "replay", trace, *SMALL, "--cache", "0,32MiB", "--mode", mode, "--json")
    assert done.code == 0, done
    found = json.loads(done.out)
    none, some = found["results"]
    assert (none["cache_capacity"], some["cache_capacity"]) == (0, 32 * 2**20)
    assert none[f"{column}_low"] <= none[column] <= none[f"{column}_high"]
    assert (none[column] < some[column]) == (column == "throughput_iops")
    assert none["write_hit_ratio"] == 0
    assert none["n"] == 3
    # At the recorded times, a replay takes as long as the recording: its answer is the response time.
    assert ("The replay takes" in found["answer"][0]) == (mode != "open")
    assert any("recorded pauses" in one for one in found["answer"]) <= (mode == "dependent")
    assert len(set(found["answer"])) == len(found["answer"])


def test_replay_leaves_a_sweep_that_is_not_run_again(destage: Any, trace: str) -> None:
    arguments = ("trace", "replay", trace, *SMALL, "--cache", "0,32MiB", "--replicates", "2")
    first = destage(*arguments)
    assert first.code == 0
    assert "completion time [s] (95 % CI)" in first.out
    assert "4 executed" in first.err
    again = destage(*arguments)
    assert again.out == first.out
    assert "0 executed" in again.err
    path = json.loads(destage(*arguments, "--json").out)["outcome"]["path"]
    assert open_sweep(path).spec()["name"] == "replay-mine"
    assert destage("query", "replay-mine", "design_space").code == 0


def test_a_deeper_queue_raises_the_throughput(destage: Any, trace: str) -> None:
    arguments = ("trace", "replay", trace, *SMALL, "--cache", "0", "--mode", "asap", "--json")
    shallow, deep = (
        json.loads(destage(*arguments, "--depth", depth).out)["results"][0]["throughput_iops"]
        for depth in ("1", "16")
    )
    assert deep > 1.5 * shallow


def test_without_cache_sizes_the_controller_is_as_built(destage: Any, trace: str) -> None:
    (row,) = json.loads(destage("trace", "replay", trace, *SMALL, "--json").out)["results"]
    assert "cache_capacity" not in row


@pytest.mark.parametrize(
    ("arguments", "issue"),
    [
        (("--on", "raid7x4"), ("usage.bad-array", "--on")),
        (("--on", "5x8"), ("usage.bad-array", "--on")),
        (("--on", "raid5x0"), ("usage.bad-array", "--on")),
        (("--on", "raid6x3"), ("scenario.raid-disk-count", "--on")),
        (("--on", "raid5x8", "--cache", "256"), ("usage.bad-quantity", "--cache")),
        (("--on", "raid5x8", "--disk", "floppy"), ("usage.unknown-name", "--disk")),
        (("--on", "raid5x8", "--controller", "perc"), ("usage.unknown-name", "--controller")),
        (("--on", "raid5x8", "--depth", "8"), ("usage.conflicting-options", "--depth")),
        ((), ("usage.missing-argument", "--on")),
    ],
)
def test_mistakes_name_their_option(
    destage: Any, trace: str, arguments: tuple[str, ...], issue: tuple[str, str]
) -> None:
    done = destage("trace", "replay", trace, *arguments)
    assert (done.code, done.issues) == (2, [issue])


def test_a_trace_beyond_the_array_is_refused_before_it_runs(destage: Any, tmp_path: Path) -> None:
    """A request at 16 TiB; the remedy is an option of the command."""
    trace = tmp_path / "far.csv"
    trace.write_text(
        "128166372003061629,hm,0,Read,17592186044416,4096,413\n"
        "128166372016382155,hm,0,Write,310378496,8192,4090\n"
    )
    arguments = ("trace", "replay", str(trace), *SMALL)
    done = destage(*arguments)
    assert (done.code, done.issues) == (2, [("trace.beyond-array", "--map")])
    assert not (tmp_path / "store").exists()
    for addresses in ("wrap", "compact"):
        done = destage(*arguments, "--map", addresses, "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out)["outcome"]["failed"] == 0
