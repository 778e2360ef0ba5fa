"""The first step of `make demo`: users against the write cache, with what the model misses beside it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from destage import sweeps
from destage.queries import open_session
from destage.queries.findings.answer_bars import draw_answer_bars

pytestmark = pytest.mark.xdist_group("demo")
STUDY = Path(__file__).parents[2] / "examples" / "users-against-cache.yaml"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the study once."""
    folder = tmp_path_factory.mktemp("demo") / "store"
    assert sweeps.run(sweeps.load_study(STUDY), folder, executor="inline").state == "finished"
    return folder


def test_users_rise_with_the_cache_only_with_a_battery(store: Path) -> None:
    (path,) = (store / "sweeps").iterdir()
    with open_session(path) as session:
        chart = draw_answer_bars(session)
        answers = session.sql("SELECT * FROM answers").to_pylist()
    assert chart is not None
    protected = [bar.share for bar in chart.bars if "present" in bar.series]
    assert protected == sorted(protected)
    assert protected[-1] == 1
    assert protected[0] < 0.6
    bare = {row["users_supported"] for row in answers if row["controller.battery.state"] == "absent"}
    assert len(bare) == 1
    assert 30 < bare.pop() < 48  # the 39 that the load is fitted on


def test_the_terminal_shows_80_columns_and_what_was_measured(store: Path) -> None:
    """The chart comes first; the 51 users of the paper are beside it, with their class."""
    command = [
        sys.executable,
        "-c",
        "from destage.cli import app; app()",
        "run",
        str(STUDY),
        "--store",
        str(store),
        "--quiet",
    ]
    environment = {**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    tables, _, sentences = out.rpartition("\n\n")
    assert out.startswith("Users supported")
    assert max(map(len, tables.splitlines())) <= 80
    (row,) = [line for line in tables.splitlines() if line.startswith("users, 64 MB")]
    assert "51 users" in row
    assert "not reproduced" in row
    assert "neither calibrated nor validated" in sentences
    assert "assumes 4 destages in flight" in sentences
