"""The benchmarks of planning, driving and reading, at a small size."""

from pathlib import Path

import script_modules

from destage.store.fragment_files.adoption import adopt_fragments
from destage.store.fragment_files.stored_rows import read_rows

ORCHESTRATION = script_modules.load_script("benchmarks/orchestration.py")


def test_all_runs_are_committed_in_batches_of_the_given_size(tmp_path: Path) -> None:
    text = ORCHESTRATION.GRIDS["backups, three traces"]
    points, plan = ORCHESTRATION.plan_round(text)
    assert len(plan) == 5 * points
    timing, mean = ORCHESTRATION.time_batches(plan, ("events",), 13, tmp_path, 1)
    assert timing.count * mean == len(plan["run_id"].unique())
    # The first batch is a pilot and the last ones are short.
    assert 10 < mean <= 13


def test_memory_grows_with_the_columns_kept_only_where_results_are_needed(tmp_path: Path) -> None:
    # As many runs of a fifth of the points, which take most of the time.
    grid = ORCHESTRATION.GRIDS["backups, three traces"]
    text = grid.replace("[1, 2, 4, 8, 16]", "[4]").replace("replicates: 5", "replicates: 25")
    columns = tuple(f"column_{number}" for number in range(40))

    def measure(columns: tuple[str, ...], *, keeps_facts: bool) -> float:
        return float(ORCHESTRATION.measure_memory(text, columns, tmp_path, keeps_facts=keeps_facts))

    grown = measure(columns, keeps_facts=True) - measure((), keeps_facts=True)
    assert 40 * 24 < grown < 40 * 200  # a float, and its place in a table
    without = [measure(kept, keeps_facts=False) for kept in ((), columns)]
    assert abs(without[1] - without[0]) < 40 * 8


def test_generated_fragments_are_valid_and_not_indexed(tmp_path: Path) -> None:
    layout = ORCHESTRATION.write_fragments(tmp_path, 3, 4)
    assert adopt_fragments(layout).warnings == []
    rows = read_rows(layout)
    assert rows.num_rows == 12
    assert set(rows["status"].to_pylist()) == {"ok"}
