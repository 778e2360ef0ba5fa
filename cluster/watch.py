"""Watching an object change, through dropped connections and through a server that has forgotten the past."""

import json
import time
from collections.abc import Iterator
from typing import Any

from destage.cluster.connection import ApiError, Connection
from destage.cluster.objects import place
from destage.cluster.pods import Manifest
from destage.errors import ClusterError

PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""How long to wait before trying again, the longer the more often it has failed [s]."""
_LENGTH_S = 240
"""How long one watch lasts before the next is asked for [s]."""
_UNKNOWN, _FORBIDDEN, _GONE, _BUSY, _BROKEN = 401, 403, 410, 429, 500


class Watched:
    """One object, followed from its first sight to its end.

    Attributes:
        is_gone: Whether it is there no more.
    """

    def __init__(self, connection: Connection, kind: str, name: str) -> None:
        self.is_gone = False
        self._connection = connection
        self._path = place(connection, kind)
        self._query = {"fieldSelector": f"metadata.name={name}"}
        self._from = ""
        self._seen = ""

    def changes(self, length_s: int) -> Iterator[Manifest]:
        """Yield the object where it differs from what was yielded last, for as long as one watch holds.

        Args:
            length_s: How long the watch lasts at most [s].

        Raises:
            ClusterError: The server refuses or cannot be reached.
        """
        try:
            if not self._from:
                yield from self._look()
            if not self.is_gone:
                yield from self._listen(length_s)
        except ApiError as error:
            if not error.is_gone:
                raise
            self._from = ""  # that past is forgotten: look again

    def _look(self) -> Iterator[Manifest]:
        page = self._connection.call("GET", self._path, query=self._query)
        self._from = page["metadata"]["resourceVersion"]
        if page["items"]:
            yield from self._new(page["items"][0])
        else:
            self.is_gone = True

    def _listen(self, length_s: int) -> Iterator[Manifest]:
        asked: dict[str, str | int] = {
            **self._query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._from,
            "timeoutSeconds": length_s,
        }
        for line in self._connection.lines(self._path, query=asked, timeout_s=length_s + 5):
            event: dict[str, Any] = json.loads(line)
            if event["type"] == "ERROR":
                status = event["object"]
                raise ApiError(str(status.get("message", "the watch failed")), int(status.get("code", _GONE)))
            self._from = event["object"]["metadata"]["resourceVersion"]
            if event["type"] == "DELETED":
                self.is_gone = True
                return
            if event["type"] != "BOOKMARK":
                yield from self._new(event["object"])

    def _new(self, manifest: Manifest) -> Iterator[Manifest]:
        version = manifest["metadata"]["resourceVersion"]
        if version != self._seen:
            self._seen = version
            yield manifest


def watch(
    connection: Connection,
    kind: str,
    name: str,
    *,
    until: float,
    was_allowed: bool = False,
    pauses: tuple[float, ...] = PAUSES_S,
) -> Iterator[Manifest]:
    """Yield an object as it is, and again whenever it has changed; ends when it is gone or time is over.

    A connection that drops is made anew where it broke off; where the server no longer knows that place
    (410), the object is read again. Nothing that was yielded last is yielded again.

    Args:
        connection: The API server.
        kind: The object's kind.
        name: Its name.
        until: When to stop [s on the monotonic clock].
        was_allowed: Whether the server gave the object a moment ago.
        pauses: How long to wait after each failure in a row [s].

    Raises:
        ClusterError: The server refuses, or stays out of reach.
    """
    watched, failures = Watched(connection, kind, name), 0
    while not watched.is_gone and (left := until - time.monotonic()) > 0:
        began = time.monotonic()
        try:
            for manifest in watched.changes(max(1, min(_LENGTH_S, int(left)))):
                failures = 0
                yield manifest
            if not watched.is_gone and time.monotonic() - began < pauses[0]:
                time.sleep(pauses[0])  # whoever hangs up at once shall not be called without end
        except ClusterError as error:
            if failures == len(pauses) or not is_transient(error, was_allowed=was_allowed):
                raise
            time.sleep(pauses[failures])
            failures += 1


def is_transient(error: ClusterError, *, was_allowed: bool) -> bool:
    """Return whether a failure is likely to pass: the line's, or that of a server that restarts or is busy.

    A server that has just started forbids for a second what it allows, until it knows the roles.

    Args:
        error: The failure.
        was_allowed: Whether the server allowed it a moment ago.
    """
    if not isinstance(error, ApiError):
        return True
    is_unsure = was_allowed and error.status in (_UNKNOWN, _FORBIDDEN)
    return is_unsure or error.status == _BUSY or error.status >= _BROKEN
