"""The sweeps of a namespace, each a RayJob: submit, list, find, cancel and delete them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from destage.cluster.client.api_connection import ApiError, Connection
from destage.cluster.client.interruption import build_restart, is_interrupted
from destage.cluster.client.objects import (
    apply,
    build_path,
    create,
    delete,
    find,
    find_all,
    wait_until_deleted,
)
from destage.cluster.resources.pods import STUDY_FILE, Manifest
from destage.cluster.setup.object_labels import RELEASE, SWEEP, keeper_prefix
from destage.errors import ClusterError

_SELECTOR = "app.kubernetes.io/name=destage"
_ENDED = ("Complete", "Failed", "ValidationFailed")
_CANCELLED = ("Suspending", "Suspended")
_LOG_MARK = "last available logs"
"""Ray's status message has up to thousands of log lines after this text."""
_DELETED_BY_US = ("Job", "ConfigMap", "NetworkPolicy", "PodDisruptionBudget", "ServiceAccount", "Pod")
_OWNED_BY_JOB = ("PodMonitor", "Role", "RoleBinding")
"""Kubernetes deletes these with the last job of their release. So `delete` needs no permissions on these
kinds, and objects that others created, such as Helm, are kept."""
_DELETION_S = 60.0
_CONFLICT = 409
_PATCH = "application/merge-patch+json"


class JobMissingError(ClusterError):
    """A sweep that does not exist on the cluster."""


@dataclass(frozen=True, slots=True)
class Job:
    """A sweep's RayJob.

    Attributes:
        sweep: The sweep's directory in the store; empty if unknown at submission.
        state: The operator's state: `Initializing`, `Running`, `Complete`, `Failed`, ...
        outcome: Ray's status: `PENDING`, `RUNNING`, `SUCCEEDED`, `FAILED`, `STOPPED`; empty before it starts.
        message: Why it failed: the operator's reason, and the last error in the log.
        ended: End time; empty before the end.
        cluster: The name of its RayCluster; empty before it is created.
        manifest: The whole RayJob.
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
        """Whether the state is final."""
        return self.state in _ENDED

    @property
    def is_cancelled(self) -> bool:
        """Whether the sweep is suspended until it is submitted again."""
        return self.state in _CANCELLED

    @property
    def is_interrupted(self) -> bool:
        """Whether it failed by a loss of machines, so that a restart continues it."""
        return is_interrupted(self.manifest.get("status") or {})

    @property
    def can_be_suspended(self) -> bool:
        """Whether KubeRay can suspend the job; it cannot with deletion rules."""
        return bool(self.manifest["spec"].get("shutdownAfterJobFinishes"))

    @property
    def head(self) -> Manifest:
        """The template of the head pod."""
        template: Manifest = self.manifest["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]
        return template

    @property
    def as_owner(self) -> Manifest:
        """The reference by which Kubernetes deletes an object together with the job."""
        uid = self.manifest["metadata"]["uid"]
        return {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": self.name, "uid": uid}

    @property
    def store(self) -> str:
        """The store as pods see it: a mount path or a URL."""
        env = {
            variable["name"]: variable.get("value") for variable in self.head["spec"]["containers"][0]["env"]
        }
        return str(env["DESTAGE_STORE"])

    @property
    def is_bucket(self) -> bool:
        """Whether the store is an object store."""
        return "://" in self.store

    @property
    def claim(self) -> str:
        """The claim with the results; empty for an object store."""
        claims = [volume.get("persistentVolumeClaim") for volume in self.head["spec"]["volumes"]]
        return "".join(claim["claimName"] for claim in claims if claim)

    @property
    def place(self) -> str:
        """Where the results are, for messages."""
        return self.store if self.is_bucket else f"the claim {self.claim}"


def parse_job(manifest: Manifest) -> Job:
    """Return the job of a RayJob manifest from the server."""
    metadata, status = manifest["metadata"], manifest.get("status") or {}
    is_suspended = manifest["spec"].get("suspend", False)
    reason = status.get("reason", "")
    text = _shorten(str(status.get("message") or ""))
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
    """Return all sweeps of the namespace, oldest first."""
    jobs = [parse_job(manifest) for manifest in find_all(connection, "RayJob", labelSelector=_SELECTOR)]
    return sorted(jobs, key=lambda job: (job.created, job.name))


def find_job(connection: Connection, name: str) -> Job:
    """Return the newest job with this name, which may be a release's, a RayJob's or a sweep's.

    Raises:
        JobMissingError: There is none.
    """
    jobs = list_jobs(connection)
    matching = [job for job in jobs if name in (job.release, job.name, job.sweep)]
    if matching:
        return matching[-1]
    try:
        claims = find_kept_claims(connection, name)
    except ApiError:
        claims = []  # the user may not list claims
    if claims:
        message = (
            f"the sweep is deleted, its results are in the claim {', '.join(claims)}: "
            f"{describe_recovery(name)}; `destage cluster delete {name} --results` deletes them"
        )
        raise JobMissingError("cluster.sweep-deleted", message, name, {"claims": claims})
    existing = list(dict.fromkeys(job.release for job in jobs))
    message = (
        f"no such sweep in the namespace {connection.namespace}; existing: {', '.join(existing) or 'none'}"
    )
    raise JobMissingError("cluster.sweep-missing", message, name, {"existing": existing})


def find_claims(connection: Connection, release: str) -> list[str]:
    """Return the claims that were created for a release, without an existing claim that it uses."""
    return [
        metadata["name"] for metadata in _metadata_of_release(connection, "PersistentVolumeClaim", release)
    ]


def find_kept_claims(connection: Connection, release: str) -> list[str]:
    """Return the claims created for a release that has neither a job nor a RayCluster any more."""
    clusters = _metadata_of_release(connection, "RayCluster", release)
    has_cluster = any("ownerReferences" not in metadata for metadata in clusters)
    if has_cluster or _metadata_of_release(connection, "RayJob", release):
        return []
    return find_claims(connection, release)


def describe_recovery(release: str) -> str:
    """Return how to access the results of a deleted sweep."""
    return (
        f"to resume it, submit the study again with the same settings and --name {release}; "
        f"`destage cluster fetch {release}` then downloads the results"
    )


def read_study(connection: Connection, job: Job) -> tuple[str, str]:
    """Return the study of a job.

    Returns:
        The name of a bundled study and an empty text, or an empty name and the study's text; both are empty
        if the study cannot be found.
    """
    volumes = job.head["spec"].get("volumes", [])
    maps = [volume["configMap"]["name"] for volume in volumes if volume["name"] == "study"]
    if not maps:
        return job.manifest["spec"]["entrypoint"].split()[3], ""
    config_maps = find_all(connection, "ConfigMap", fieldSelector=f"metadata.name={maps[0]}")
    return "", config_maps[0].get("data", {}).get(STUDY_FILE, "") if config_maps else ""


def submit(connection: Connection, manifests: Sequence[Manifest], *, sweep: str = "") -> Job:
    """Create the objects of `build`, the RayJob last; a job that has ended or is cancelled is replaced.

    The RayJob records the sweep's directory in the store.

    Raises:
        ClusterError: The server rejects an object, or the sweep is already running.
    """
    *others, job = manifests
    if job["kind"] != "RayJob":
        message = "only mode job can be submitted; install mode cluster with Helm"
        raise ClusterError("cluster.not-a-job", message, "mode")
    if sweep:
        job = {**job, "metadata": {**job["metadata"], "annotations": {SWEEP: sweep}}}
    name = job["metadata"]["name"]
    # Validate all before the first is created.
    for manifest in (*others, job):
        _validate(connection, manifest)
    existing = find(connection, "RayJob", name)
    if existing is not None:
        old = parse_job(existing)
        if not old.has_ended and not old.is_cancelled:
            message = f"already submitted ({old.state}); follow it with `destage cluster watch {old.release}`"
            raise ClusterError("cluster.sweep-running", message, name, {"state": old.state})
        delete(connection, "RayJob", name)
        wait_until_deleted(connection, "RayJob", name, time.monotonic() + _DELETION_S)
    delete_keepers(connection, name)
    for manifest in others:
        if manifest["kind"] == "Job":
            create(connection, manifest)
        else:
            apply(connection, manifest)
    submitted = parse_job(create(connection, job))
    owned = [manifest for manifest in others if manifest["kind"] in _OWNED_BY_JOB]
    _set_owners(connection, submitted.release, owned)
    return submitted


def cancel(connection: Connection, job: Job) -> None:
    """Delete a sweep's pods; committed results are kept, and the sweep resumes when it is submitted again.

    Raises:
        ClusterError: It has ended already, or KubeRay cannot suspend it.
    """
    if job.is_cancelled:
        message = "already cancelled; submit the study again to resume it"
        raise ClusterError("cluster.already-cancelled", message, job.name)
    if job.has_ended:
        message = f"already ended: {job.state} {job.outcome}".rstrip()
        raise ClusterError("cluster.already-ended", message, job.name, {"state": job.state})
    if not job.can_be_suspended:
        message = "KubeRay cannot suspend a job with deletion rules; `destage cluster delete` ends it"
        raise ClusterError("cluster.cannot-suspend", message, job.name)
    path = build_path(connection, "RayJob", job.name)
    connection.call("PATCH", path, body={"spec": {"suspend": True}}, content_type=_PATCH)
    delete_keepers(connection, job.name)


def restart(connection: Connection, job: Job) -> bool:
    """Restart a job that has failed, and return whether it was still as `job` says.

    KubeRay starts a new Ray cluster, on which the sweep continues from the committed runs.
    """
    path = f"{build_path(connection, 'RayJob', job.name)}/status"
    try:
        connection.call("PATCH", path, body=build_restart(job.manifest), content_type=_PATCH)
    except ApiError as error:
        if error.status == _CONFLICT or error.is_missing:
            return False
        raise
    return True


def has_keeper(connection: Connection, job: Job) -> bool:
    """Return whether a keeper on the cluster follows a job."""
    keepers = find_all(connection, "Job", labelSelector=f"{RELEASE}={job.release}")
    ends = [
        any(
            condition["type"] in ("Complete", "Failed")
            for condition in keeper.get("status", {}).get("conditions", [])
        )
        for keeper in keepers
        if keeper["metadata"]["name"].startswith(keeper_prefix(job.name))
    ]
    return not all(ends)


def delete_keepers(connection: Connection, job: str) -> None:
    """Delete the keepers of a RayJob and wait until they are deleted."""
    for keeper in find_all(connection, "Job", labelSelector=_SELECTOR):
        name = keeper["metadata"]["name"]
        if name.startswith(keeper_prefix(job)) and delete(connection, "Job", name):
            wait_until_deleted(connection, "Job", name, time.monotonic() + _DELETION_S)


def delete_release(connection: Connection, release: str, *, with_results: bool) -> list[str]:
    """Delete all objects of a release and return them as `kind name`; the claim only `with_results`.

    Its jobs are deleted last, so that after an error the release is still found and, if its Role gives the
    user's permissions, they are kept until then.
    """
    claims = ["PersistentVolumeClaim"] if with_results else []
    deleted = []
    for kind in (*_DELETED_BY_US, *claims, "RayCluster", "RayJob"):
        for manifest in find_all(connection, kind, labelSelector=f"{RELEASE}={release}"):
            metadata = manifest["metadata"]
            # Kubernetes deletes an owned object with its owner.
            if not metadata.get("ownerReferences") and delete(connection, kind, metadata["name"]):
                deleted.append(f"{kind} {metadata['name']}")
    return deleted


def _validate(connection: Connection, manifest: Manifest) -> None:
    """Let the server validate an object without creating it."""
    if manifest["kind"] == "Job":
        # The template of a Job that exists cannot be changed, so the server compares with none.
        metadata = {**manifest["metadata"], "name": f"{manifest['metadata']['name']}-new"}
        create(connection, {**manifest, "metadata": metadata}, is_dry=True)
        return
    try:
        apply(connection, manifest, is_dry=True)
    except ApiError as error:
        # The server lets a user bind only a Role that exists, and its Role is not created yet.
        if manifest["kind"] != "RoleBinding" or not error.is_missing:
            raise


def _metadata_of_release(connection: Connection, kind: str, release: str) -> list[Manifest]:
    """Return the metadata of a release's objects, except those being deleted.

    Filters here, because a release name from a user may not be a valid label value.
    """
    all_metadata = [manifest["metadata"] for manifest in find_all(connection, kind)]
    return [
        metadata
        for metadata in all_metadata
        if metadata.get("labels", {}).get(RELEASE) == release and "deletionTimestamp" not in metadata
    ]


def _set_owners(connection: Connection, release: str, manifests: Sequence[Manifest]) -> None:
    """Make all jobs of a release owners of objects, so that Kubernetes deletes these with the last job."""
    if not manifests:
        return
    owners = [job.as_owner for job in list_jobs(connection) if job.release == release]
    for manifest in manifests:
        metadata = {**manifest["metadata"], "ownerReferences": owners}
        apply(connection, {**manifest, "metadata": metadata})


def _shorten(message: str) -> str:
    """Return a status message as one line; of a log in it, the last error or else the last line."""
    head, mark, log = message.partition(_LOG_MARK)
    if not mark:
        return " ".join(message.split())
    lines = [" ".join(line.split()) for line in log.splitlines()[1:] if line.strip()]
    errors = [line for line in lines if line.startswith("error: ")]
    last = (errors or lines or [""])[-1]
    return f"{head.strip().rstrip(',')}: {last}" if last else head.strip().rstrip(",")
