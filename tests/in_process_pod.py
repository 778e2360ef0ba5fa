"""A substitute for the reader pod that runs its commands in this process and can damage their output."""

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

import pytest

from destage.cli import app
from destage.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable


class InProcessPod:
    """A pod with access to a local store or a bucket.

    Attributes:
        store: The store, for `--store`.
        commands: The commands so far.
        damage: Changes the output of a command.
    """

    def __init__(self, store: object) -> None:
        self.store = str(store)
        self.commands: list[tuple[str, ...]] = []
        self.damage: Callable[[tuple[str, ...], bytes], bytes] = lambda _, data: data

    def truncate(self, number: int) -> None:
        """Truncate the tar archive of this number, counted from now."""
        tars = 0

        def halve(command: tuple[str, ...], data: bytes) -> bytes:
            nonlocal tars
            tars += is_tar(command)
            return data[: len(data) // 2] if is_tar(command) and tars == number else data

        self.damage = halve

    def run(self, *command: str) -> bytes:
        """Run a command in this process."""
        self.commands.append(command)
        assert command[0] == "destage"
        return self.damage(command, destage(*command[1:]))


def is_tar(command: tuple[str, ...]) -> bool:
    """Return whether a command prints a tar archive."""
    return "pack" in command and "--list" not in command


def destage(*args: str) -> bytes:
    """Run the command line in this process and return its standard output."""
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        app([*args])
    if ended.value.code:
        raise ClusterError("cluster.pod-command-failed", err.getvalue().strip())
    found: bytes = out.buffer.getvalue()  # type: ignore[attr-defined]
    return found
