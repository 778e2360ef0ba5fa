"""Small inputs that stand for large ones are refused with a code; what is not a file is not opened."""

import gzip
import lzma
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.small_studies import small_study

from destage.engine import traces
from destage.engine.traces import trace_streams
from destage.errors import ConfigError, TraceError
from destage.spec.documents import MOST_VALUES, parse_document
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.stored_rows import read_rows
from destage.sweeps import parse_study, plan
from destage.sweeps.points.expander import MOST_RUNS

_ALIASES = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 9)
)
_MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{level}: &a{level} {{k{level}: 1, <<: [{', '.join([f'*a{level - 1}'] * 10)}]}}\n"
    for level in range(1, 9)
)
COLUMNS = {"t_ns": "u8", "process": "u4", "lba_512": "u8", "n_512": "u4", "op": "u1", "flags": "u1"}


@pytest.mark.parametrize("text", [_ALIASES, _MERGES])
def test_expansion_by_aliases_is_counted(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_document(text, "bomb.yaml", "study")
    assert caught.value.code == "study.too-large"
    assert f"{MOST_VALUES:,}" in caught.value.message


def test_a_few_aliases_are_allowed() -> None:
    assert parse_document("a: &a [1, 2]\nb: *a\nc: {<<: {d: 1}}", "x", "study") == {
        "a": [1, 2],
        "b": [1, 2],
        "c": {"d": 1},
    }


def test_points_times_replicates_are_bounded(tmp_path: Path) -> None:
    axis = "workload.users: {range: [1, 1000, 1]}"
    study = parse_study(small_study("many", axis, replicates=MOST_RUNS // 1000 + 1))
    with pytest.raises(ConfigError) as caught:
        plan(study, tmp_path)
    assert (caught.value.code, caught.value.place) == ("study.too-many-runs", "replicates")
    assert f"{1000 * (MOST_RUNS // 1000 + 1):,} runs" in caught.value.message


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_an_archive_larger_than_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: "type[bytes]"
) -> None:
    monkeypatch.setattr(traces, "read_memory_size", lambda: 4 << 20)
    file = tmp_path / "bomb"
    line = b"128166372003061629,usr,0,Read,7014609920,24576,41286\n"
    file.write_bytes(pack(line * 100_000))
    with pytest.raises(TraceError) as caught:
        traces.load(file)
    assert caught.value.code == "trace.beyond-memory"
    assert trace_streams.profile(file)["records"] == 100_000, "a profile needs little memory"


def test_a_parquet_file_larger_than_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "read_memory_size", lambda: 4 << 20)
    columns = {
        name: pa.repeat(pa.scalar(1, pa.from_numpy_dtype(kind)), 1_000_000) for name, kind in COLUMNS.items()
    }
    file = tmp_path / "bomb.parquet"
    pq.write_table(pa.table(columns), file)
    assert file.stat().st_size < 100_000
    with pytest.raises(TraceError) as caught:
        traces.load(file)
    assert caught.value.code == "trace.beyond-memory"


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_trace_that_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "trace"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/zero")
    for read in (
        traces.load,
        trace_streams.profile,
        lambda path: trace_streams.convert(path, tmp_path / "out.parquet"),
    ):
        with pytest.raises(TraceError) as caught:
            read(place)
        assert caught.value.code == "trace.not-a-file"


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_fragment_that_is_no_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    layout = SweepLayout(tmp_path / "sweeps" / "x-1")
    layout.make()
    place = layout.fragments / f"{'0' * 32}.parquet"
    os.mkfifo(place) if kind == "pipe" else place.symlink_to("/dev/zero")
    assert read_rows(layout).num_rows == 0


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"a": [1]}, "trace.missing-column"),
        ({name: ["x"] for name in COLUMNS}, "trace.bad-column"),
        ({name: pa.array([None], pa.int64()) for name in COLUMNS}, "trace.null-value"),
        ({**{name: [0] for name in COLUMNS}, "op": [9]}, "trace.bad-value"),
    ],
)
def test_conversion_from_parquet_checks_what_a_profile_checks(
    tmp_path: Path, columns: dict[str, object], code: str
) -> None:
    file, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table(columns), file)
    found = []
    for read in (trace_streams.profile, lambda path: trace_streams.convert(path, out)):
        with pytest.raises(TraceError) as caught:
            read(file)
        found.append(caught.value.code)
    assert found[0] == found[1] == code
    assert not out.exists()
