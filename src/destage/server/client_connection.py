"""A connection of the server, which is closed if it sends no request in time.

Requests are refused once there are too many connections, so those that send none must not add up: each has a
time limit, and their number is limited.
"""

import asyncio
import time
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from asyncio import TimerHandle

_HEADERS_S = 10.0
"""Time that a connection has for the headers of a request, also after an earlier request [s]."""
_MOST_IDLE = 64
"""Connections without a request; the oldest is closed when there is another."""


class Connection(H11Protocol):
    """A connection whose time without a request is limited."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._idle_since: float | None = None
        self._end: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit, and close the oldest connection if too many have no request."""
        super().connection_made(transport)
        self._update()
        idle = [each for each in self.connections if isinstance(each, Connection) and each._idle_since]  # noqa: SLF001
        if len(idle) > _MOST_IDLE:
            min(idle, key=lambda each: each._idle_since or 0.0).abort()  # noqa: SLF001

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the time limit."""
        self._stop_timer()
        super().connection_lost(exc)

    def abort(self) -> None:
        """Close the connection at once."""
        self._stop_timer()
        self.transport.abort()

    def _update(self) -> None:
        """Start the time limit if no request is being answered, and stop it otherwise."""
        if self.transport.is_closing() or (self.cycle is not None and not self.cycle.response_complete):
            self._stop_timer()
        elif self._end is None:
            self._idle_since = time.monotonic()
            self._end = self.loop.call_later(_HEADERS_S, self.abort)

    def _stop_timer(self) -> None:
        self._idle_since = None
        if self._end is not None:
            self._end.cancel()
            self._end = None
