"""The benchmarks of planning, driving and reading do what their titles say, at a small size."""

from pathlib import Path

import script_modules

from destage.store.adoption import adopt_fragments
from destage.store.manifests import Manifest
from destage.store.rows import read_rows

ORCHESTRATION = script_modules.load_script("benchmarks/orchestration.py")


def test_every_run_of_the_plan_is_settled_in_batches_of_the_size_asked_for(tmp_path: Path) -> None:
    text = ORCHESTRATION.GRIDS["backups, three traces"]
    points, plan = ORCHESTRATION.planned(text)
    assert len(plan) == 5 * points
    found, mean = ORCHESTRATION.driving(plan, ("events",), 13, tmp_path, 1)
    assert found.count * mean == len({run.run_id for run in plan})
    # The first batch is a pilot and the last ones are short.
    assert 10 < mean <= 13


def test_what_is_held_grows_with_what_is_kept_of_a_row(tmp_path: Path) -> None:
    text = ORCHESTRATION.GRIDS["backups, three traces"]
    few = ORCHESTRATION.held(text, ("events",), tmp_path)
    many = ORCHESTRATION.held(text, tuple(f"column_{number}" for number in range(41)), tmp_path)
    assert 40 * 24 < many - few < 40 * 200  # a float, and its place in a table
    assert few > 200  # an identity and a configuration at the least


def test_the_fragments_to_be_read_are_whole_and_named_by_no_index(tmp_path: Path) -> None:
    layout = ORCHESTRATION.written(tmp_path, 3, 4)
    assert adopt_fragments(layout, Manifest(layout)) == []
    rows = read_rows(layout)
    assert rows.num_rows == 12
    assert set(rows["status"].to_pylist()) == {"ok"}
