"""What the pods of a sweep say while they say it, through dropped connections and to their last word."""

import time
from collections.abc import Generator, Iterator
from datetime import datetime
from queue import SimpleQueue
from threading import Thread

from destage.cluster.connection import ApiError, Connection
from destage.cluster.diagnostics import HOPELESS, describe_pod_failure
from destage.cluster.jobs import Job, find_job
from destage.cluster.objects import find, place
from destage.cluster.podlogs import container_of, no_pods, pods_of
from destage.cluster.pods import Manifest
from destage.cluster.watch import PAUSES_S, is_transient
from destage.errors import ClusterError

_SILENCE_S = 120.0
"""After so long without a word the line counts as broken, and the log is asked for again [s]."""
_WAITING = 400
"""The status of a log whose container has not started."""
Moment = tuple[float, str]
"""Seconds since 1970, and the digits behind them."""


def follow_logs(
    connection: Connection, job: Job, component: str, tail: int, *, pauses: tuple[float, ...] = PAUSES_S
) -> Iterator[tuple[str, str]]:
    """Yield what the pods of a kind say, line by line, until they have ended.

    Pods that are not there yet are waited for as long as their sweep may still make them.

    Args:
        connection: The API server.
        job: The sweep.
        component: `submitter`, `head` or `worker`.
        tail: How many of its lines so far are told of each.
        pauses: How long to wait after each failure in a row [s].

    Yields:
        A pod's name and a line of its log.

    Raises:
        ClusterError: There are no such pods, one cannot start, or the server refuses or stays away.
    """
    pods = _awaited(connection, job, component, pauses[len(pauses) // 2])
    said: SimpleQueue[tuple[str, str] | Exception | None] = SimpleQueue()

    def listen(log: LiveLog) -> None:
        try:
            for line in log.lines():
                said.put((log.pod, line))
        except Exception as error:  # noqa: BLE001 - raised again where the lines are told
            said.put(error)
        said.put(None)

    for pod in pods:
        Thread(target=listen, args=(LiveLog(connection, pod, tail, pauses),), daemon=True).start()
    left = len(pods)
    while left:
        one = said.get()
        if isinstance(one, Exception):
            raise one
        if one is None:
            left -= 1
        else:
            yield one


class LiveLog:
    """The log of one pod, from its tail to its end, no line twice and none left out.

    Attributes:
        pod: The pod's name.
    """

    def __init__(self, connection: Connection, pod: Manifest, tail: int, pauses: tuple[float, ...]) -> None:
        self.pod = str(pod["metadata"]["name"])
        self._connection = connection
        self._asked: dict[str, str | int] = {
            "container": container_of(pod),
            "follow": "true",
            "timestamps": "true",
            "tailLines": tail,
        }
        self._pauses = pauses
        self._idle_s = pauses[len(pauses) // 2]
        self._last: Moment = (0.0, "")
        self._at_last = 0

    def lines(self) -> Iterator[str]:
        """Yield the lines until the pod has ended, or is gone.

        Raises:
            ClusterError: It cannot start, or the server refuses or stays away.
        """
        failures = 0
        while True:
            try:
                pod = find(self._connection, "Pod", self.pod)
                if pod is None:
                    return
                # The last word is only sure to be in a log that was asked for after the end.
                is_over = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
                is_whole = yield from self._news(pod)
                if is_over and is_whole:
                    return
                failures = 0
                pause_s = self._idle_s if is_whole is None else self._pauses[0]
            except ClusterError as error:
                if failures == len(self._pauses) or not is_transient(error, was_allowed=bool(self._at_last)):
                    raise
                pause_s = self._pauses[failures]
                failures += 1
            time.sleep(pause_s)

    def _news(self, pod: Manifest) -> Generator[str, None, bool | None]:
        """Yield what is new in one answer, and return whether the server ended it; None before the start."""
        known, repeated = self._last, self._at_last
        path = f"{place(self._connection, 'Pod', self.pod)}/log"
        answer = self._connection.lines(path, query=self._asked, timeout_s=_SILENCE_S)
        while True:
            try:
                line = next(answer)
            except StopIteration as end:
                return bool(end.value)
            except ApiError as error:
                if error.is_missing or error.status == _WAITING:
                    _refuse_hopeless(pod)
                    return None
                raise
            stamp, _, text = line.decode(errors="replace").partition(" ")
            moment = _moment(stamp)
            if moment is None:
                continue  # the node's own word, that it has removed the container, say: no part of the log
            # The server counts in whole seconds: a log that is taken up again begins with what is known.
            if moment < known:
                continue
            if moment == known and repeated:
                repeated -= 1
                continue
            self._at_last = self._at_last + 1 if moment == self._last else 1
            self._last = moment
            self._asked.pop("tailLines", None)
            self._asked["sinceTime"] = stamp
            yield text


def _awaited(connection: Connection, job: Job, component: str, pause_s: float) -> list[Manifest]:
    """Return the pods of a kind, once there are any."""
    while not (pods := pods_of(connection, job, component)):
        job = find_job(connection, job.name)
        if job.has_ended or job.is_cancelled:
            raise no_pods(job, component)
        time.sleep(pause_s)
    return pods


def _refuse_hopeless(pod: Manifest) -> None:
    trouble = describe_pod_failure(pod)
    if trouble.startswith(HOPELESS):
        raise ApiError(f"the pod {pod['metadata']['name']} does not start: {trouble}", _WAITING)


def _moment(stamp: str) -> Moment | None:
    """Return a time as the log writes it, in nanoseconds or fewer digits, for comparing; None for no time."""
    whole, _, rest = stamp.partition(".")
    digits = rest.rstrip("Z").partition("+")[0].partition("-")[0]
    zone = rest[len(digits) :] if rest else ""
    try:
        return datetime.fromisoformat(f"{whole}{zone}").timestamp(), digits.ljust(9, "0")
    except ValueError:
        return None
