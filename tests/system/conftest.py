"""A sweep with several planning rounds, run by a driver in another process that tests can kill."""

import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from chaos.zygote import RAY_TOKEN, Session, Zygote, run_zygote
from small_studies import small_seek

from destage import sweeps
from destage.engine import results_schema
from destage.store import Location, open_sweep
from destage.store.files.layout import SweepLayout, list_sizes
from destage.store.files.parquet import read_parquet

_LEASE_S = 8.0
"""The age at which a lease in a bucket expires, which outlives its holder [s]."""
_LIMIT_S = 300.0


@dataclass(frozen=True)
class KillableSweep:
    """A sweep, and its result after an uninterrupted run.

    Attributes:
        study: The study's file.
        reference: The sweep's directory after an uninterrupted run.
        zygote: The process that forks drivers: their imports would take most of their time.
    """

    study: Path
    reference: Path
    zygote: Zygote

    def start(
        self,
        store: Location,
        executor: str = "inline",
        *,
        holds_rows: bool = False,
        merges: bool = False,
        **env: str,
    ) -> Session:
        """Start a driver, which opens the store at once; see `chaos.driver` for its options."""
        return self.zygote.fork(
            "driver",
            self.study.parent / f"{secrets.token_hex(8)}.log",
            {**os.environ, **RAY_TOKEN, **env},
            study=str(self.study),
            store=str(store),
            executor=executor,
            lease_s=_LEASE_S,
            holds_rows=holds_rows,
            merges=merges,
        )

    def finish(self, store: Location, executor: str = "inline", **options: bool) -> None:
        """Run a driver to its end, after the lease of a killed one has expired."""
        for _ in range(20):
            driver = self.start(store, executor, **options)
            code, errors = driver.wait(_LIMIT_S), driver.errors.read_text()
            if isinstance(store, Path) or "store.locked" not in errors:
                break
            time.sleep(1)
        assert code == 0, errors

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
def zygote() -> Iterator[Zygote]:
    """Run the process that forks drivers."""
    with run_zygote() as running:
        yield running


@pytest.fixture(scope="session")
def killable(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> KillableSweep:
    """Return a sweep of about fifty short runs in ten rounds."""
    text = small_seek("killable", [1, 2], 200, requests=1000, replicates=2)
    return make_killable(tmp_path_factory.mktemp("killable"), text, zygote)


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> KillableSweep:
    """Return a sweep of about a hundred longer runs."""
    text = small_seek("killable", [1, 2], 200, requests=20_000, replicates=6)
    return make_killable(tmp_path_factory.mktemp("large"), text, zygote)


def make_killable(folder: Path, text: str, zygote: Zygote) -> KillableSweep:
    """Write a study and run it without an interruption."""
    study = folder / "killable.yaml"
    study.write_text(text)
    outcome = sweeps.run(sweeps.load_study(study), folder / "reference", executor="inline", workers=2)
    assert outcome.state == "finished"
    assert isinstance(outcome.path, Path)
    return KillableSweep(study, outcome.path, zygote)
