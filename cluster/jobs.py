"""The sweeps of a namespace as RayJobs: submitting, listing, finding, cancelling and deleting them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from destage.cluster.connection import ApiError, Connection
from destage.cluster.labels import RELEASE, SWEEP
from destage.cluster.objects import apply, create, delete, find, find_all, place, wait_until_deleted
from destage.cluster.pods import STUDY_FILE, Manifest
from destage.errors import ClusterError

_SELECTOR = "app.kubernetes.io/name=destage"
_ENDED = ("Complete", "Failed", "ValidationFailed")
_CANCELLED = ("Suspending", "Suspended")
_LOGS = "last available logs"
"""Ray puts the driver's last lines behind this, thousands of them."""
_DELETABLE = ("ConfigMap", "NetworkPolicy", "ServiceAccount", "Pod")
_OWNED = ("PodMonitor", "Role", "RoleBinding")
"""What Kubernetes itself deletes after the last job of its release: whoever deletes a sweep needs no rights
over these kinds, and what others made of them, Helm say, stays."""
_DELETION_S = 60.0


class JobMissingError(ClusterError):
    """A sweep that is not there."""


@dataclass(frozen=True, slots=True)
class Job:
    """A sweep's RayJob, as the operator tells of it.

    Attributes:
        name: The RayJob's name.
        release: The release that it belongs to.
        sweep: The sweep's directory in the store, where who submitted it knew.
        state: What the operator makes of it: `Initializing`, `Running`, `Complete`, `Failed`, ...
        outcome: What Ray makes of it: `PENDING`, `RUNNING`, `SUCCEEDED`, `FAILED`, `STOPPED`; empty before.
        message: Why it failed: the operator's word for it, and the last words of what failed.
        created: When it was made.
        ended: When it ended; empty before.
        cluster: The RayCluster that runs it; empty before there is one.
        manifest: All of it.
    """

    name: str
    release: str
    sweep: str
    state: str
    outcome: str
    message: str
    created: str
    ended: str
    cluster: str
    manifest: Manifest

    @property
    def has_ended(self) -> bool:
        """Whether nothing will change any more."""
        return self.state in _ENDED

    @property
    def head(self) -> Manifest:
        """The template of the head's pod."""
        template: Manifest = self.manifest["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]
        return template

    @property
    def store(self) -> str:
        """The store: where a volume is mounted, or a URL."""
        env = {each["name"]: each.get("value") for each in self.head["spec"]["containers"][0]["env"]}
        return str(env["DESTAGE_STORE"])

    @property
    def is_bucket(self) -> bool:
        """Whether the results go to an object store."""
        return "://" in self.store

    @property
    def place(self) -> str:
        """Where the results are, as people call it."""
        if self.is_bucket:
            return self.store
        return f"the claim {self.claim}"

    @property
    def claim(self) -> str:
        """The claim that the results are in; empty where they go to an object store."""
        claims = [each.get("persistentVolumeClaim") for each in self.head["spec"]["volumes"]]
        return "".join(claim["claimName"] for claim in claims if claim)

    @property
    def can_be_suspended(self) -> bool:
        """Whether KubeRay can end its pods and keep it; deletion rules take that away."""
        return bool(self.manifest["spec"].get("shutdownAfterJobFinishes"))

    @property
    def is_cancelled(self) -> bool:
        """Whether it rests until it is submitted again."""
        return self.state in _CANCELLED


def parse_job(manifest: Manifest) -> Job:
    """Return a RayJob as a sweep's job.

    Args:
        manifest: The RayJob as the server has it.
    """
    metadata, status = manifest["metadata"], manifest.get("status") or {}
    is_suspended = manifest["spec"].get("suspend", False)
    reason = status.get("reason", "")
    text = _last_words(str(status.get("message") or ""))
    return Job(
        name=metadata["name"],
        release=metadata.get("labels", {}).get(RELEASE, metadata["name"]),
        sweep=metadata.get("annotations", {}).get(SWEEP, ""),
        state=status.get("jobDeploymentStatus") or ("Suspended" if is_suspended else "New"),
        outcome=status.get("jobStatus") or "",
        message=f"{reason}: {text}" if reason and text else reason or text,
        created=metadata.get("creationTimestamp", ""),
        ended=status.get("endTime", ""),
        cluster=status.get("rayClusterName", ""),
        manifest=manifest,
    )


def list_jobs(connection: Connection) -> list[Job]:
    """Return all sweeps of the namespace, newest last.

    Args:
        connection: The API server.
    """
    found = [parse_job(each) for each in find_all(connection, "RayJob", labelSelector=_SELECTOR)]
    return sorted(found, key=lambda job: (job.created, job.name))


def find_job(connection: Connection, name: str) -> Job:
    """Return the sweep that a user means: the newest of a release, or one by its RayJob's name.

    Args:
        connection: The API server.
        name: The release's name, the RayJob's, or the sweep's.

    Raises:
        JobMissingError: There is none; the message says where its results are, or which sweeps there are.
        ClusterError: The server refuses or cannot be reached.
    """
    jobs = list_jobs(connection)
    found = [job for job in jobs if name in (job.release, job.name, job.sweep)]
    if found:
        return found[-1]
    try:
        claims = find_kept_claims(connection, name)
    except ApiError:
        claims = []  # who may not see claims is told of the jobs alone
    if claims:
        raise JobMissingError(
            f"the sweep {name!r} is deleted, and its results are in the claim {', '.join(claims)}: "
            f"{describe_recovery(name)}; `destage cluster delete {name} --results` deletes them"
        )
    known = ", ".join(dict.fromkeys(job.release for job in jobs)) or "none"
    raise JobMissingError(f"no sweep {name!r} in the namespace {connection.namespace}; there are: {known}")


def find_claims(connection: Connection, release: str) -> list[str]:
    """Return the claims that were made for a release; one that was there before is not among them.

    Args:
        connection: The API server.
        release: Its name.
    """
    return [each["name"] for each in _of_release(connection, "PersistentVolumeClaim", release)]


def find_kept_claims(connection: Connection, release: str) -> list[str]:
    """Return the claims that have outlived the sweep that they were made for.

    Args:
        connection: The API server.
        release: The sweep's release; while it has a job, or a cluster that stands, there are none.
    """
    clusters = _of_release(connection, "RayCluster", release)
    is_there = any("ownerReferences" not in each for each in clusters)
    if is_there or _of_release(connection, "RayJob", release):
        return []
    return find_claims(connection, release)


def describe_recovery(release: str) -> str:
    """Return how the results of a sweep that was deleted can be read.

    Args:
        release: Its name.
    """
    return (
        f"submit the study again with the same settings and --name {release}, which goes on from there; then "
        f"`destage cluster fetch {release}` brings them"
    )


def _of_release(connection: Connection, kind: str, release: str) -> list[Manifest]:
    """Return the metadata of a release's objects that are not being deleted; any text may name a release."""
    found = [each["metadata"] for each in find_all(connection, kind)]
    return [
        each
        for each in found
        if each.get("labels", {}).get(RELEASE) == release and "deletionTimestamp" not in each
    ]


def read_study(connection: Connection, job: Job) -> tuple[str, str]:
    """Return the study of a job that nobody noted a sweep for: a bundled one's name, or a study's text.

    Args:
        connection: The API server.
        job: The sweep.

    Returns:
        A name and an empty text, or a text and an empty name; nothing of both where it cannot be found.
    """
    volumes = job.head["spec"].get("volumes", [])
    maps = [each["configMap"]["name"] for each in volumes if each["name"] == "study"]
    if not maps:
        return job.manifest["spec"]["entrypoint"].split()[3], ""
    found = find_all(connection, "ConfigMap", fieldSelector=f"metadata.name={maps[0]}")
    return "", found[0].get("data", {}).get(STUDY_FILE, "") if found else ""


def submit(connection: Connection, manifests: Sequence[Manifest], *, sweep: str = "") -> Job:
    """Make a release's objects, its RayJob last; one that has ended is made anew, and resumes.

    Args:
        connection: The API server.
        manifests: What `build` made.
        sweep: The sweep's directory in the store, to be noted on the RayJob.

    Raises:
        ClusterError: The server refuses, or the sweep is running already.
    """
    *others, job = manifests
    if job["kind"] != "RayJob":
        raise ClusterError("settings of mode cluster are installed with Helm; what is submitted is a job")
    if sweep:
        job = {**job, "metadata": {**job["metadata"], "annotations": {SWEEP: sweep}}}
    name = job["metadata"]["name"]
    # Refusals come before anything is made.
    for manifest in (*others, job):
        apply(connection, manifest, is_dry=True)
    there = find(connection, "RayJob", name)
    if there is not None:
        old = parse_job(there)
        if not old.has_ended and not old.is_cancelled:
            raise ClusterError(
                f"{name} is there already: {old.state}; follow it with `destage cluster watch {old.release}`"
            )
        delete(connection, "RayJob", name)
        wait_until_deleted(connection, "RayJob", name, time.monotonic() + _DELETION_S)
    for manifest in others:
        apply(connection, manifest)
    made = parse_job(create(connection, job))
    _hand_over(connection, made.release, [each for each in others if each["kind"] in _OWNED])
    return made


def cancel(connection: Connection, job: Job) -> None:
    """End a sweep's pods; what is committed stays, and submitting it again goes on from there.

    Args:
        connection: The API server.
        job: The sweep.

    Raises:
        ClusterError: It has ended already, or KubeRay could not suspend it.
    """
    if job.is_cancelled:
        raise ClusterError(f"{job.name} is cancelled already; submit the study again to go on")
    if job.has_ended:
        raise ClusterError(f"{job.name} has ended already: {job.state} {job.outcome}".rstrip())
    if not job.can_be_suspended:
        raise ClusterError(
            f"{job.name} has deletion rules, so KubeRay cannot suspend it: `destage cluster delete` ends it"
        )
    merge = "application/merge-patch+json"
    path = place(connection, "RayJob", job.name)
    connection.call("PATCH", path, body={"spec": {"suspend": True}}, content_type=merge)


def delete_release(connection: Connection, release: str, *, with_results: bool) -> list[str]:
    """Delete all that belongs to a release, and return what it was.

    Its jobs go last: where anything is refused, the release is still found; and with them go the rights that
    it may have given to whoever deletes it.

    Args:
        connection: The API server.
        release: Its name.
        with_results: Whether the claim with the results goes, too.
    """
    claims = ["PersistentVolumeClaim"] if with_results else []
    kinds = (*_DELETABLE, *claims, "RayCluster", "RayJob")
    deleted = []
    for kind in kinds:
        for manifest in find_all(connection, kind, labelSelector=f"{RELEASE}={release}"):
            name = manifest["metadata"]["name"]
            if not _is_owned(manifest) and delete(connection, kind, name):
                deleted.append(f"{kind} {name}")
    return deleted


def _hand_over(connection: Connection, release: str, manifests: Sequence[Manifest]) -> None:
    """Have objects go when the last job of their release goes."""
    if not manifests:
        return
    owners = [
        {
            "apiVersion": "ray.io/v1",
            "kind": "RayJob",
            "name": job.name,
            "uid": job.manifest["metadata"]["uid"],
        }
        for job in list_jobs(connection)
        if job.release == release
    ]
    for manifest in manifests:
        metadata = {**manifest["metadata"], "ownerReferences": owners}
        apply(connection, {**manifest, "metadata": metadata})


def _last_words(message: str) -> str:
    """Return a message as one line; of a log that it carries the error, or the last line."""
    head, found, log = message.partition(_LOGS)
    if not found:
        return " ".join(message.split())
    lines = [" ".join(line.split()) for line in log.splitlines()[1:] if line.strip()]
    errors = [line for line in lines if line.startswith("error: ")]
    last = (errors or lines or [""])[-1]
    return f"{head.strip().rstrip(',')}: {last}" if last else head.strip().rstrip(",")


def _is_owned(manifest: Manifest) -> bool:
    """Return whether an object goes with another one."""
    owners: list[Any] = manifest["metadata"].get("ownerReferences", [])
    return bool(owners)
