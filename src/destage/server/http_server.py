"""The HTTP server: its socket, its threads, its connections, and its shutdown by a signal.

Requests are refused once there are too many connections, so those that send none must not add up: each has a
time limit, and their number is limited.
"""

import asyncio
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from destage.errors import UsageError
from destage.objects import Location, ObjectPath
from destage.server.access import AllowedHosts, Gate
from destage.server.live_report import LiveReport
from destage.server.statement_runner import StatementRunner
from destage.server.sweep_observer import SweepObserver
from destage.server.web_application import build_application
from destage.sql import QueryLimits

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
        idle = [
            connection
            for connection in self.connections
            if isinstance(connection, Connection) and connection._idle_since  # noqa: SLF001
        ]
        if len(idle) > _MOST_IDLE:
            min(idle, key=lambda connection: connection._idle_since or 0.0).abort()  # noqa: SLF001

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


class Repetition:
    """Calls a function, which returns the pause before its next call [s], until it is stopped."""

    def __init__(self, name: str, function: Callable[[], float]) -> None:
        self._function = function
        self._is_stopped = threading.Event()
        # A daemon, so that a call that does not end cannot keep the process alive.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        pause = 0.0
        while not self._is_stopped.wait(pause):
            pause = self._function()

    def request_stop(self) -> None:
        """Make no further call."""
        self._is_stopped.set()

    def join(self, seconds: float) -> bool:
        """Return whether the thread has ended within a time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()


_LOOK_S, _LOOK_IN_BUCKET_S = 1.0, 5.0
"""Polling interval of the sweep [s]; a bucket charges for each listing."""
_CONNECTIONS = 256
"""Connections at a time; further ones get the status 503."""
_END_S = 1.0
"""Time that threads have to end [s]."""
_TICK_S = 0.02
_INTERRUPTED = 130


def listen(address: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 is any free one.

    Raises:
        UsageError: The address is unknown here, or the port is in use.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise _unavailable(address, port, error) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen()
    except OSError as error:
        listener.close()
        raise _unavailable(address, port, error) from error
    return listener


def _unavailable(address: str, port: int, error: Exception) -> UsageError:
    reason = getattr(error, "strerror", None) or str(error)
    message = f"cannot listen on {address}, port {port}: {reason}"
    return UsageError("usage.address-unavailable", message, "--port", {"address": address, "port": port})


def serve_sweep(
    path: Location, listener: socket.socket, token: str, hosts: AllowedHosts, limits: QueryLimits
) -> None:
    """Serve a sweep until a signal arrives; only for the main thread.

    Args:
        limits: The limits of a statement in the SQL box.

    Raises:
        KeyboardInterrupt: SIGINT or SIGTERM arrived.
    """
    handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A folder of its own, so that copies of a bucket's objects are deleted even if a session stays open.
    folder, before = tempfile.mkdtemp(prefix="destage-serve-"), tempfile.tempdir
    tempfile.tempdir = folder
    try:
        _serve(path, listener, token, hosts, limits, folder)
    finally:
        tempfile.tempdir = before
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(signal.SIGTERM, handler)


def _serve(
    path: Location,
    listener: socket.socket,
    token: str,
    hosts: AllowedHosts,
    limits: QueryLimits,
    folder: str,
) -> None:
    observer = SweepObserver(path)
    report, runner = LiveReport(path, observer), StatementRunner(path, limits, observer)
    pause = _LOOK_IN_BUCKET_S if isinstance(path, ObjectPath) else _LOOK_S

    def observe() -> float:
        observer.observe()
        return pause

    server = _Server(Gate(build_application(path, observer, report, runner), token, hosts), runner)
    repetitions = [Repetition("destage-observer", observe), Repetition("destage-report", report.update)]
    try:
        server.run([listener])
        # uvicorn raises the signal again when it has ended, without effect if it was ignored before.
        raise KeyboardInterrupt
    finally:
        if not _end(repetitions, report, runner):
            # A thread is still in native code, which would keep the interpreter from exiting.
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(_INTERRUPTED)


def _end(repetitions: list[Repetition], report: LiveReport, runner: StatementRunner) -> bool:
    """Return whether all threads have ended in time."""
    for repetition in repetitions:
        repetition.request_stop()
    closing = threading.Thread(target=runner.close, daemon=True)
    closing.start()
    deadline = time.monotonic() + _END_S
    while closing.is_alive() or not all(repetition.join(_TICK_S) for repetition in repetitions):
        report.interrupt()
        if time.monotonic() > deadline:
            return False
        time.sleep(_TICK_S)
    return True


class _Server(uvicorn.Server):
    """A server that cancels running statements on a signal, because they would delay its shutdown."""

    def __init__(self, application: Gate, runner: StatementRunner) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                loop="asyncio",
                http=Connection,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=_CONNECTIONS,
                timeout_graceful_shutdown=1,
            )
        )
        self._runner = runner

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        threading.Thread(target=self._runner.close, name="destage-end", daemon=True).start()
        super().handle_exit(sig, frame)
