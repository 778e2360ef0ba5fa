"""Logs of a sweep's pods: read once, or followed across dropped connections until the pods end."""

import time
from collections.abc import Generator, Iterator
from datetime import datetime
from queue import SimpleQueue
from threading import Thread

from destage.cluster.client.api_connection import ApiError, Connection
from destage.cluster.client.diagnostics import FATAL_REASONS, describe_pod_failure
from destage.cluster.client.jobs import Job, find_job
from destage.cluster.client.objects import build_path, find, find_all
from destage.cluster.client.watch import PAUSES_S, is_transient
from destage.cluster.resources.pods import Manifest
from destage.cluster.setup.object_labels import COMPONENT, RELEASE
from destage.errors import ClusterError

_SILENCE_S = 120.0
"""Longest time without a line before the log is requested again [s]."""
_NOT_STARTED = 400
"""The status of a request for the log of a container that has not started."""
Timestamp = tuple[float, str]
"""Seconds since 1970, and the digits after the decimal point."""


def find_pods(connection: Connection, job: Job, component: str) -> list[Manifest]:
    """Return a sweep's pods of a component: `submitter`, `head` or `worker`."""
    return find_all(connection, "Pod", labelSelector=f"{RELEASE}={job.release},{COMPONENT}={component}")


def read_logs(connection: Connection, job: Job, component: str, tail: int) -> Iterator[tuple[str, str]]:
    """Yield the name of each pod of a component and the last `tail` lines of its log.

    Raises:
        ClusterError: There are no such pods.
    """
    pods = find_pods(connection, job, component)
    if not pods:
        raise _no_pods(job, component)
    for pod in pods:
        name = pod["metadata"]["name"]
        query: dict[str, str | int] = {"container": _main_container(pod), "tailLines": tail}
        try:
            yield name, connection.read_text(f"{build_path(connection, 'Pod', name)}/log", query=query)
        except ApiError as error:
            yield name, f"no log yet: {describe_pod_failure(pod) or error.reason}"


def follow_logs(
    connection: Connection, job: Job, component: str, tail: int, *, pauses: tuple[float, ...] = PAUSES_S
) -> Iterator[tuple[str, str]]:
    """Yield pod name and line of a component's logs until the pods end, from the last `tail` lines on.

    Waits for pods that do not exist yet, as long as the sweep can still create them.

    Raises:
        ClusterError: There are no such pods, a pod cannot start, or the server stays unreachable.
    """
    pods = _wait_for_pods(connection, job, component, pauses)
    queue: SimpleQueue[tuple[str, str] | Exception | None] = SimpleQueue()

    def follow(log: _PodLog) -> None:
        try:
            for line in log.lines():
                queue.put((log.pod, line))
        except Exception as error:  # noqa: BLE001 - raised again in the consumer's thread
            queue.put(error)
        queue.put(None)

    for pod in pods:
        Thread(target=follow, args=(_PodLog(connection, pod, tail, pauses),), daemon=True).start()
    open_logs = len(pods)
    while open_logs:
        item = queue.get()
        if isinstance(item, Exception):
            raise item
        if item is None:
            open_logs -= 1
        else:
            yield item


class _PodLog:
    """The log of one pod to its end, each line once."""

    def __init__(self, connection: Connection, pod: Manifest, tail: int, pauses: tuple[float, ...]) -> None:
        self.pod = str(pod["metadata"]["name"])
        self._connection = connection
        self._query: dict[str, str | int] = {
            "container": _main_container(pod),
            "follow": "true",
            "timestamps": "true",
            "tailLines": tail,
        }
        self._pauses = pauses
        self._idle_s = pauses[len(pauses) // 2]
        self._last: Timestamp = (0.0, "")
        self._lines_at_last = 0

    def lines(self) -> Iterator[str]:
        """Yield the lines until the pod ends or is deleted."""
        failures = 0
        while True:
            try:
                pod = find(self._connection, "Pod", self.pod)
                if pod is None:
                    return
                # Only a log requested after the end of the pod is sure to have its last line.
                has_ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
                is_complete = yield from self._new_lines(pod)
                if has_ended and is_complete:
                    return
                failures = 0
                pause_s = self._idle_s if is_complete is None else self._pauses[0]
            except ClusterError as error:
                was_allowed = bool(self._lines_at_last)
                if failures == len(self._pauses) or not is_transient(error, was_allowed=was_allowed):
                    raise
                pause_s = self._pauses[failures]
                failures += 1
            time.sleep(pause_s)

    def _new_lines(self, pod: Manifest) -> Generator[str, None, bool | None]:
        """Yield the new lines of one response; return whether the server ended it, None before the start."""
        last, repeated = self._last, self._lines_at_last
        path = f"{build_path(self._connection, 'Pod', self.pod)}/log"
        response = self._connection.stream_lines(path, query=self._query, timeout_s=_SILENCE_S)
        while True:
            try:
                line = next(response)
            except StopIteration as end:
                return bool(end.value)
            except ApiError as error:
                if error.is_missing or error.status == _NOT_STARTED:
                    _check_start(pod)
                    return None
                raise
            stamp, _, text = line.decode(errors="replace").partition(" ")
            timestamp = _parse_timestamp(stamp)
            if timestamp is None:
                continue  # a message of the kubelet, such as that the container was removed
            # `sinceTime` has a resolution of a second, so a resumed log repeats known lines.
            if timestamp < last:
                continue
            if timestamp == last and repeated:
                repeated -= 1
                continue
            self._lines_at_last = self._lines_at_last + 1 if timestamp == self._last else 1
            self._last = timestamp
            self._query.pop("tailLines", None)
            self._query["sinceTime"] = stamp
            yield text


def _wait_for_pods(
    connection: Connection, job: Job, component: str, pauses: tuple[float, ...]
) -> list[Manifest]:
    failures = 0
    while True:
        try:
            pods = find_pods(connection, job, component)
            job = job if pods else find_job(connection, job.name)
        except ClusterError as error:
            if failures == len(pauses) or not is_transient(error, was_allowed=False):
                raise
            pause_s = pauses[failures]
            failures += 1
        else:
            if pods:
                return pods
            if job.has_ended or job.is_cancelled:
                raise _no_pods(job, component)
            pause_s = pauses[len(pauses) // 2]
            failures = 0
        time.sleep(pause_s)


def _no_pods(job: Job, component: str) -> ClusterError:
    message = f"the sweep ({job.state}) has no {component} pod: not created yet, or deleted"
    return ClusterError(
        "cluster.pods-missing", message, job.name, {"component": component, "state": job.state}
    )


def _check_start(pod: Manifest) -> None:
    failure = describe_pod_failure(pod)
    if failure.startswith(FATAL_REASONS):
        # An API error of this status is not retried.
        data = {"status": _NOT_STARTED, "reason": failure}
        message = f"the pod cannot start: {failure}"
        raise ApiError("cluster.pod-not-started", message, str(pod["metadata"]["name"]), data)


def _main_container(pod: Manifest) -> str:
    return str(pod["spec"]["containers"][0]["name"])


def _parse_timestamp(text: str) -> Timestamp | None:
    """Return a comparable timestamp with up to nanoseconds; None if the text is not one."""
    whole, _, rest = text.partition(".")
    digits = rest.rstrip("Z").partition("+")[0].partition("-")[0]
    zone = rest[len(digits) :] if rest else ""
    try:
        return datetime.fromisoformat(f"{whole}{zone}").timestamp(), digits.ljust(9, "0")
    except ValueError:
        return None
