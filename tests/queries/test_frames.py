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
    answers = frames.answers().select("controller.cache.capacity", "answer_mean").collect()
    assert answers.rows() == [(32 * 2**20, 32.0), (64 * 2**20, 42.0)]
    assert frames.runs().collect().height == 12
    assert frames.timeline().collect().columns == ["run_id", "step", "at_s", "event", "subject", "value"]
    assert frames.query("design_space").collect().height == 2


def test_a_missing_sweep_is_an_error(seek_session: Session) -> None:
    with pytest.raises(StoreError) as caught:
        destage.open("nowhere", seek_session.sweep.path.parents[1])
    assert (caught.value.code, caught.value.place) == ("store.unknown-sweep", "nowhere")


def test_queries_do_not_import_polars_or_ray() -> None:
    code = "import sys, destage.queries; print({'polars', 'ray'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
