"""Read-only statements of the page's SQL box, with the sandbox and the limits of `destage query`.

Their rows are encoded as in a table on a terminal, and no more of them than a browser can show.
"""

import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from queue import Empty, LifoQueue
from typing import Any

import pyarrow as pa

from destage.errors import QueryError
from destage.objects import Location
from destage.queries import Session, open_session
from destage.queries.text.presentation import present
from destage.server.sweep_observer import SweepObserver, Version
from destage.sql import QueryLimits

MOST_ROWS = 1_000
"""Rows of a result that the page shows."""
MOST_BYTES = 4 << 20
"""The size in memory of the rows that the page shows, of all statements of a request [bytes]."""
_LONGEST = 2_000
"""Longest text of a cell [characters]."""


def encode_result(table: pa.Table, units: Mapping[str, str], room: int) -> tuple[dict[str, Any], int]:
    """Return headings, cells and what was left out as JSON values, and the size of the rows [bytes].

    Args:
        room: The size that the rows may have [bytes].

    Raises:
        QueryError: Not even the first row fits, or a value has no text.
    """
    count = min(table.num_rows, MOST_ROWS)
    while count > 1 and table.slice(0, count).nbytes > room:
        count //= 2
    shown = table.slice(0, count)
    if shown.nbytes > room:
        message = f"the rows need more than {MOST_BYTES >> 20} MiB; select fewer or shorter values"
        raise QueryError("query.row-too-large", message, data={"limit_bytes": MOST_BYTES})
    cells = present(shown, units)
    result = {
        "headings": [
            {"title": heading.title, "name": heading.column, "is_number": heading.is_number}
            for heading in cells.headings
        ],
        "rows": [[_shorten(cell) for cell in row] for row in cells.rows],
        "row_count": table.num_rows,
        "left_out": table.num_rows - count,
    }
    return result, shown.nbytes


def _shorten(cell: str) -> str:
    return cell if len(cell) <= _LONGEST else f"{cell[: _LONGEST - 1]}…"


CONCURRENT = 2
"""Statements that run at the same time, each within the limits."""
_SHARE = 4.0
"""How long a session is kept after new commits, as a multiple of the time that opening it took."""
_TICK_S = 0.05


class Execution:
    """One request of the SQL box, which another thread may cancel."""

    def __init__(self) -> None:
        self._is_cancelled = threading.Event()
        self._has_ended = threading.Event()
        self._session: Session | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for the result."""
        return self._is_cancelled.is_set()

    def start(self, session: Session) -> None:
        """Name the session that `cancel` interrupts."""
        self._session = session

    def end(self) -> None:
        """Make `cancel` return."""
        self._has_ended.set()

    def cancel(self) -> None:
        """Interrupt the statement until it has ended: an interrupt before it begins has no effect."""
        self._is_cancelled.set()
        while not self._has_ended.wait(_TICK_S):
            if (session := self._session) is not None:
                session.interrupt()


class _Seat:
    """A session for one statement at a time, opened again after commits."""

    def __init__(self) -> None:
        self.opened_at = datetime.fromtimestamp(0, UTC)
        self._session: Session | None = None
        self._version: Version | None = None
        self._fresh_until = 0.0

    def open(self, path: Location, version: Version, limits: QueryLimits) -> Session:
        is_stale = version != self._version and time.monotonic() >= self._fresh_until
        if self._session is None or is_stale:
            self.close()
            began, self.opened_at = time.monotonic(), datetime.now(UTC)
            self._session = open_session(path, limits)
            self._version = version
            self._fresh_until = time.monotonic() + _SHARE * (time.monotonic() - began)
        return self._session

    def leave(self) -> None:
        """End the use of the session; one with a statement that cannot be stopped is not used again."""
        if self._session is not None and self._session.is_abandoned:
            self.close()

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None


class StatementRunner:
    """Runs statements over the rows that are committed when they start."""

    def __init__(self, path: Location, limits: QueryLimits, observer: SweepObserver) -> None:
        self._path = path
        self._limits = limits
        self._observer = observer
        self._seats: LifoQueue[_Seat] = LifoQueue()
        self._running: set[Execution] = set()
        self._is_closed = False
        for _ in range(CONCURRENT):
            self._seats.put(_Seat())

    def run(self, text: str, execution: Execution) -> dict[str, Any]:
        """Run the statements of a text and return their results as JSON values.

        Raises:
            DestageError: A statement is not read-only, fails or exceeds a limit, or other statements did not
                end in time.
        """
        self._running.add(execution)
        try:
            seat = self._take_seat(execution)
            try:
                return self._run(text, execution, seat)
            finally:
                seat.leave()
                self._leave(seat)
        finally:
            self._running.discard(execution)
            execution.end()

    def _run(self, text: str, execution: Execution, seat: _Seat) -> dict[str, Any]:
        session = seat.open(self._path, self._observer.latest.version, self._limits)
        # Before a cancellation can interrupt the statement that counts the missing runs.
        warnings = [str(issue) for issue in session.warnings]
        execution.start(session)
        began = time.monotonic()
        results: list[dict[str, Any]] = []
        room = MOST_BYTES
        for statement in session.split(text):
            if execution.is_cancelled:
                break
            # The limits are those of the request, however many statements it has.
            rows = session.run(statement, max(self._limits.seconds - (time.monotonic() - began), _TICK_S))
            shown, sentence = session.public.narrow(rows)
            result, size = session.render(partial(encode_result, shown, session.public.units, room))
            room -= size
            results.append(result | {"remark": sentence})
        return {
            "results": results,
            "seconds": time.monotonic() - began,
            "as_of": seat.opened_at.isoformat(timespec="seconds"),
            "warnings": warnings,
        }

    def _take_seat(self, execution: Execution) -> _Seat:
        deadline = time.monotonic() + self._limits.seconds
        while not (execution.is_cancelled or self._is_closed) and time.monotonic() < deadline:
            try:
                return self._seats.get(timeout=_TICK_S)
            except Empty:
                continue
        message = f"{CONCURRENT} other statements are running; try again when they have ended"
        raise QueryError("query.busy", message, data={"limit": CONCURRENT})

    def _leave(self, seat: _Seat) -> None:
        if self._is_closed:
            seat.close()
        else:
            self._seats.put(seat)

    def close(self) -> None:
        """End running statements and close the sessions; no statement can be run afterwards."""
        self._is_closed = True
        for execution in list(self._running):
            execution.cancel()
        while True:
            try:
                self._seats.get_nowait().close()
            except Empty:
                return
