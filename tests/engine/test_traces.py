"""Traces: the compact form keeps the known statistics, and unreadable records are located."""

import gzip
import lzma
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from external_data import require_shared

from destage.engine import traces
from destage.errors import TraceError

ROOT = Path(__file__).parents[2]
COMPACT = ROOT / "examples" / "pgbench.parquet"
CAPTURED = "traces/captured/pgbench.blk.xz"
READ, WRITE, FLUSH = 0, 1, 2
SYNC, FUA, PREFLUSH = 1, 2, 16

TEXT = """\
  8,0    1        1     0.000000000   697  Q   R 223490 + 8 [postgres]
  8,0    1        2     0.000250000   698  Q  WS 223498 + 16 [postgres]
  8,0    1        3     0.000400000   698  Q FWS [postgres]
"""


def count(mask: pa.ChunkedArray) -> int:
    """Return the number of true values."""
    return int(pc.sum(mask).as_py())


def test_the_committed_trace_has_the_known_statistics() -> None:
    records = traces.table(traces.load(COMPACT))
    op, flags, sectors = records["op"], records["flags"], records["n_512"]
    assert len(records) == 229_916
    assert count(pc.equal(op, READ)) == 78_319
    assert count(pc.equal(op, WRITE)) == 120_275
    assert count(pc.equal(op, READ)) + count(pc.equal(op, WRITE)) == 198_594
    assert count(pc.equal(op, FLUSH)) == 31_322
    assert count(pc.equal(sectors, 0)) == 31_322
    assert count(pc.not_equal(pc.bit_wise_and(flags, FUA), 0)) == 194
    assert count(pc.not_equal(pc.bit_wise_and(flags, PREFLUSH), 0)) == 194
    assert len(pc.unique(records["process"])) == 18
    assert pc.max(pc.add(records["lba_512"], sectors)).as_py() == 8_700_336
    seconds = pc.divide(records["t_ns"], 10**9).filter(pc.equal(op, WRITE))
    assert pc.max(pc.struct_field(pc.value_counts(seconds), "counts")).as_py() == 9_117
    assert count(pc.equal(op, WRITE)) / (records["t_ns"][-1].as_py() / 1e9) == pytest.approx(2003, abs=1)


def test_the_committed_trace_is_small() -> None:
    assert COMPACT.stat().st_size < 1_000_000


def test_the_compact_form_equals_the_recording_record_by_record() -> None:
    captured = require_shared(CAPTURED)
    assert traces.table(traces.load(COMPACT)).equals(traces.table(traces.load(captured)))
    assert traces.digest(COMPACT) == traces.digest(captured)


def test_the_text_of_the_recording_gives_the_same_trace() -> None:
    """A second, simple parser of the text, so that reader and compact form cannot have the same mistake."""
    captured = require_shared(CAPTURED)
    records = traces.table(traces.load(COMPACT)).to_pylist()
    with lzma.open(captured, "rt") as text:
        for line, record in zip(text, records, strict=True):
            fields = line.split()
            seconds, fraction = fields[3].split(".")
            assert record["t_ns"] == int(seconds) * 10**9 + int(fraction)
            assert record["process"] == int(fields[4])
            letters = fields[6]
            assert bool(record["flags"] & SYNC) == ("S" in letters)
            if letters == "FWS":
                assert (record["op"], record["n_512"]) == (FLUSH, 0)
            else:
                assert record["op"] == (READ if "R" in letters else WRITE)
                assert (record["lba_512"], record["n_512"]) == (int(fields[7]), int(fields[9]))


@pytest.mark.parametrize("suffix", ["blk", "blk.gz", "blk.xz"])
def test_text_is_read_plain_and_compressed(tmp_path: Path, suffix: str) -> None:
    pack = {"blk": bytes, "blk.gz": gzip.compress, "blk.xz": lzma.compress}[suffix]
    path = tmp_path / f"trace.{suffix}"
    path.write_bytes(pack(TEXT.encode()))
    trace = traces.load(path)
    assert traces.table(trace).to_pylist() == [
        {"t_ns": 0, "process": 697, "lba_512": 223490, "n_512": 8, "op": READ, "flags": 0},
        {"t_ns": 250_000, "process": 698, "lba_512": 223498, "n_512": 16, "op": WRITE, "flags": SYNC},
        {"t_ns": 400_000, "process": 698, "lba_512": 0, "n_512": 0, "op": FLUSH, "flags": SYNC},
    ]
    traces.write_parquet(trace, tmp_path / "trace.parquet")
    assert traces.digest(tmp_path / "trace.parquet") == traces.digest(path)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "trace.blk"
    path.write_text(TEXT)
    before = traces.digest(path)
    path.write_text(TEXT.replace("+ 8", "+ 9"))
    os.utime(path, ns=(1, 1))
    assert traces.digest(path) != before


def test_a_bad_line_is_reported_with_file_line_and_value(tmp_path: Path) -> None:
    path = tmp_path / "broken.blk"
    path.write_text(TEXT.replace("223498", "22E498"))
    with pytest.raises(TraceError) as caught:
        traces.load(path)
    error = caught.value
    assert (error.code, error.source) == ("trace.bad-record", str(path))
    assert error.place.startswith("line 2, column ")
    assert (error.data["line"], error.data["value"]) == (2, "22E498")
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.blk", None),
        ("torn.xz", lzma.compress(TEXT.encode())[:-20]),
        ("torn.gz", gzip.compress(TEXT.encode())[:-20]),
        ("torn.parquet", b"PAR1 no more"),
    ],
    ids=["missing", "xz", "gzip", "parquet"],
)
def test_an_unreadable_file_is_named(tmp_path: Path, name: str, content: bytes | None) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TraceError) as caught:
        traces.load(path)
    assert (caught.value.code, caught.value.place) == ("trace.unreadable", str(path))


def test_a_compact_file_must_have_its_columns_without_nulls(tmp_path: Path) -> None:
    records = traces.table(traces.load(COMPACT)).slice(0, 10)
    pq.write_table(records.drop_columns(["op"]), tmp_path / "short.parquet")
    with pytest.raises(TraceError, match="trace.missing-column at op: "):
        traces.load(tmp_path / "short.parquet")
    holes = records.set_column(1, "process", pa.array([1] * 9 + [None], pa.uint32()))
    pq.write_table(holes, tmp_path / "holes.parquet")
    with pytest.raises(TraceError, match="trace.null-value at process: "):
        traces.load(tmp_path / "holes.parquet")
    strange = records.set_column(4, "op", pa.array([9] * 10, pa.uint8()))
    pq.write_table(strange, tmp_path / "strange.parquet")
    with pytest.raises(TraceError, match="9"):
        traces.load(tmp_path / "strange.parquet")


def test_binding_sets_absolute_names_and_the_digest(tmp_path: Path) -> None:
    shutil.copy(COMPACT, tmp_path / "mine.parquet")
    arrival = {"kind": "trace", "file": "mine.parquet", "mode": "dependent"}
    scenario = {"workload": {"streams": [{"name": "replay", "arrival": arrival}]}}
    bound = traces.bind(scenario, tmp_path)["workload"]["streams"][0]["arrival"]
    assert bound["file"] == str(tmp_path / "mine.parquet")
    assert bound["digest"] == traces.digest(COMPACT)
    assert "digest" not in arrival
    arrival["digest"] = "00"
    with pytest.raises(TraceError, match="^trace.changed "):
        traces.bind(scenario, tmp_path)
