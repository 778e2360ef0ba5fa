"""A write that the machine refuses is an infrastructure failure with one line, whichever process it hits."""

import errno
import os
import pickle
from pathlib import Path

import pytest

from destage.cli.application import _exit_code
from destage.errors import InfrastructureError, Issue, MachineError, StoreError
from destage.store.files.durable import write_durably
from destage.sweeps.workers.batches import Failure
from destage.sweeps.workers.machine_failures import explain_failure


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "system.disk-full"),
        (errno.EDQUOT, "system.disk-full"),
        (errno.EROFS, "system.permission-denied"),
    ],
)
def test_a_refused_write_ends_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(MachineError, match="^store.not-writable ") as caught:
        write_durably(tmp_path / "x", b"data")
    assert _exit_code(caught.value) == 4
    sent = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - as a worker sends it
    issue = explain_failure(sent)
    assert isinstance(issue, Issue)
    assert (issue.code, issue.place) == (code, str(tmp_path / "x"))


def test_a_failure_that_may_pass_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(MachineError) as caught:
        write_durably(tmp_path / "x", b"data")
    assert _exit_code(caught.value) == 4
    failure = explain_failure(caught.value)
    assert isinstance(failure, Failure)
    assert failure.kind == "infrastructure"


def test_a_wrong_path_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="^store.not-writable ") as caught:
        write_durably(tmp_path / "file" / "x", b"data")
    assert _exit_code(caught.value) == 1


def test_a_ray_that_does_not_start_may_start_later() -> None:
    assert _exit_code(InfrastructureError("sweep.ray-not-started", "too slow")) == 4
