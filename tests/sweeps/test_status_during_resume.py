"""Status counts the rows while a writer repeats runs whose fragment was damaged."""

from collections.abc import Callable
from pathlib import Path

from destage import sweeps
from destage.store.files.layout import SweepLayout
from destage.store.locks.lease import hold_lease
from destage.sweeps import Study


def test_a_sweep_whose_runs_are_repeated_is_unfinished(
    make_study: Callable[..., Study], tmp_path: Path
) -> None:
    path = Path(str(sweeps.run(make_study(replicates=3), tmp_path, executor="inline").path))
    with hold_lease(SweepLayout(path).lease):
        assert sweeps.status(path).finished
        next((path / "fragments").glob("*.parquet")).unlink()
        found = sweeps.status(path)
        assert found.writer is not None
        assert not found.finished
        assert found.present < found.planned
