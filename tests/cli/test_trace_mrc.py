"""`destage trace mrc` and `synth`."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

NUMBERS = Path(__file__).parents[1] / "engine" / "trace_examples" / "block-numbers-only.txt"
"""The blocks 1, 2, 3, 1, 2, 3, 4."""
PGBENCH = str(Path(__file__).parents[2] / "examples" / "pgbench.parquet")


def test_a_curve_is_a_table_a_file_and_a_plot(destage: Any, tmp_path: Path) -> None:
    out, plot = tmp_path / "curve.parquet", tmp_path / "curve.svg"
    done = destage("trace", "mrc", PGBENCH, "--sizes", "4MiB,64MiB", "--out", str(out), "--plot", str(plot))
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split() == ["size", "reads", "miss", "writes", "miss", "both", "miss"]
    assert [line.split()[:2] for line in lines[1:3]] == [["4", "MiB"], ["64", "MiB"]]
    assert lines[4] == "writes: 473524 block accesses, 178550 distinct blocks"
    assert pq.read_table(out).num_rows == 6
    assert plot.read_text().startswith("<svg")


def test_each_policy_has_its_curve(destage: Any, tmp_path: Path) -> None:
    """In the table, in JSON, in the file and in the plot."""
    trace = tmp_path / "circle.csv"
    blocks = [*range(5), 0, 5, 0, 6, 0, 7, 0]
    trace.write_text("".join(f"{at},R,{4096 * block},4096\n" for at, block in enumerate(blocks)))
    out, plot = tmp_path / "curve.parquet", tmp_path / "curve.svg"
    reading = ("trace", "mrc", str(trace), "--columns", "time,op,offset,size")
    asked = (*reading, "--policy", "lru,fifo,lru", "--sizes", "8KiB,64KiB")
    done = destage(*asked, "--out", str(out), "--plot", str(plot))
    assert done.code == 0, done.err
    lines = [line.split() for line in done.out.splitlines()]
    # Two blocks: LRU keeps block 0 after its return and hits three times, FIFO every other time.
    assert lines[:4] == [
        ["reads", "miss"],
        ["size", "lru", "fifo"],
        ["8", "KiB", "0.7500", "0.8333"],
        ["64", "KiB", "0.6667", "0.6667"],
    ]
    found = json.loads(destage(*asked, "--json").out)
    assert found["policies"] == ["lru", "fifo"]
    ratios = {(row["policy"], row["size_blocks"]): row["miss_ratio"] for row in found["points"]}
    assert ratios[("lru", 2)] == 9 / 12
    assert ratios[("fifo", 2)] == 10 / 12
    assert found["points"] == pq.read_table(out).to_pylist()
    assert plot.read_text().count(">fifo<") >= 1


@pytest.mark.parametrize("columns", [(), ("--columns", "block")])
def test_block_numbers_alone_have_a_curve(destage: Any, columns: tuple[str, ...]) -> None:
    """Three blocks hold all that returns, two nothing of it: 4 of 7 and 7 of 7 accesses miss."""
    arguments = (
        "trace",
        "mrc",
        str(NUMBERS),
        *columns,
        "--block",
        "8KiB",
        "--sizes",
        "16KiB,24KiB",
        "--json",
    )
    found = json.loads(destage(*arguments).out)["points"]
    ratios = {(row["side"], row["size_bytes"]): row["miss_ratio"] for row in found}
    assert ratios == {
        (side, size << 10): miss for side in ("reads", "both") for size, miss in ((16, 1), (24, 4 / 7))
    }
    assert {(row["accesses"], row["distinct_blocks"]) for row in found} == {(7, 4)}


def test_extents_without_times_have_a_curve(destage: Any, tmp_path: Path) -> None:
    """ARC's traces: first sector, number of sectors, and two columns to skip; three reads of two blocks."""
    trace = tmp_path / "p1.lis"
    trace.write_text("0 4 0 1\n4 4 0 2\n0 4 0 3\n")
    reading = ("--columns", "offset,size,-,-", "--unit", "offset=sectors,size=sectors", "--block", "2KiB")
    found = json.loads(destage("trace", "mrc", str(trace), *reading, "--json").out)["points"]
    ratios = {row["size_blocks"]: row["miss_ratio"] for row in found if row["side"] == "both"}
    assert (ratios[1], ratios[2]) == (1, 2 / 3)


@pytest.mark.parametrize(
    ("command", "place"),
    [
        (("info",), ""),
        (("info", "--columns", "block"), "--columns"),
        (("synth", "--out", "o.parquet"), ""),
        (("replay", "--on", "raid5x8"), ""),
    ],
)
def test_block_numbers_alone_are_refused_elsewhere(
    destage: Any, command: tuple[str, ...], place: str
) -> None:
    name, *options = command
    done = destage("trace", name, str(NUMBERS), *options)
    assert (done.code, done.issues) == (2, [("trace.no-times", place)])


def test_a_sampled_point_lies_within_its_interval(destage: Any) -> None:
    done = destage("trace", "mrc", PGBENCH, "--sizes", "64MiB", "--sample", "shards:0.1", "--json")
    for point in json.loads(done.out)["points"]:
        assert point["miss_ratio_low"] <= point["miss_ratio"] <= point["miss_ratio_high"]


def test_a_synthetic_trace_is_written_and_compared(destage: Any, tmp_path: Path) -> None:
    out, profile = tmp_path / "like.parquet", tmp_path / "profile.json"
    arguments = ("trace", "synth", PGBENCH, "--out", str(out), "--requests", "20000")
    done = destage(*arguments, "--profile", str(profile), "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert facts["records"] == pq.read_metadata(out).num_rows == 20_000
    assert {row["subject"] for row in facts["comparison"]} >= {"mix", "gap [us]", "miss ratio, writes"}
    assert json.loads(profile.read_text())["requests"] == 229_916


@pytest.mark.parametrize(
    ("arguments", "issue"),
    [
        (("mrc", PGBENCH, "--sample", "half"), ("usage.bad-value", "--sample")),
        (("mrc", PGBENCH, "--sample", "shards:0"), ("trace.bad-sampling-rate", "--sample")),
        (("mrc", PGBENCH, "--policy", "lru,mru"), ("trace.unknown-policy", "--policy")),
        (("mrc", PGBENCH, "--policy", ","), ("trace.unknown-policy", "--policy")),
        (("mrc", PGBENCH, "--block", "1000B"), ("trace.bad-block-size", "--block")),
        (("mrc", PGBENCH, "--block", "4 parsecs"), ("usage.bad-quantity", "--block")),
        (("mrc", PGBENCH, "--sizes", "512B"), ("trace.bad-cache-size", "--sizes")),
        (("info", PGBENCH, "--format", "iostat"), ("trace.unknown-format", "--format")),
        (("info", PGBENCH, "--columns", "time"), ("trace.bad-columns", "--columns")),
        (("mrc", PGBENCH, "--plot", "curve.gif"), ("usage.bad-file-type", "--plot")),
        (("synth", PGBENCH, "--out", "like.csv"), ("usage.bad-file-type", "--out")),
    ],
)
def test_wrong_options_are_rejected(destage: Any, arguments: tuple[str, ...], issue: tuple[str, str]) -> None:
    done = destage("trace", *arguments)
    assert (done.code, done.issues) == (2, [issue])


def test_no_trace_is_overwritten_or_misnamed(destage: Any, tmp_path: Path) -> None:
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(Path(PGBENCH).read_bytes())
    before = copy.read_bytes()
    out = tmp_path / "o.parquet"
    for arguments, issue in (
        (("synth", "--out", str(copy), "--requests", "10"), ("usage.same-file", "--out")),
        (("synth", "--out", str(out), "--duration=-5s"), ("usage.out-of-range", "--duration")),
        (("mrc", "--out", str(tmp_path / "o.csv")), ("usage.bad-file-type", "--out")),
    ):
        command, *options = arguments
        done = destage("trace", command, str(copy), *options)
        assert (done.code, done.issues) == (2, [issue])
    assert copy.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["copy.parquet"]
