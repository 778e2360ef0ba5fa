"""`destage trace info` speaks in shares and sizes; `--json` has the exact integers."""

import json
from pathlib import Path
from typing import Any

import pytest

from destage.cli.commands.trace.records import format_share

COLUMNS = ("--columns", "time,op,offset,size")
TEXT = "0,r,0,4096\n1,r,4096,4096\n2,w,1048576,16384\n4,r,8192,8192\n"


@pytest.fixture
def trace(tmp_path: Path) -> str:
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    return str(path)


def test_the_first_line_is_the_trace_in_one_sentence(destage: Any, trace: str) -> None:
    """Worked by hand: 3 of 4 read, 32 KiB in all, 8 blocks of 4 KiB, 1 of 4 begins where the last ended."""
    done = destage("trace", "info", trace, *COLUMNS)
    assert done.out.splitlines()[0] == (
        "75 % reads, mean 8 KiB, 25 % sequential, footprint 32 KiB, 4 requests in 4 s"
    )
    assert "data      16 KiB read, 16 KiB written" in done.out
    assert "mix       75 % reads, 25 % writes" in done.out
    facts = json.loads(destage("trace", "info", trace, *COLUMNS, "--json").out)
    assert (facts["records"], facts["read_bytes"], facts["written_bytes"]) == (4, 16_384, 16_384)
    assert facts["touched"]["footprint_bytes"] == 32_768


def test_one_request_is_in_the_singular(destage: Any, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("0,r,0,4096\n")
    done = destage("trace", "info", str(tmp_path / "one.csv"), *COLUMNS)
    assert done.out.splitlines()[0].endswith(", 1 request in 0 s")


def test_no_key_of_json_is_printed_to_people(destage: Any, trace: str) -> None:
    printed = destage("trace", "info", trace, *COLUMNS).out
    assert "_" not in printed


@pytest.mark.parametrize(
    ("share", "text"),
    [
        *((0, "0 %"), (1, "100 %"), (0.624, "62 %"), (0.9999, "99.9 %"), (0.993, "99.3 %")),
        *((0.0834, "8.3 %"), (0.00083, "0.083 %"), (1e-9, "< 0.01 %")),
    ],
)
def test_a_share_is_only_exact_at_its_ends(share: float, text: str) -> None:
    assert format_share(share) == text


@pytest.mark.parametrize("command", ["info", "convert", "mrc", "synth"])
def test_columns_and_format_exclude_each_other(destage: Any, trace: str, command: str) -> None:
    out = {"convert": ["o.parquet"], "synth": ["--out", "o.parquet"]}.get(command, [])
    done = destage("trace", command, trace, *out, *COLUMNS, "--format", "spc")
    assert (done.code, done.issues) == (2, [("usage.conflicting-options", "--format")])
    done = destage("trace", command, trace, *out, "--unit", "time=s")
    assert (done.code, done.issues) == (2, [("usage.conflicting-options", "--unit")])


def test_a_curve_of_named_columns(destage: Any, trace: str) -> None:
    found = json.loads(destage("trace", "mrc", trace, *COLUMNS, "--json").out)
    assert {row["distinct_blocks"] for row in found["points"] if row["side"] == "both"} == {8}


def test_a_bare_cache_size_is_refused(destage: Any, trace: str) -> None:
    done = destage("trace", "mrc", trace, *COLUMNS, "--sizes", "64,128")
    assert (done.code, done.issues) == (2, [("usage.bad-quantity", "--sizes")])
    assert "write '64MiB' or '64KiB'" in done.err
