"""Why pods do not run: the reason that Kubernetes gives, a code for it, and the fix."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from destage.cluster.client.api_connection import POLICY_REJECTIONS, ApiError, Connection
from destage.cluster.client.jobs import Job
from destage.cluster.client.objects import find_all
from destage.cluster.resources.pods import Manifest
from destage.cluster.setup.object_labels import COMPONENT, RELEASE
from destage.errors import Issue

FATAL_REASONS = (
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
)
"""Reasons that no waiting resolves."""
_COMPONENTS = ("head", "worker", "submitter")
_IMAGE = (
    "cluster.image-not-pulled",
    "check image.repository, image.tag and image.pullSecrets; `destage cluster doctor --image` tests one",
)
_BY_REASON = {
    "ErrImagePull": _IMAGE,
    "ImagePullBackOff": _IMAGE,
    "ErrImageNeverPull": _IMAGE,
    "InvalidImageName": _IMAGE,
    "OOMKilled": ("cluster.out-of-memory", "increase head.memory or workers.N.memory"),
    "CrashLoopBackOff": (
        "cluster.container-crashing",
        "see the log: `destage cluster logs NAME --component head` (or worker)",
    ),
    "Unschedulable": (
        "cluster.pod-unschedulable",
        "request less (cpu, memory, workers.N.replicas) or add nodes; a sweep starts when all its pods run",
    ),
}
"""Code and fix by the reason that Kubernetes gives."""
_SUBMITTER_LEFT = (
    "cluster.submitter-left",
    "the Ray cluster of this pod is deleted; a restart of the sweep replaces the pod",
)
_BY_MESSAGE = (
    ("unbound immediate PersistentVolumeClaims", "cluster.volume-not-bound", "check claim.storageClass"),
    (
        "untolerated taint",
        "cluster.pod-unschedulable",
        "set tolerations, or spot: true for workers; `kubectl describe nodes` lists the taints",
    ),
    ("node affinity/selector", "cluster.pod-unschedulable", "no node has these labels: check nodeSelector"),
    (
        "configmap",
        "cluster.config-map-missing",
        "check sweep.configMap, or create it: `kubectl create configmap NAME --from-file=study.yaml=STUDY`",
    ),
    (
        "secret",
        "cluster.secret-missing",
        "check that the Secrets of image.pullSecrets, authSecret and store.secret exist",
    ),
    *POLICY_REJECTIONS,
)
"""A part of Kubernetes' message, the code, the fix; takes precedence over the reason."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Why the pods of one component do not run.

    Attributes:
        component: `head`, `worker` or `submitter`; empty for the sweep itself.
        pods: Number of pods concerned; 0 for the sweep itself.
        fix: What to do; empty if unknown.
    """

    component: str
    pods: int
    code: str
    reason: str
    message: str
    fix: str

    @property
    def issue(self) -> Issue:
        """The warning: code, pods, reason, message and fix."""
        places = {0: "sweep", 1: f"{self.component} pod"}
        place = places.get(self.pods, f"{self.pods} {self.component} pods")
        message = f"{self.reason}: {self.message.rstrip('.')}" if self.message else self.reason
        return Issue(self.code, place, f"{message}; {self.fix}" if self.fix else message)


def diagnose_pods(connection: Connection, job: Job) -> list[Diagnostic]:
    """Return why a sweep's pods do not run, one diagnostic for each component and reason."""
    all_pods = find_all(connection, "Pod", labelSelector=f"{RELEASE}={job.release}")
    pods = [pod for pod in all_pods if pod["metadata"]["labels"].get(COMPONENT) in _COMPONENTS]
    failures: dict[tuple[str, str], list[str]] = {}
    unexplained: dict[str, str] = {}
    for pod in pods:
        component = pod["metadata"]["labels"][COMPONENT]
        if pod["metadata"].get("deletionTimestamp"):
            continue
        reason, _, message = describe_pod_failure(pod).partition(": ")
        if reason:
            failures.setdefault((component, reason), []).append(message)
        elif pod.get("status", {}).get("phase") == "Pending":
            unexplained[pod["metadata"]["name"]] = component
    is_starting = not job.has_ended and job.state not in ("Running", "Suspended")
    diagnostics = [
        _diagnose(job, component, len(messages), reason, messages[-1])
        for (component, reason), messages in failures.items()
    ]
    if unexplained or (is_starting and not pods):
        diagnostics += _diagnose_by_events(connection, job, unexplained)
    return diagnostics


def describe_pod_failure(pod: Manifest) -> str:
    """Return why a pod does not run, as `reason: message`; empty if its status does not say."""
    status = pod.get("status", {})
    # KubeRay's init container, which waits for the head, needs the image first.
    for container in (*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])):
        waiting = container.get("state", {}).get("waiting")
        last = container.get("lastState", {}).get("terminated") or {}
        if waiting and last.get("reason") == "OOMKilled":
            return "OOMKilled: the container exceeded its memory limit"
        if waiting and waiting.get("reason") not in ("ContainerCreating", "PodInitializing"):
            return _join(waiting["reason"], waiting.get("message"))
    for condition in status.get("conditions", []):
        is_unscheduled = condition["type"] == "PodScheduled" and condition["status"] == "False"
        if is_unscheduled and condition.get("message"):
            return _join(condition.get("reason", "Unschedulable"), condition["message"])
    return ""


def _diagnose_by_events(
    connection: Connection, job: Job, unexplained: Mapping[str, str]
) -> Iterator[Diagnostic]:
    """Diagnose pods without a reason in their status, and pods that could not be created."""
    try:
        events = find_all(connection, "Event", fieldSelector="type=Warning")
    except ApiError:
        return  # the user may not list events
    latest: dict[tuple[str, str], Manifest] = {}
    for event in events:
        name = event["involvedObject"].get("name", "")
        if name in unexplained or name in (job.name, job.cluster):
            latest[unexplained.get(name, ""), event["reason"]] = event
    for (component, reason), event in latest.items():
        count = sum(pod_component == component for pod_component in unexplained.values()) if component else 0
        yield _diagnose(job, component, count, reason, _one_line(event.get("message")))


def _diagnose(job: Job, component: str, pods: int, reason: str, message: str) -> Diagnostic:
    if component == "submitter" and job.cluster and f'"{job.cluster}" not found' in message:
        # KubeRay deletes its Secret with Ray's token together with the cluster.
        code, fix = _SUBMITTER_LEFT
    else:
        by_message = ((code, fix) for part, code, fix in _BY_MESSAGE if part in message)
        code, fix = next(by_message, _BY_REASON.get(reason, ("cluster.pod-not-running", "")))
    return Diagnostic(component, pods, code, reason, message, fix)


def _join(reason: str, message: object) -> str:
    text = _one_line(message)
    return f"{reason}: {text}" if text else reason


def _one_line(text: object) -> str:
    return " ".join(str(text or "").split())[:300]
