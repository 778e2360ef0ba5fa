"""A writer that is paused at any write, while another one finishes the sweep, damages nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from destage import sweeps
from destage.engine import results_schema
from destage.errors import StoreError
from destage.store import open_sweep
from destage.store.files import durable
from destage.store.fragment_files import adoption, fragments
from destage.store.locks.lease import FileLease
from destage.store.state import head
from destage.sweeps import Study, verify
from destage.sweeps.execution import api, sweep_session
from destage.sweeps.workers import executors

MakeStudy = Callable[..., Study]
SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 60ms"], "max": 500}
DISKS = "array.disks"


@contextmanager
def _no_lease(_: object) -> Iterator[FileLease]:
    """Let a process in whose lease has expired without its knowledge."""
    yield FileLease()


def _seen(path: Path) -> dict[str, Any]:
    """Return everything that a reader sees of a sweep, but for host and time."""
    sweep = open_sweep(path)
    return {
        "study": sweep.spec(),
        "plan": sweep.plan().to_pylist(),
        "answers": sweep.answers().to_pylist(),
        "certificates": sweep.certificates().to_pylist(),
        "rows": sweep.rows().select(["run_id", *results_schema().names]).to_pylist(),
    }


@pytest.mark.parametrize("point", durable.NAMES)
@pytest.mark.parametrize("count", [1, 2])
def test_a_paused_writer_damages_nothing(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, count: int
) -> None:
    few, more = make_study(seek=SEEK, axes={DISKS: [1]}), make_study(seek=SEEK, axes={DISKS: [1, 2]})
    passed: list[str] = []
    after: list[dict[str, Any]] = []
    monkeypatch.setattr(api, "hold_lease", _no_lease)
    # Both writers have one process id here, by which each would take the other's temporary files for its own.
    for module in (adoption, sweep_session):
        monkeypatch.setattr(module, "remove_orphans", lambda _: None)

    def pause(name: str) -> None:
        passed.append(name)
        if not after and passed.count(point) == count:
            after.append({})  # the other writer passes the same points
            outcome = sweeps.run(more, tmp_path, executor="inline", workers=1)
            assert outcome.state == "finished"
            after[0] = _seen(outcome.path)

    for module in (durable, fragments, head, executors):
        monkeypatch.setattr(module, "pass_point", pause)
    # A writer that was past its last check ends without knowing.
    with suppress(StoreError):
        sweeps.run(few, tmp_path, executor="inline", workers=1)
    (path,) = (tmp_path / "sweeps").iterdir()
    assert after, "the writer never came to this point"
    assert _seen(path) == after[0]
    assert sweeps.status(path).finished
    assert verify(path, sample=1.0).problems == ()
