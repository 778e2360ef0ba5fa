"""Recorded samples in the formats of their publishers have their known statistics, loaded and streamed."""

import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from external_data import require_shared

from destage.engine import traces
from destage.engine.traces import trace_streams
from destage.engine.traces.delimited import Delimited
from destage.errors import TraceError

EXAMPLES = Path(__file__).with_name("trace_examples")


def sample(name: str) -> Path:
    return require_shared(f"traces/{name}")


def profile(name: str) -> dict[str, Any]:
    return trace_streams.profile(sample(name))


def problems(found: dict[str, Any]) -> dict[str, int]:
    return {problem["code"]: problem["count"] for problem in found["problems"]}


def test_msr() -> None:
    found = profile("msr-hm0-1000.csv")
    assert (found["format"], found["reads"], found["writes"]) == ("msr", 508, 492)
    assert found["duration_s"] == pytest.approx(127.23, abs=0.005)
    assert found["response"]["known"] == 1000
    assert found["response"]["mean_ms"] == pytest.approx(0.989, abs=5e-4)
    assert (found["read_bytes"] + found["written_bytes"]) / 1000 == pytest.approx(9_689.6, abs=0.05)


@pytest.mark.parametrize(
    ("name", "form"), [("cloudPhysicsIO.vscsi.xz", "vscsi_v1"), ("cloudPhysicsIO.csv.xz", "cloudphysics_csv")]
)
def test_cloud_physics(name: str, form: str) -> None:
    found = profile(name)
    assert found["format"] == form
    assert (found["records"], found["writes"], found["reads"]) == (113_872, 66_898, 46_974)
    assert found["read_bytes"] + found["written_bytes"] == 4_205_978_112
    assert int(found["start_s"]) == 5_633_898
    assert int(found["start_s"] + found["duration_s"]) == 5_641_098
    assert found["touched"]["sampled_one_in"] == 1
    assert found["touched"]["footprint_bytes"] == 269_210 * 4096
    assert found["touched"]["re_reference_share"] == pytest.approx(1 - 269_210 / 1_141_869, abs=1e-12)


def test_cloud_physics_is_equal_in_two_formats() -> None:
    binary, text = (
        traces.table(traces.load(sample(f"cloudPhysicsIO.{kind}.xz"))) for kind in ("vscsi", "csv")
    )
    names = ["lba_512", "n_512", "op"]
    assert len(binary["lba_512"].unique()) == 48_974
    # The text has whole seconds, so its order within a second may differ from the binary form.
    order = [(name, "ascending") for name in names]
    assert binary.select(names).sort_by(order).equals(text.select(names).sort_by(order))


def test_oracle_general() -> None:
    found = profile("cloudPhysicsIO.oracleGeneral.bin.xz")
    assert (found["format"], found["records"], found["reads"]) == ("oracle_general", 113_872, 113_872)
    table = traces.table(traces.load(sample("cloudPhysicsIO.oracleGeneral.bin.xz")))
    assert len(table["lba_512"].unique()) == 48_974


def test_pgbench() -> None:
    found = profile("captured/pgbench.blk.xz")
    assert (found["format"], found["records"], found["flushes"]) == ("blkparse", 229_916, 31_322)
    assert found["reads"] + found["writes"] == 198_594
    assert found["writes_per_s"] == pytest.approx(2003, abs=1)
    assert found["peak_writes_per_s"] == 9_117
    assert found["processes"] == 18


def test_disksim() -> None:
    found = profile("disksim/disksim-ascii-head5000.trace")
    assert (found["format"], found["records"]) == ("disksim", 5_000)


@pytest.mark.parametrize(
    ("name", "reads", "mean_ms"), [("cheetah9LP", 6_594, 4.273), ("atlas10k", 6_569, 3.893)]
)
def test_disksim_validate(name: str, reads: int, mean_ms: float) -> None:
    found = profile(f"disksim/{name}.trace.xz")
    assert (found["format"], found["reads"], found["writes"]) == ("disksim_validate", reads, 10_000 - reads)
    assert found["response"]["mean_ms"] == pytest.approx(mean_ms, abs=5e-4)


def test_systor_is_sorted() -> None:
    found = profile("systor17-lun0-999.csv")
    assert (found["format"], found["records"]) == ("systor17", 999)
    assert problems(found)["trace.out-of-order"] > 100
    assert traces.load(sample("systor17-lun0-999.csv")).columns()["response_ns"]


def test_tencent_is_sorted_and_spread() -> None:
    found = profile("tencent-5000.csv")
    assert (found["format"], found["records"]) == ("tencent", 5_000)
    assert sum(volume["reads"] + volume["writes"] for volume in found["volumes"]) == 5_000
    assert len(found["volumes"]) > 10
    assert found["rate"]["gap_cv"] < 2


@pytest.mark.parametrize(
    ("name", "form", "count"),
    [
        ("alibaba-io_traces.csv", "alibaba", 3),
        ("blkparse.txt", "blkparse", 1),
        ("fio-iolog-v2.log", "fio_iolog", 4),
        ("fio-iolog-v3.log", "fio_iolog", 4),
        ("spc-umass.txt", "spc", 5),
    ],
)
def test_examples(name: str, form: str, count: int) -> None:
    """Hand-written lines in the documented formats."""
    found = trace_streams.profile(EXAMPLES / name)
    assert (found["format"], found["records"]) == (form, count)


def test_whole_times_far_apart_are_nanoseconds() -> None:
    """MQSim's columns are those of DiskSim, whose times are in milliseconds."""
    found = trace_streams.profile(EXAMPLES / "mqsim-ns.trace")
    assert (found["format"], found["records"], found["writes"]) == ("mqsim", 4, 2)
    assert (found["duration_s"], found["problems"]) == (0.008, [])
    named = trace_streams.profile(EXAMPLES / "mqsim-ns.trace", format_name="disksim")
    assert (named["duration_s"], problems(named)) == (8000.0, {"trace.doubtful-times": 1})


def test_validate_traces_have_doub_and_trip() -> None:
    found = trace_streams.profile(EXAMPLES / "disksim-validate-doub-trip.trace")
    assert (found["format"], found["reads"], found["writes"]) == ("disksim_validate", 1, 2)


def test_one_may_stand_for_a_read() -> None:
    """As in the traces of DiskSim and MQSim, and in exports."""
    for columns, first in (("time,op,offset,size", "w"), ("time,is_read,offset,size", "r")):
        trace = traces.load(EXAMPLES / "op-1-means-read.csv", columns=Delimited(columns, "size=sectors"))
        operations = traces.table(trace)["op"].to_pylist()
        assert operations == ([0, 1] if first == "r" else [1, 0])
    both = Delimited("time,op,is_read,offset,size")
    with pytest.raises(TraceError, match="not both"):
        traces.load(EXAMPLES / "op-1-means-read.csv", columns=both)


def test_a_trace_without_queue_events_says_how_to_record_them() -> None:
    with pytest.raises(TraceError, match="blktrace -a queue") as caught:
        trace_streams.profile(EXAMPLES / "blkparse-issue-complete-only.txt")
    assert caught.value.code == "trace.empty"


@pytest.mark.parametrize(
    "name",
    ["msr-hm0-1000.csv", "systor17-lun0-999.csv", "tencent-5000.csv", "cloudPhysicsIO.csv.xz"],
)
def test_streaming_conversion_equals_loading(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    done = trace_streams.convert(sample(name), out)
    whole = traces.load(sample(name))
    assert done["records"] == len(whole)
    assert traces.table(traces.load(out)).equals(traces.table(whole))
    assert traces.digest(out) == traces.digest(sample(name))
    found, again = trace_streams.profile(sample(name)), trace_streams.profile(out)
    for key in ("records", "read_bytes", "touched", "rate", "response", "volumes", "sequential_share"):
        assert found[key] == again[key], key
    assert list(tmp_path.iterdir()) == [out]


def test_one_volume_of_a_trace(tmp_path: Path) -> None:
    path = sample("tencent-5000.csv")
    whole = traces.load(path)
    volumes = {number: (base, length) for number, base, length in whole.volumes()}
    assert 1063 in volumes
    assert all(base % 2048 == 0 for base, _ in volumes.values())
    one = traces.load(path, volume=1063)
    assert one.volumes() == []
    out = tmp_path / "one.parquet"
    trace_streams.convert(path, out, volume=1063)
    assert traces.digest(out) == traces.digest(path, volume=1063)
    trace_streams.convert(path, tmp_path / "all.parquet")
    # Read alone, its requests are spread over their seconds without those of other volumes.
    among = traces.table(traces.load(tmp_path / "all.parquet", volume=1063)).drop_columns(["t_ns"])
    assert among.equals(traces.table(one).drop_columns(["t_ns"]))
    with pytest.raises(TraceError, match="trace.empty"):
        traces.load(path, volume=5)


def test_a_zstd_file_of_several_frames_is_read(tmp_path: Path) -> None:
    text = b"0,1,512,W,1.0\n1,2,512,R,2.0\n" * 20_000
    path = tmp_path / "t"
    with pa.CompressedOutputStream(str(path), "zstd") as out:
        out.write(text)
    assert len(traces.load(path)) == 40_000
    path.write_bytes(lzma.compress(text) + bytes(8) + lzma.compress(text))
    assert len(traces.load(path)) == 80_000
