"""The preflight test of `destage cluster doctor`: a pod like a sweep's, which writes to the store."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from destage.cluster.client.api_connection import ApiError, Connection
from destage.cluster.client.diagnostics import FATAL_REASONS, describe_pod_failure
from destage.cluster.client.objects import create, delete, find, find_all, wait_until_deleted
from destage.cluster.resources.pods import (
    PROBE,
    Manifest,
    build_probe_pod,
    has_store,
    uses_workload_identity,
)
from destage.cluster.resources.rbac import ROLE_FIX, build_accounts
from destage.cluster.resources.storage import format_secret_command
from destage.cluster.setup.cluster_settings import Settings, find_ports, find_scheme
from destage.cluster.setup.object_labels import Release
from destage.errors import Issue
from destage.objects import Failure, classify_failure


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    Attributes:
        subject: What was checked: `API server`, `KubeRay`, `storage`, ...
        code: The error's code; empty if the check passed.
        fix: What to do; empty if the check passed.
    """

    subject: str
    message: str
    code: str = ""
    fix: str = ""

    @property
    def has_passed(self) -> bool:
        """Whether there is nothing to do."""
        return not self.code

    @property
    def issue(self) -> Issue:
        """The error of a failed check."""
        return Issue(self.code, self.subject, f"{self.message}; {self.fix}")


_START_S, _PAUSE_S = 300.0, 0.5
_SECRET_MISSING = re.compile(r'secret "([^"]+)" not found')
_ERROR_LINE = re.compile(
    r"^error: (?:(?P<code>[a-z]+\.[a-z0-9-]+)(?: at (?P<place>.+?))?: )?(?P<message>.*)$"
)
_INCOMPLETE = "cluster.secret-incomplete"
"""The code of the probe's error for a Secret without the needed keys."""


@dataclass(frozen=True, slots=True)
class _PodEnd:
    """How the probe pod ended.

    Attributes:
        code: The code of the command's error; empty if it did not report one.
        error: The command's error; empty if it did not report one.
        failure: Why the pod did not start; empty if it is not known.
    """

    has_succeeded: bool
    code: str = ""
    error: str = ""
    failure: str = ""


def run_preflight(
    connection: Connection, release: Release, settings: Settings, image: str | None
) -> Iterator[CheckResult]:
    """Start a pod like a sweep's, and yield the results for the image, the credentials and the store.

    An `image` is tested instead of that of the settings.
    """
    pod = build_probe_pod(release, settings, image)
    name = pod["spec"]["containers"][0]["image"]
    try:
        with _temporary_account(connection, release, settings):
            end = _run(connection, pod)
    except ApiError as error:
        code, fix = _find_code_and_fix(connection, error)
        yield CheckResult("image", f"{name} not tested: {error.reason}", code, fix)
        return
    url, secret = settings.store.url, settings.store.secret
    missing = _SECRET_MISSING.search(end.failure)
    if missing and missing[1] == secret:
        fix = format_secret_command(url, secret)
        yield CheckResult("credentials", f"no Secret {secret}", "cluster.secret-missing", fix)
        return
    if not end.has_succeeded and not (end.error and has_store(settings)):
        message = f"{name} does not start: {end.error or end.failure or 'still pending'}"
        fix = "check image.repository, image.tag and image.pullSecrets"
        yield CheckResult("image", message, "cluster.image-not-started", fix)
        return
    yield CheckResult("image", f"{name} starts without privileges on a read-only root")
    if has_store(settings):
        yield from _check_store(release, settings, end)


def _find_code_and_fix(connection: Connection, error: ApiError) -> tuple[str, str]:
    if error.is_missing:
        return "cluster.namespace-missing", f"kubectl create namespace {connection.namespace}"
    if error.is_denied:
        return error.code, ROLE_FIX
    return error.code, error.data.get(
        "fix", "ask an administrator which policy of the cluster rejects the pod"
    )


def _check_store(release: Release, settings: Settings, end: _PodEnd) -> Iterator[CheckResult]:
    url, secret = settings.store.url, settings.store.secret
    if secret and end.code == _INCOMPLETE:
        fix = f"create it again: {format_secret_command(url, secret)}"
        yield CheckResult("credentials", f"Secret {secret}: {end.error}", _INCOMPLETE, fix)
        return
    if secret:
        yield CheckResult("credentials", f"Secret {secret} has the keys that {find_scheme(url)}:// needs")
    place = url or f"the claim {settings.claim.existing}"
    account = f" with the account {release.pods_account}" if uses_workload_identity(settings) else ""
    if end.has_succeeded:
        yield CheckResult("store", f"{place} is writable{account}")
    else:
        message = f"{place} is not writable{account}: {end.error}"
        fix = _find_store_fix(release, settings, end.error)
        yield CheckResult("store", message, "cluster.store-not-writable", fix)


def _find_store_fix(release: Release, settings: Settings, error: str) -> str:
    if not settings.store.url:
        return "the volume must be writable for group 1000 (fsGroup) and support file locks"
    ports = ", ".join(map(str, find_ports(settings.store.url)))
    reach = (
        "check region and endpoint_override in store.url, and that network policies and firewalls allow "
        f"egress to port {ports}"
    )
    subject = (
        f"the account {release.namespace}/{release.pods_account}"
        if uses_workload_identity(settings)
        else "the keys"
    )
    grant = f"allow {subject} to list the bucket and to put, get and delete objects in it"
    match classify_failure(error):
        case Failure.NO_BUCKET:
            return "create the bucket, or check store.url"
        case Failure.REFUSED:
            return grant
        case Failure.NO_CREDENTIALS:
            return f"{grant}; {reach}"  # the token service may be unreachable
        case _:
            return reach


@contextmanager
def _temporary_account(connection: Connection, release: Release, settings: Settings) -> Iterator[None]:
    """Create the service account for workload identity, if it does not exist, and delete it afterwards."""
    if not uses_workload_identity(settings):
        yield
        return
    account = build_accounts(release, settings)[0]
    name = account["metadata"]["name"]
    exists = bool(find_all(connection, "ServiceAccount", fieldSelector=f"metadata.name={name}"))
    if not exists:
        create(connection, account)
    try:
        yield
    finally:
        if not exists:
            delete(connection, "ServiceAccount", name)


def _run(connection: Connection, pod: Manifest) -> _PodEnd:
    delete(connection, "Pod", PROBE)
    wait_until_deleted(connection, "Pod", PROBE, time.monotonic() + _START_S)
    create(connection, pod)
    try:
        end, failure = time.monotonic() + _START_S, ""
        while time.monotonic() < end:
            current = find(connection, "Pod", PROBE) or {}
            phase = current.get("status", {}).get("phase")
            if phase == "Succeeded":
                return _PodEnd(has_succeeded=True)
            failure = describe_pod_failure(current) or _find_warning(connection, current) or failure
            if phase == "Failed":
                code, error = _parse_error(current)
                return _PodEnd(has_succeeded=False, code=code, error=error, failure=failure)
            if failure.startswith(FATAL_REASONS) or _SECRET_MISSING.search(failure):
                break
            time.sleep(_PAUSE_S)
        return _PodEnd(has_succeeded=False, failure=failure)
    finally:
        delete(connection, "Pod", PROBE)


def _find_warning(connection: Connection, pod: Manifest) -> str:
    """Return the last warning event of a pending pod, such as a volume that cannot be mounted."""
    uid = pod.get("metadata", {}).get("uid")
    if not uid or pod.get("status", {}).get("phase") != "Pending":
        return ""
    try:
        events = find_all(connection, "Event", fieldSelector=f"involvedObject.uid={uid},type=Warning")
    except ApiError:
        return ""  # the user may not list events
    return " ".join(str(events[-1].get("message", "")).split()) if events else ""


def _parse_error(pod: Manifest) -> tuple[str, str]:
    """Return the code and the text of the last error line in the container's termination message."""
    for container in pod.get("status", {}).get("containerStatuses", []):
        terminated = container.get("state", {}).get("terminated") or {}
        lines = str(terminated.get("message") or "").splitlines()
        matches = [match for line in lines if (match := _ERROR_LINE.match(line.strip()))]
        if matches:
            code, place, message = matches[-1].group("code", "place", "message")
            return code or "", f"{place}: {message}" if place else message
    return "", ""
