"""What a watch of a job shows: the states of the job, of its driver and of its rows side by side."""

import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from destage.cli.terminal.output import has_terminal, print_note
from destage.cli.terminal.progress_line import describe_progress
from destage.spec.control_characters import escape_controls

if TYPE_CHECKING:
    from rich.status import Status

    from destage.sweeps import Progress

_ROWS_INTERVAL_S, _SIGN_OF_LIFE_S = 30.0, 300.0
"""Shortest time between two lines that differ in the rows only, and longest time without a line [s]."""


@dataclass(frozen=True, slots=True)
class WatchState:
    """The three states.

    Attributes:
        job: The state of the job.
        driver: When the driver last gave a sign of life.
        progress: The rows as last seen, if ever.
    """

    job: str
    driver: str
    progress: "Progress | None"


class WatchDisplay:
    """Shows the states within a `with` block; call it with each observation.

    On a terminal it is one line that changes. Otherwise a line is printed when the job's state or the rows
    change, and every few minutes.
    """

    def __init__(self, name: str, *, is_quiet: bool = False) -> None:
        self._name = name
        self._is_quiet = is_quiet
        self._line: Status | None = None
        self._printed_at: float | None = None
        self._printed: tuple[str, bool, int] | None = None

    def __enter__(self) -> Self:
        if has_terminal() and not self._is_quiet:
            from rich.console import Console

            self._line = Console(stderr=True, highlight=False).status(self._name)
            self._line.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._line is not None:
            self._line.stop()

    def __call__(self, state: WatchState) -> None:
        """Show the states."""
        if self._is_quiet:
            return
        rows = describe_progress(state.progress) if state.progress else "no rows known"
        text = f"{self._name}: job {state.job}; driver: {state.driver}; {rows}"
        if self._line is not None:
            from rich.text import Text

            self._line.update(Text(escape_controls(text)))
        elif self._is_due(state):
            print_note(text)

    def _is_due(self, state: WatchState) -> bool:
        now = time.monotonic()
        done = state.progress.done if state.progress else -1
        key = (state.job, state.driver == "none", done)
        since = None if self._printed_at is None else now - self._printed_at
        is_due = (
            since is None
            or self._printed is None
            or key[:2] != self._printed[:2]
            or (key != self._printed and since >= _ROWS_INTERVAL_S)
            or since >= _SIGN_OF_LIFE_S
        )
        if is_due:
            self._printed_at, self._printed = now, key
        return is_due
