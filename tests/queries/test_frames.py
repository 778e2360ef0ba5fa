"""The views as polars LazyFrames."""

import subprocess
import sys

import polars as pl
import pytest

import destage
from destage.errors import StoreError
from destage.queries import Session


def test_frames_contain_the_views(seek_session: Session) -> None:
    frames = destage.open(str(seek_session.sweep.path))
    assert isinstance(frames.points(), pl.LazyFrame)
    answers = frames.answers().select("controller.cache.capacity", "users_supported").collect()
    assert answers.rows() == [(32 * 2**20, 32.0), (64 * 2**20, 42.0)]
    assert frames.runs().collect().height == 12
    assert frames.timeline().collect().columns == ["run_id", "step", "at_s", "event", "subject", "value"]
    assert frames.query("design_space").height == 2


def test_a_missing_sweep_is_an_error(seek_session: Session) -> None:
    with pytest.raises(StoreError) as caught:
        destage.open("nowhere", seek_session.sweep.path.parents[1])
    assert (caught.value.code, caught.value.place) == ("store.unknown-sweep", "nowhere")


def test_queries_do_not_import_polars_or_ray() -> None:
    code = "import sys, destage.queries; print({'polars', 'ray'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_frame_reads_only_the_columns_collected(
    seek_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    frames = destage.open(str(seek_session.sweep.path))
    stream = frames.session.stream

    def record(view: str, columns: list[str] | None = None) -> object:
        read.append(columns)
        return stream(view, columns)

    monkeypatch.setattr(frames.session, "stream", record)
    runs = frames.runs()
    assert read == []
    found = runs.filter(pl.col("response_p95_us") > 80_000).select("run_id").collect()
    assert sorted(found["run_id"].to_list()) == ["p0-0-60", "p0-1-68", "p1-0-80", "p1-1-88"]
    assert [sorted(columns or ["all"]) for columns in read] == [["response_p95_us", "run_id"]]
    assert runs.head(3).collect().height == 3
