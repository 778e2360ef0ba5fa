"""Delimited text is read by the columns and units that the user names."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from destage.engine import traces
from destage.engine.traces import trace_streams
from destage.engine.traces.delimited import Delimited
from destage.errors import TraceError

TEXT = """\
Timestamp,Host,Type,Offset,Length
0.5,a,Read,4096,8192
0.75,a,w,0,512
"""
BY_NAME = "time=Timestamp,op=type,offset=Offset,size=Length"
BY_PLACE = "time=1,op=3,offset=4,size=5"
IN_ORDER = "time,-,op,offset,size"


def load(tmp_path: Path, text: str, columns: str, units: str = "", separator: str = "auto") -> Any:
    """Return the records of a text: time [ns], first sector, sectors, operation."""
    file = tmp_path / "t.csv"
    file.write_text(text)
    loaded = traces.load(file, columns=Delimited(columns, units, separator))
    return [
        (row["t_ns"], row["lba_512"], row["n_512"], row["op"]) for row in traces.table(loaded).to_pylist()
    ]


@pytest.mark.parametrize("columns", [BY_NAME, BY_PLACE, IN_ORDER])
def test_columns_by_name_by_place_and_in_order(tmp_path: Path, columns: str) -> None:
    assert load(tmp_path, TEXT, columns) == [(0, 8, 16, 0), (250_000_000, 0, 1, 1)]


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", "  "])
def test_separators_are_found(tmp_path: Path, separator: str) -> None:
    text = "\n".join(separator.join(row) for row in (["1", "r", "0", "512"], ["2", "w", "512", "1024"]))
    assert load(tmp_path, text, "time,op,offset,size") == [(0, 0, 1, 0), (1_000_000_000, 1, 2, 1)]


@pytest.mark.parametrize(
    ("unit", "step"), [("s", 10**9), ("ms", 10**6), ("us", 10**3), ("100ns", 100), ("ns", 1)]
)
def test_units_of_time(tmp_path: Path, unit: str, step: int) -> None:
    found = load(tmp_path, "0,r,0,512\n3,r,0,512\n", "time,op,offset,size", f"time={unit}")
    assert found[1][0] == 3 * step


@pytest.mark.parametrize(
    ("unit", "sectors"), [("B", 0), ("sectors", 2), ("KiB", 4), ("4KiB", 16), ("4096B", 16)]
)
def test_units_of_offsets_and_sizes(tmp_path: Path, unit: str, sectors: int) -> None:
    """Two bytes from byte 2 on touch sector 0; other units are whole sectors."""
    ((_, lba, count, _),) = load(tmp_path, "0,r,2,2\n", "time,op,offset,size", f"offset={unit},size={unit}")
    assert (lba, count) == (sectors, max(sectors, 1))


def test_the_same_requests_have_the_same_digest(tmp_path: Path) -> None:
    """A text, its compressed form with other columns, and what `convert` makes of it."""
    (tmp_path / "a.csv").write_text(TEXT)
    other = "8192;0.5;4096;0\n512;0.75;0;1\n"
    (tmp_path / "b.gz").write_bytes(gzip.compress(other.encode()))
    one, two = Delimited(BY_NAME), Delimited("size,time,offset,op")
    converted = trace_streams.convert(tmp_path / "a.csv", tmp_path / "c.parquet", columns=one)
    assert (converted["format"], converted["records"]) == ("columns", 2)
    digests = {
        traces.digest(tmp_path / "a.csv", columns=one),
        traces.digest(tmp_path / "b.gz", columns=two),
        traces.digest(tmp_path / "c.parquet"),
    }
    assert len(digests) == 1


def test_volume_process_and_response_are_kept(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("0,r,0,512,7,3,2.5\n1,w,0,512,8,3,\n")
    columns = Delimited("time,op,offset,size,process,volume,response", "response=ms")
    rows = traces.table(traces.load(tmp_path / "t.csv", columns=columns)).to_pylist()
    assert [(row["process"], row["response_ns"]) for row in rows] == [(7, 2_500_000), (8, None)]
    found = trace_streams.profile(tmp_path / "t.csv", columns=columns)
    assert [volume["volume"] for volume in found["volumes"]] == [3]


@pytest.mark.parametrize(
    ("columns", "units", "code", "place"),
    [
        ("time,op,offset", "", "trace.bad-columns", "columns"),
        ("time,op,offset,sise", "", "trace.bad-columns", "columns"),
        ("time,time,op,offset,size", "", "trace.bad-columns", "columns"),
        ("time=0,op=1,offset=2,size=3", "", "trace.bad-columns", "columns"),
        ("time=1,op=1,offset=2,size=3", "", "trace.bad-columns", "columns"),
        ("time=,op=1,offset=2,size=3", "", "trace.bad-columns", "columns"),
        ("time=When,op=3,offset=4,size=5", "", "trace.missing-column", "line 1"),
        ("time=1,op=3,offset=4,size=9", "", "trace.missing-column", "line 1"),
        (IN_ORDER, "time=m", "trace.bad-columns", "unit"),
        (IN_ORDER, "size=512", "trace.bad-columns", "unit"),
        (IN_ORDER, "speed=s", "trace.bad-columns", "unit"),
        (IN_ORDER, "response=s", "trace.bad-columns", "unit"),
        ("time,op,-,offset,size", "", "trace.bad-record", "line 2, column 5"),
    ],
)
def test_mistakes_are_located(tmp_path: Path, columns: str, units: str, code: str, place: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(TEXT)
    with pytest.raises(TraceError) as caught:
        traces.load(file, columns=Delimited(columns, units))
    assert (caught.value.code, caught.value.place, caught.value.source) == (code, place, str(file))


def test_bad_records_can_be_skipped(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(TEXT + "later,a,Read,0,512\n1,a,Read,0,512\n")
    found = trace_streams.profile(file, columns=Delimited(BY_NAME), skip_bad=1)
    assert found["records"] == 3
    assert [problem["place"] for problem in found["problems"]] == ["line 4"]


def test_a_first_record_with_a_mistyped_time_is_no_header(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("1O,R,0,512\n2,R,0,512\n")
    with pytest.raises(TraceError) as caught:
        traces.load(file, columns=Delimited("time,op,offset,size"))
    assert caught.value.code == "trace.bad-record"
    assert trace_streams.profile(file, columns=Delimited("time,op,offset,size"), skip_bad=1)["records"] == 1
