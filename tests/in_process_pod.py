"""A pod beside the results, played by this process: the same commands, and what they print may be spoilt."""

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

import pytest

from destage.cli import app
from destage.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable


class Pod:
    """A pod whose results are in a store that this process reaches.

    Attributes:
        store: The store, as the pod sees it.
        asked: The commands so far.
        spoil: Changes what a command printed.
    """

    def __init__(self, store: object) -> None:
        self.store = str(store)
        self.asked: list[tuple[str, ...]] = []
        self.spoil: Callable[[tuple[str, ...], bytes], bytes] = lambda _, data: data

    def break_off(self, number: int) -> None:
        """Have the tar of this number, counted from now, end in its middle."""
        tars = 0

        def halve(command: tuple[str, ...], data: bytes) -> bytes:
            nonlocal tars
            tars += is_tar(command)
            return data[: len(data) // 2] if is_tar(command) and tars == number else data

        self.spoil = halve

    def ask(self, *command: str) -> bytes:
        self.asked.append(command)
        assert command[0] == "destage"
        return self.spoil(command, destage(*command[1:]))


def is_tar(command: tuple[str, ...]) -> bool:
    """Return whether a command asks for files, and not for their list."""
    return "pack" in command and "--list" not in command


def destage(*args: str) -> bytes:
    """Run the command line in this process and return what it prints."""
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        app([*args])
    if ended.value.code:
        raise ClusterError(err.getvalue().strip())
    found: bytes = out.buffer.getvalue()  # type: ignore[attr-defined]
    return found
