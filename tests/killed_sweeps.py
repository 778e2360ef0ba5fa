"""Sweeps whose process ends while they write."""

from pathlib import Path

import pytest

from destage import sweeps
from destage.store.files import durable
from destage.sweeps import Study


def run_until_killed(study: Study, store: Path, files: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a study in process until it has written some files, and end it before the next has its name."""
    left = [files]

    def end(name: str) -> None:
        left[0] -= name == "before_rename"
        if left[0] < 0:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(durable, "pass_point", end)
        with pytest.raises(KeyboardInterrupt):
            sweeps.run(study, store, executor="inline", workers=1)
