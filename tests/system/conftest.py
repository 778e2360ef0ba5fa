"""A sweep with several planning rounds, run by a driver in another process that tests can kill."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_studies import small_seek

from destage import sweeps
from destage.engine import results_schema
from destage.store import Location, open_sweep
from destage.store.files.layout import SweepLayout, list_sizes
from destage.store.files.parquet import read_parquet

_DRIVER = """
import os, sys
from destage import sweeps
from destage.store import locate
from destage.store.fragment_files import merging
from destage.store.locks import object_lease
from destage.sweeps.execution import driver
merging.FAN_IN = int(os.environ.get("FAN_IN", merging.FAN_IN))
driver.EAGER = int(os.environ.get("EAGER_BATCHES", driver.EAGER))
# A lease in a bucket outlives its holder; shortened here.
object_lease.RENEWAL_S, object_lease.EXPIRY_S, object_lease.TRUST_S = 0.5, 8.0, 6.0
study = sweeps.load_study(sys.argv[1])
store = locate(sys.argv[2])
print("ready", flush=True)
outcome = sweeps.run(study, store, executor=sys.argv[3], workers=2)
print(*outcome.messages, sep="\\n", file=sys.stderr)
sys.exit(outcome.exit_code)
"""


@dataclass(frozen=True)
class KillableSweep:
    """A sweep, and its result after an uninterrupted run.

    Attributes:
        study: The study's file.
        reference: The sweep's directory after an uninterrupted run.
    """

    study: Path
    reference: Path

    def start(self, store: Location, executor: str = "inline", **env: str) -> "subprocess.Popen[bytes]":
        """Start a driver; returns just before the driver opens the store."""
        driver = subprocess.Popen(
            [sys.executable, "-c", _DRIVER, self.study, str(store), executor],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **env},
        )
        assert driver.stdout is not None
        assert driver.stdout.readline() == b"ready\n"
        return driver

    def finish(self, store: Location, executor: str = "inline", env: Mapping[str, str] | None = None) -> None:
        """Run a driver to its end, after the lease of a killed one has expired."""
        for _ in range(20):
            driver = self.start(store, executor, **(env or {}))
            _, errors = driver.communicate(timeout=300)
            if isinstance(store, Path) or b"store.locked" not in errors:
                break
            time.sleep(1)
        assert driver.returncode == 0, errors.decode()

    def assert_complete(self, store: Location, *, once_on_disk: bool = True) -> None:
        """Assert that a store holds each run once and equals the uninterrupted result byte for byte."""
        path = store / "sweeps" / self.reference.name
        layout = SweepLayout(path)
        sweep, reference = open_sweep(path), open_sweep(self.reference)
        names = ["run_id", *results_schema().names]
        rows = sweep.rows().select(names)
        assert rows.num_rows == len(set(rows["run_id"].to_pylist()))
        # repr distinguishes any two floats, and equals for NaN.
        assert repr(rows.to_pylist()) == repr(reference.rows().select(names).to_pylist())
        rounds = [(place.name[16:], place.read_bytes()) for place in sweep.plan_files()]
        assert rounds == [(place.name[16:], place.read_bytes()) for place in reference.plan_files()]
        assert sweep.answers().equals(reference.answers())
        assert sweep.certificates().equals(reference.certificates())
        assert not list(list_sizes(layout.quarantine))
        fragments = [path for path, _ in list_sizes(layout.fragments)]
        if not once_on_disk:
            # Ray's workers outlive a killed driver briefly and may leave a temporary file after the resume
            # has looked; the next writer removes it (tests/store).
            fragments = [path for path in fragments if path.suffix != ".tmp"]
        assert all(fragment.suffix == ".parquet" for fragment in fragments)
        if once_on_disk:
            assert sum(read_parquet(fragment).num_rows for fragment in fragments) == rows.num_rows
        status = sweeps.status(path)
        assert status.finished
        assert status.present == status.planned == rows.num_rows

    def assert_same_tables(self, store: Path) -> None:
        """Assert that a store is complete and has the tables of the uninterrupted calibration."""
        self.assert_complete(store)
        paths = (store / "sweeps" / self.reference.name, self.reference)
        found, expected = (open_sweep(path).analyses() for path in paths)
        assert found.keys() == expected.keys()
        for name, table in found.items():
            assert repr(table.to_pylist()) == repr(expected[name].to_pylist()), name


@pytest.fixture(scope="session")
def killable(tmp_path_factory: pytest.TempPathFactory) -> KillableSweep:
    """Return a sweep of about fifty short runs in ten rounds."""
    return _make(tmp_path_factory.mktemp("killable"), requests=1000, replicates=2)


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> KillableSweep:
    """Return a sweep of about a hundred longer runs."""
    return _make(tmp_path_factory.mktemp("large"), requests=20_000, replicates=6)


def _make(folder: Path, requests: int, replicates: int) -> KillableSweep:
    study = folder / "killable.yaml"
    study.write_text(small_seek("killable", [1, 2], 200, requests=requests, replicates=replicates))
    outcome = sweeps.run(sweeps.load_study(study), folder / "reference", executor="inline", workers=2)
    assert outcome.state == "finished"
    return KillableSweep(study, outcome.path)
