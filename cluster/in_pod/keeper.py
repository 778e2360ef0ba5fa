"""The keeper: restarts a RayJob after a loss of machines, from a pod of the cluster.

It needs three requests, so it uses the standard library: the image is smaller without a client.
"""

import calendar
import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from destage.cluster.client.interruption import build_restart, is_interrupted
from destage.errors import ClusterError

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_INTERVAL_S = 10.0
_ABSENCE_S = 300.0
"""How long a RayJob may be absent: Helm creates it after the keeper."""
_PAUSE_S, _LONGEST_PAUSE_S = 15.0, 600.0
"""The pause before the first restart, doubled for each further failure, and its limit [s]."""
_TIMEOUT_S = 30.0
_MISSING, _CONFLICT = 404, 409
Request = Callable[[str, str, object], dict[str, Any] | None]
"""Sends a request: method, path, body; returns the object, or None if it is missing or has changed."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The time, for tests.

    Attributes:
        now: Returns a time that never goes back [s].
        sleep: Waits [s].
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class Keeper:
    """Follows one RayJob to its end.

    Args:
        request: Sends a request to the API server.
        own: The name of the keeper's own Job; a RayJob that failed before it was created is restarted once
            for any reason, because the user has asked for it by upgrading the release.
        max_failures: The failures after which the job is left alone.
    """

    def __init__(
        self,
        request: Request,
        namespace: str,
        job: str,
        own: str,
        max_failures: int,
        report: Callable[[str], None],
        clock: Clock | None = None,
    ) -> None:
        self._request = request
        self._path = f"/apis/ray.io/v1/namespaces/{namespace}/rayjobs/{job}"
        self._own = f"/apis/batch/v1/namespaces/{namespace}/jobs/{own}"
        self._job = job
        self._max_failures = max_failures
        self._report = report
        self._clock = clock or Clock()
        self._last_line = ""

    def keep(self) -> str:
        """Restart the job after each loss of machines, and return why nothing is left to do."""
        absent_since: float | None = None
        while True:
            try:
                manifest = self._request("GET", self._path, None)
                if manifest is not None:
                    absent_since = None
                    if (end := self._step(manifest)) is not None:
                        return end
                elif absent_since is None:
                    absent_since = self._clock.now()
                elif self._clock.now() - absent_since > _ABSENCE_S:
                    return f"{self._job} does not exist"
            except ClusterError as error:
                self._say(str(error))
            self._clock.sleep(_INTERVAL_S)

    def _step(self, manifest: dict[str, Any]) -> str | None:
        """Restart the job if a restart would continue it; return the end of a job that is left alone."""
        status = manifest.get("status") or {}
        state = status.get("jobDeploymentStatus") or "New"
        if state == "Complete":
            return f"{self._job}: {state} {status.get('jobStatus', '')}".rstrip()
        if state not in ("Failed", "ValidationFailed"):
            return None
        failures = int(status.get("failed") or 0)
        why = f"{self._job}: {status.get('reason') or state} (failure {failures})"
        if state == "Failed" and self._is_before_own(status):
            self._restart(manifest, f"{why}; restarting, because the release was upgraded")
            return None
        if not is_interrupted(status):
            return f"{why}: not a loss of machines; correct the cause, then submit or upgrade again"
        if failures >= self._max_failures:
            return (
                f"{why}: left alone after {self._max_failures} failures; submit or upgrade again to continue"
            )
        self._clock.sleep(min(_PAUSE_S * 2 ** max(failures - 1, 0), _LONGEST_PAUSE_S))
        self._restart(manifest, f"{why}; restarting, which continues from the committed runs")
        return None

    def _restart(self, manifest: dict[str, Any], line: str) -> None:
        if self._request("PATCH", f"{self._path}/status", build_restart(manifest)) is not None:
            self._say(line)

    def _is_before_own(self, status: dict[str, Any]) -> bool:
        own = self._request("GET", self._own, None)
        ended = status.get("endTime")
        if own is None or not ended:
            return False
        return _seconds(ended) < _seconds(own["metadata"]["creationTimestamp"])

    def _say(self, line: str) -> None:
        if line != self._last_line:
            self._last_line = line
            self._report(line)


def find_namespace() -> str:
    """Return the namespace of this pod.

    Raises:
        ClusterError: This is not a pod with a service account.
    """
    if not (_ACCOUNT / "namespace").is_file():
        raise ClusterError("cluster.not-configured", "the keeper runs only in a pod with a service account")
    return (_ACCOUNT / "namespace").read_text().strip()


def send(method: str, path: str, body: object) -> dict[str, Any] | None:
    """Send a request with the account of this pod.

    Returns:
        The object; None if it does not exist or has changed since it was read.

    Raises:
        ClusterError: The server cannot be reached, or rejects the request.
    """
    host, port = (os.environ[f"KUBERNETES_SERVICE_{name}"] for name in ("HOST", "PORT"))
    server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
    headers = {
        "Accept": "application/json",
        # Kubernetes replaces the token while the pod runs.
        "Authorization": f"Bearer {(_ACCOUNT / 'token').read_text().strip()}",
        "Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server + path, data, headers, method=method)  # noqa: S310 - https above
    trust = ssl.create_default_context(cafile=str(_ACCOUNT / "ca.crt"))
    # No proxy: the API server is in the cluster.
    handlers = (urllib.request.HTTPSHandler(context=trust), urllib.request.ProxyHandler({}))
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=_TIMEOUT_S) as response:
            answer: dict[str, Any] = json.load(response)
            return answer
    except urllib.error.HTTPError as error:
        if error.code in (_MISSING, _CONFLICT):
            return None
        text = " ".join(error.read().decode(errors="replace").split())[:300]
        raise ClusterError("cluster.request-rejected", f"HTTP {error.code}: {text}", path) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        text = " ".join(str(error).split())[:300]
        raise ClusterError("cluster.api-unreachable", text or type(error).__name__, server) from error


def _seconds(text: str) -> float:
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
