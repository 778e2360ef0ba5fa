"""Trying out what a sweep would need: its image started once, and its store written by a pod like its own."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from destage.cluster.check_result import Finding
from destage.cluster.connection import ApiError, Connection
from destage.cluster.credentials import making
from destage.cluster.diagnostics import HOPELESS, describe_pod_failure
from destage.cluster.labels import Release
from destage.cluster.objects import create, delete, find, find_all, wait_until_deleted
from destage.cluster.pods import Manifest
from destage.cluster.probe import PROBE, build_probe_pod, has_identity, writes
from destage.cluster.rbac import ASK_FOR_ROLE, accounts
from destage.cluster.settings import Settings
from destage.cluster.store_url import find_ports, find_scheme
from destage.objects import Failure, failure_of

_START_S, _PAUSE_S = 300.0, 0.5
_NO_SECRET = re.compile(r'secret "([^"]+)" not found')
_LACKS = "the Secret"


@dataclass(frozen=True, slots=True)
class Ended:
    """How the pod ended, or that it did not start.

    Attributes:
        is_well: Whether it did what it was asked.
        error: What its command complained of; empty where that did not run.
        trouble: Why it did not start.
    """

    is_well: bool
    error: str = ""
    trouble: str = "still pending"


def run_preflight(
    connection: Connection, release: Release, settings: Settings, image: str | None
) -> Iterator[Finding]:
    """Start a pod like a sweep's, and yield what came of it: the image, the credentials, the store.

    Args:
        connection: The API server.
        release: What the sweep would be called.
        settings: What the sweep is to have.
        image: The image, with its tag or digest; None for that of the settings.
    """
    pod = build_probe_pod(release, settings, image)
    name = pod["spec"]["containers"][0]["image"]
    try:
        with _account(connection, release, settings):
            ended = _run(connection, pod)
    except ApiError as error:
        yield Finding("image", f"{name} was not tried out: {error.message}", _permit(connection, error))
        return
    missing = _NO_SECRET.search(ended.trouble)
    if missing and missing[1] == settings.store.secret:
        told = f"the Secret {settings.store.secret} is missing"
        yield Finding("credentials", told, making(settings.store.url, settings.store.secret))
        return
    if not ended.is_well and not (ended.error and writes(settings)):
        told = f"{name} does not start: {ended.error or ended.trouble}"
        yield Finding("image", told, "check image.repository, image.tag and image.pullSecrets")
        return
    yield Finding("image", f"{name} starts, as a user without rights on a read-only root")
    if writes(settings):
        yield from _store(release, settings, ended)


def _permit(connection: Connection, error: ApiError) -> str:
    """Return what lets the pod be made, where the server refused it."""
    if error.is_missing:
        return f"kubectl create namespace {connection.namespace}"
    if error.is_denied:
        return ASK_FOR_ROLE
    return error.mend or "ask an administrator: a rule of the cluster's own refuses it"


def _store(release: Release, settings: Settings, ended: Ended) -> Iterator[Finding]:
    store, secret = settings.store, settings.store.secret
    if secret and ended.error.startswith(_LACKS):
        told = ended.error.replace(_LACKS, f"{_LACKS} {secret}", 1)
        yield Finding("credentials", told, f"make it anew: {making(store.url, secret)}")
        return
    if secret:
        yield Finding("credentials", f"the Secret {secret} has what {find_scheme(store.url)}:// asks for")
    place = store.url or f"the claim {settings.claim.existing}"
    by = f" by the account {release.pods_account}" if has_identity(settings) else ""
    if ended.is_well:
        yield Finding("store", f"{place} can be written{by}")
    else:
        yield Finding(
            "store", f"{place} cannot be written{by}: {ended.error}", _mend(release, settings, ended.error)
        )


def _mend(release: Release, settings: Settings, error: str) -> str:
    if not settings.store.url:
        return "the volume must be writable for group 1000 (fsGroup) and must have file locks"
    failure = failure_of(error)
    if failure is Failure.NO_BUCKET:
        return "make the bucket, or check store.url"
    ports = ", ".join(map(str, find_ports(settings.store.url)))
    reach = (
        "check region and endpoint_override in store.url, and whether network policies and the firewall let "
        f"pods out to port {ports}"
    )
    who = f"the account {release.namespace}/{release.pods_account}" if has_identity(settings) else "the keys"
    let_in = f"let {who} list the bucket, and put, get and delete objects in it"
    match failure:
        case Failure.REFUSED:
            return let_in
        case Failure.NO_CREDENTIALS:
            return f"{let_in}; {reach}"  # what hands out tokens may be out of reach, too
        case _:
            return reach


@contextmanager
def _account(connection: Connection, release: Release, settings: Settings) -> Iterator[None]:
    """Make the account by which the pod is known to the cloud, unless it is there."""
    if not has_identity(settings):
        yield
        return
    account = accounts(release, settings)[0]
    name = account["metadata"]["name"]
    is_there = bool(find_all(connection, "ServiceAccount", fieldSelector=f"metadata.name={name}"))
    if not is_there:
        create(connection, account)
    try:
        yield
    finally:
        if not is_there:
            delete(connection, "ServiceAccount", name)


def _run(connection: Connection, pod: Manifest) -> Ended:
    delete(connection, "Pod", PROBE)
    wait_until_deleted(connection, "Pod", PROBE, time.monotonic() + _START_S)
    create(connection, pod)
    try:
        end, trouble = time.monotonic() + _START_S, ""
        while time.monotonic() < end:
            there = find(connection, "Pod", PROBE) or {}
            phase = there.get("status", {}).get("phase")
            if phase == "Succeeded":
                return Ended(is_well=True)
            trouble = describe_pod_failure(there) or _event(connection, there) or trouble
            if phase == "Failed":
                return Ended(False, _last_error(there), trouble or "still pending")
            if trouble.startswith(HOPELESS) or _NO_SECRET.search(trouble):
                break
            time.sleep(_PAUSE_S)
        return Ended(False, trouble=trouble or "still pending")
    finally:
        delete(connection, "Pod", PROBE)


def _event(connection: Connection, pod: Manifest) -> str:
    """Return what Kubernetes warns of a pod that says nothing itself: a volume that cannot be mounted."""
    uid = pod.get("metadata", {}).get("uid")
    if not uid or pod.get("status", {}).get("phase") != "Pending":
        return ""
    try:
        events = find_all(connection, "Event", fieldSelector=f"involvedObject.uid={uid},type=Warning")
    except ApiError:
        return ""  # who may not see events waits
    return " ".join(str(events[-1].get("message", "")).split()) if events else ""


def _last_error(pod: Manifest) -> str:
    """Return what the pod's command complained of last."""
    for container in pod.get("status", {}).get("containerStatuses", []):
        ended = container.get("state", {}).get("terminated") or {}
        lines = [line.strip() for line in str(ended.get("message") or "").splitlines() if line.strip()]
        errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        if errors:
            return errors[-1]
    return ""
