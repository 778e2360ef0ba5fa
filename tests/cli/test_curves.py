"""trace mrc and trace synth as a user sees them."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

PGBENCH = str(Path(__file__).parents[2] / "examples" / "pgbench.parquet")


def test_a_curve_is_a_table_a_file_and_a_picture(destage: Any, tmp_path: Path) -> None:
    out, plot = tmp_path / "curve.parquet", tmp_path / "curve.svg"
    done = destage("trace", "mrc", PGBENCH, "--sizes", "4MiB,64MiB", "--out", str(out), "--plot", str(plot))
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split() == ["size", "reads", "miss", "writes", "miss", "both", "miss"]
    assert [line.split()[:2] for line in lines[1:3]] == [["4", "MiB"], ["64", "MiB"]]
    assert lines[4] == "writes: 473524 block accesses, 178550 different blocks"
    assert pq.read_table(out).num_rows == 6
    assert plot.read_text().startswith("<svg")


def test_a_sample_says_its_error(destage: Any) -> None:
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
    ("arguments", "message"),
    [
        (("mrc", PGBENCH, "--sample", "half"), "'half'; allowed is exact, or shards:"),
        (("mrc", PGBENCH, "--plot", "curve.gif"), "allowed is .svg or .html"),
        (("synth", PGBENCH, "--out", "like.csv"), "name it with .parquet"),
    ],
)
def test_what_cannot_be_done_is_said(destage: Any, arguments: tuple[str, ...], message: str) -> None:
    done = destage("trace", *arguments)
    assert done.code == 2
    assert message in done.err


def test_what_would_be_lost_or_misnamed_is_refused(destage: Any, tmp_path: Path) -> None:
    """A trace is not overwritten by its own likeness, and Parquet does not end up under another name."""
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(Path(PGBENCH).read_bytes())
    before = copy.read_bytes()
    for arguments, words in (
        (("synth", str(copy), "--out", str(copy), "--requests", "10"), "is the trace itself"),
        (("synth", str(copy), "--out", str(tmp_path / "o.parquet"), "--duration=-5s"), "more than 0"),
        (("mrc", str(copy), "--out", str(tmp_path / "o.csv")), "name it with .parquet"),
    ):
        result = destage("trace", *arguments)
        assert result.code != 0, arguments
        assert words in result.err, arguments
    assert copy.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["copy.parquet"]
