"""The report of a sweep, rendered again after commits while a page is open."""

import re
import secrets
import tempfile
import time
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

from destage.objects import Location
from destage.queries import Session, open_session
from destage.queries.report.page import write_report
from destage.server.access import DEFAULT_POLICY
from destage.server.sweep_observer import SweepObserver, Version, describe_error

_PAUSE_S, _LONGEST_PAUSE_S = 3.0, 60.0
"""Bounds of the time between the end of one composition and the next [s]."""
_SHARE = 2.0
"""The pause as a multiple of the processor time of a rendering: the sweep needs the processors, too."""
_WATCHED_S = 90.0
"""How long after a request the report is kept up to date [s]; a browser polls hidden pages once a minute."""
_TICK_S = 0.2
_POLICY = re.compile(r'http-equiv="Content-Security-Policy"\s+content="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Page:
    """The report as composed at one moment.

    Attributes:
        number: Counts the pages of this server, from 1.
        policy: Its content security policy.
    """

    number: int
    content: bytes
    policy: str
    tag: str = field(default_factory=lambda: secrets.token_hex(8))


class LiveReport:
    """Keeps the latest page; `update` is called by one thread, everything else by any."""

    def __init__(self, path: Location, observer: SweepObserver) -> None:
        self.page: Page | None = None
        self.error: str | None = None
        self._path = path
        self._observer = observer
        self._composed: Version | None = None
        self._due = 0.0
        # The first page is composed at once, before its reader has opened the address.
        self._watched = time.monotonic()
        self._session: Session | None = None

    @property
    def is_current(self) -> bool:
        """Whether the page has all rows that the observer has seen."""
        return self._composed == self._observer.latest.version

    def note_reader(self) -> None:
        """Record that a page requested the state or the report."""
        self._watched = time.monotonic()

    def update(self) -> float:
        """Compose the report if it is due, and return the pause before the next call [s]."""
        version, now = self._observer.latest.version, time.monotonic()
        is_stale = not self.is_current or self.error is not None
        is_readable = self._observer.latest.counts is not None
        if is_stale and is_readable and now >= self._due and now - self._watched < _WATCHED_S:
            used = time.process_time()
            self._compose(version)
            pause = max(_PAUSE_S, _SHARE * (time.process_time() - used))
            self._due = time.monotonic() + min(pause, _LONGEST_PAUSE_S)
        return _TICK_S

    def interrupt(self) -> None:
        """End the statement that is running."""
        if (session := self._session) is not None:
            session.interrupt()

    def _compose(self, version: Version) -> None:
        try:
            content = self._render()
        except Exception as error:  # noqa: BLE001 - the page shows it, and the next commit may fix it
            self.error = describe_error(error)
        else:
            number = 1 if self.page is None else self.page.number + 1
            if self.page is None or content != self.page.content:
                self.page = Page(number, content, _find_policy(content.decode()))
            self.error = None
        # The version before the rows were read: what was committed since is read by the next composition.
        self._composed = version

    def _render(self) -> bytes:
        with tempfile.TemporaryDirectory(prefix="destage-") as folder, open_session(self._path) as session:
            self._session = session
            try:
                file = write_report(session, Path(folder) / "report.html")
            finally:
                self._session = None
            return file.read_bytes()


def _find_policy(html: str) -> str:
    """Return the policy that the report states, which allows its own script, for frames of this server."""
    stated = _POLICY.search(html)
    return f"{unescape(stated[1])}; frame-ancestors 'self'" if stated else DEFAULT_POLICY
