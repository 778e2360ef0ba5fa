"""Watches of one object that survive dropped connections and expired resource versions."""

import json
import time
from collections.abc import Iterator
from typing import Any

from destage.cluster.client.api_connection import ApiError, Connection
from destage.cluster.client.objects import build_path
from destage.cluster.resources.pods import Manifest
from destage.errors import ClusterError

PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Pauses before each retry after consecutive failures [s]."""
_LENGTH_S = 240
"""Length of one watch request [s]."""
_UNAUTHENTICATED, _FORBIDDEN, _GONE, _BUSY, _BROKEN = 401, 403, 410, 429, 500


class _ObjectWatch:
    """The watch of one object across requests."""

    def __init__(self, connection: Connection, kind: str, name: str) -> None:
        self.is_deleted = False
        self._connection = connection
        self._path = build_path(connection, kind)
        self._query = {"fieldSelector": f"metadata.name={name}"}
        self._resource_version = ""
        self._last_yielded = ""

    def changes(self, length_s: int) -> Iterator[Manifest]:
        """Yield each new version of the object during one watch request of at most `length_s`."""
        try:
            if not self._resource_version:
                yield from self._get()
            if not self.is_deleted:
                yield from self._watch(length_s)
        except ApiError as error:
            if error.status != _GONE:
                raise
            self._resource_version = ""  # expired: get the object again

    def _get(self) -> Iterator[Manifest]:
        page = self._connection.call("GET", self._path, query=self._query)
        self._resource_version = page["metadata"]["resourceVersion"]
        if page["items"]:
            yield from self._new(page["items"][0])
        else:
            self.is_deleted = True

    def _watch(self, length_s: int) -> Iterator[Manifest]:
        query: dict[str, str | int] = {
            **self._query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._resource_version,
            "timeoutSeconds": length_s,
        }
        for line in self._connection.stream_lines(self._path, query=query, timeout_s=length_s + 5):
            event: dict[str, Any] = json.loads(line)
            if event["type"] == "ERROR":
                reason = str(event["object"].get("message", "the watch failed"))
                data = {"status": int(event["object"].get("code", _GONE)), "reason": reason}
                raise ApiError("cluster.request-rejected", reason, self._path, data)
            self._resource_version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] == "DELETED":
                self.is_deleted = True
                return
            if event["type"] != "BOOKMARK":
                yield from self._new(event["object"])

    def _new(self, manifest: Manifest) -> Iterator[Manifest]:
        version = manifest["metadata"]["resourceVersion"]
        if version != self._last_yielded:
            self._last_yielded = version
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
    """Yield an object and each later version of it until it is deleted or time is up.

    After a dropped connection the watch continues at the last resource version. No version is yielded twice.
    `until` is a time on the monotonic clock [s], `was_allowed` whether the server has allowed access before.
    """
    object_watch, failures = _ObjectWatch(connection, kind, name), 0
    while not object_watch.is_deleted and (left := until - time.monotonic()) > 0:
        began = time.monotonic()
        try:
            for manifest in object_watch.changes(max(1, min(_LENGTH_S, int(left)))):
                failures = 0
                yield manifest
            if not object_watch.is_deleted and time.monotonic() - began < pauses[0]:
                time.sleep(pauses[0])  # limits the rate if the server ends each watch at once
        except ClusterError as error:
            if failures == len(pauses) or not is_transient(error, was_allowed=was_allowed):
                raise
            time.sleep(min(pauses[failures], max(0.0, until - time.monotonic())))
            failures += 1


def is_transient(error: ClusterError, *, was_allowed: bool) -> bool:
    """Return whether a retry may succeed: after a connection error, or if the server restarts or is busy.

    A server denies for about a second after its start what it allows later, because its roles are not loaded.
    """
    if not isinstance(error, ApiError):
        return True
    is_restart = was_allowed and error.status in (_UNAUTHENTICATED, _FORBIDDEN)
    return is_restart or error.status == _BUSY or error.status >= _BROKEN
