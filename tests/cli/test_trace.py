"""`destage trace info` and `convert`."""

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


def test_info_counts_records_and_problems(destage: Any, spc: str) -> None:
    done = destage("trace", "info", spc, "--skip-bad", "1", "--json")
    assert done.code == 0, done
    found = json.loads(done.out)
    assert (found["format"], found["reads"], found["writes"]) == ("spc", 2, 2)
    assert (found["start_s"], found["duration_s"]) == (0.5, 1.0)
    assert (found["read_bytes"], found["written_bytes"]) == (1024, 8192)
    assert {problem["code"]: problem["place"] for problem in found["problems"]} == {
        "trace.bad-record-skipped": "line 3",
        "trace.unaligned": "line 5",
        "trace.out-of-order": "line 5",
    }
    assert [volume["volume"] for volume in found["volumes"]] == [0, 1]
    assert "digest" not in found


def test_info_warns_about_problems(destage: Any, spc: str) -> None:
    done = destage("trace", "info", spc, "--skip-bad", "1")
    assert done.code == 0, done
    assert "median" in done.out
    assert done.issues == [
        ("trace.bad-record-skipped", "line 3"),
        ("trace.unaligned", "line 5"),
        ("trace.out-of-order", "line 5"),
    ]


def test_a_malformed_record_is_an_error(destage: Any, spc: str) -> None:
    done = destage("trace", "info", spc)
    assert done.code == 2
    assert done.issues == [("trace.bad-record", "line 3, column 1")]
    assert spc in done.err


def test_the_format_can_be_given(destage: Any, tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("1,2,512,W,3\n")
    path = str(trace)
    assert json.loads(destage("trace", "info", path, "--format", "spc", "--json").out)["format"] == "spc"
    done = destage("trace", "info", path, "--format", "msr")
    assert (done.code, done.issues) == (2, [("trace.bad-record", "line 1, column 12")])
    done = destage("trace", "info", path, "--format", "iostat")
    assert (done.code, done.issues[0][0]) == (2, "trace.unknown-format")


@pytest.mark.parametrize("command", [("info",), ("replay", "--on", "raid10x2", "--quiet")])
def test_an_unknown_format_names_a_command_that_reads_it(
    destage: Any, tmp_path: Path, command: tuple[str, ...]
) -> None:
    trace, out = tmp_path / "t.csv", str(tmp_path / "t.parquet")
    for text, code, option in (
        ("time,op,offset,size\n0.1,R,0,4096\n", "trace.unrecognised-format", "--columns time,op,offset,size"),
        ("0 0 1000 8 1\n1000 0 2000 8 0\n", "trace.ambiguous-format", "--format disksim"),
        ("", "trace.empty", ""),
    ):
        trace.write_text(text)
        done = destage("trace", command[0], str(trace), *command[1:])
        assert (done.code, done.issues[0][0]) == (2, code)
        assert option in done.err
        assert "alibaba" not in done.err
        if option:
            assert f"`destage trace convert IN OUT.parquet {option}`" in done.err
            assert destage("trace", "convert", str(trace), out, *option.split()).code == 0


def test_convert_keeps_content_and_selects_a_volume(destage: Any, spc: str, tmp_path: Path) -> None:
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
    assert (done.code, done.issues) == (2, [("trace.empty", spc)])


def test_convert_leaves_no_file_behind_on_failure(destage: Any, tmp_path: Path) -> None:
    trace = tmp_path / "late.csv"
    path, out = str(trace), str(tmp_path / "out.parquet")
    lines = [f"0,8,512,W,{second}.0\n" for second in range(1, 140_000)]
    trace.write_text("".join([*lines, "0,8,512,W,0.5\n"]))
    done = destage("trace", "convert", path, out)
    assert (done.code, done.issues) == (2, [("trace.not-in-order", "record 140000")])
    assert list(tmp_path.iterdir()) == [trace]
    assert destage("trace", "convert", path, out, "--sort").code == 0
    found = json.loads(destage("trace", "info", path, "--json").out)
    assert "trace.late" in {problem["code"] for problem in found["problems"]}
