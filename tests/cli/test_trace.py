"""`destage trace info` and `convert`: what they say, what they leave out, what they refuse."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

SPC = "0,8,4096,W,0.5\n1,0,512,R,1.0\nrubbish\n0,16,4096,W,1.5\n0,0,100,r,0.75\n"


@pytest.fixture
def spc(tmp_path: Path) -> str:
    path = tmp_path / "trace.dat"
    path.write_bytes(gzip.compress(SPC.encode()))
    return str(path)


def test_info_counts_and_names_problems(destage: Any, spc: str) -> None:
    done = destage("trace", "info", spc, "--skip-bad", "1", "--json")
    assert done.code == 0, done
    found = json.loads(done.out)
    assert (found["format"], found["reads"], found["writes"]) == ("spc", 2, 2)
    assert (found["start_s"], found["duration_s"]) == (0.5, 1.0)
    assert (found["read_bytes"], found["written_bytes"]) == (1024, 8192)
    assert {problem["problem"]: problem["first"] for problem in found["problems"]} == {
        "bad": 3,
        "rounded": 5,
        "out_of_order": 5,
    }
    assert [volume["volume"] for volume in found["volumes"]] == [0, 1]
    assert "digest" not in found


def test_info_for_people(destage: Any, spc: str) -> None:
    done = destage("trace", "info", spc, "--skip-bad", "1")
    assert done.code == 0, done
    assert "write_sizes.p50_bytes" in done.out
    assert "1 x bad (first at 3)" in done.err


def test_a_bad_line_is_fatal_unless_it_may_be_left_out(destage: Any, spc: str) -> None:
    done = destage("trace", "info", spc)
    assert done.code == 2
    assert done.err == f"error: {spc}: line 3, column 1: `rubbish`; expected the number of an ASU\n"


def test_the_format_can_be_named(destage: Any, tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("1,2,512,W,3\n")
    path = str(trace)
    assert json.loads(destage("trace", "info", path, "--format", "spc", "--json").out)["format"] == "spc"
    done = destage("trace", "info", path, "--format", "msr")
    assert done.code == 2
    assert "line 1, column 12: ``; expected a size [bytes]" in done.err
    done = destage("trace", "info", path, "--format", "iostat")
    assert "there is no trace format 'iostat'; known are alibaba, " in done.err
    trace.write_text("nothing that is a trace\n")
    assert "the format is not recognised; name it; known are" in destage("trace", "info", path).err


def test_convert_keeps_what_there_is_and_takes_one_volume(destage: Any, spc: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out.parquet")
    done = destage("trace", "convert", spc, out, "--skip-bad", "1", "--json")
    assert done.code == 0, done
    assert json.loads(done.out)["records"] == 4
    one = json.loads(destage("trace", "info", out, "--volume", "1", "--digest", "--json").out)
    again = json.loads(
        destage("trace", "info", spc, "--skip-bad", "1", "--volume", "1", "--digest", "--json").out
    )
    assert (one["records"], one["digest"]) == (1, again["digest"])
    done = destage("trace", "convert", spc, out, "--skip-bad", "1", "--volume", "7")
    assert done.code == 2
    assert "nothing goes to volume 7" in done.err


def test_convert_refuses_what_it_cannot_sort_and_leaves_nothing(destage: Any, tmp_path: Path) -> None:
    trace = tmp_path / "late.csv"
    path, out = str(trace), str(tmp_path / "out.parquet")
    lines = [f"0,8,512,W,{second}.0\n" for second in range(1, 140_000)]
    trace.write_text("".join([*lines, "0,8,512,W,0.5\n"]))
    done = destage("trace", "convert", path, out)
    assert done.code == 2
    assert "not in order of time: record 140000" in done.err
    assert list(tmp_path.iterdir()) == [trace]
    assert destage("trace", "convert", path, out, "--sort").code == 0
    found = json.loads(destage("trace", "info", path, "--json").out)
    assert "late" in {problem["problem"] for problem in found["problems"]}
