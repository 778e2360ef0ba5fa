"""Why the pods of a sweep do not run: what Kubernetes says of each, and what mends it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from destage.cluster.connection import RULES, ApiError, Connection
from destage.cluster.jobs import Job
from destage.cluster.labels import COMPONENT, RELEASE
from destage.cluster.objects import find_all
from destage.cluster.pods import Manifest

HOPELESS = (
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
)
"""Reasons for which waiting for a pod is in vain."""
_COMPONENTS = ("head", "worker", "submitter")
_IMAGE = "check image.repository, image.tag and image.pullSecrets; `destage cluster doctor --image` tries one"
_ROOM = (
    "ask for less (cpu, memory, fewer workers.N.replicas), or let the cluster grow; KubeRay starts the sweep "
    "when all its pods are there"
)
_MENDS = {
    "ErrImagePull": _IMAGE,
    "ImagePullBackOff": _IMAGE,
    "ErrImageNeverPull": _IMAGE,
    "InvalidImageName": _IMAGE,
    "OOMKilled": "give it more memory: head.memory or workers.N.memory",
    "CrashLoopBackOff": "`destage cluster logs NAME --component` head or worker shows its last words",
}
"""What mends a trouble, by the reason that Kubernetes gives."""
_PARTS = (
    ("unbound immediate PersistentVolumeClaims", "no volume for the claim yet: check claim.storageClass"),
    (
        "untolerated taint",
        "no node takes it: set tolerations, or spot: true for workers; `kubectl describe nodes` lists taints",
    ),
    ("node affinity/selector", "no node has these labels: check nodeSelector"),
    (
        "configmap",
        "make it with `kubectl create configmap NAME --from-file=study.yaml=STUDY`, or check sweep.configMap",
    ),
    ("secret", "check image.pullSecrets, authSecret and store.secret: they name Secrets that must be there"),
    *RULES,
)
"""What mends it, by a part of the message; looked for before the reason."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What keeps some pods of a kind from running.

    Attributes:
        component: Which pods: `head`, `worker` or `submitter`; empty where it is the sweep itself.
        pods: How many have it.
        reason: Kubernetes' word for it.
        told: What Kubernetes says.
        mend: What to do; empty where nobody knows.
    """

    component: str
    pods: int
    reason: str
    told: str
    mend: str

    def __str__(self) -> str:
        """Return it as one sentence."""
        subject = {0: "the sweep", 1: f"the {self.component}'s pod"}.get(
            self.pods, f"{self.pods} {self.component} pods"
        )
        told = f": {self.told.rstrip('.')}" if self.told else ""
        return f"{subject}: {self.reason}{told}" + (f"; {self.mend}" if self.mend else "")


def diagnose_pods(connection: Connection, job: Job) -> list[Trouble]:
    """Return what keeps a sweep's pods from running, each kind of trouble once.

    Args:
        connection: The API server.
        job: The sweep.

    Raises:
        ClusterError: The server cannot be reached, or lets nobody list pods.
    """
    found = find_all(connection, "Pod", labelSelector=f"{RELEASE}={job.release}")
    pods = [pod for pod in found if pod["metadata"]["labels"].get(COMPONENT) in _COMPONENTS]
    told: dict[tuple[str, str], list[str]] = {}
    silent: dict[str, str] = {}
    for pod in pods:
        component = pod["metadata"]["labels"][COMPONENT]
        if pod["metadata"].get("deletionTimestamp"):
            continue
        reason, _, text = describe_pod_failure(pod).partition(": ")
        if reason:
            told.setdefault((component, reason), []).append(text)
        elif pod.get("status", {}).get("phase") == "Pending":
            silent[pod["metadata"]["name"]] = component
    is_starting = not job.has_ended and job.state not in ("Running", "Suspended")
    troubles = [
        _trouble(component, len(texts), reason, texts[-1]) for (component, reason), texts in told.items()
    ]
    if silent or (is_starting and not pods):
        troubles += _troubles_by_events(connection, job, silent)
    return troubles


def describe_pod_failure(pod: Manifest) -> str:
    """Return why a pod does not run: Kubernetes' reason and its words, empty where nothing is told.

    Args:
        pod: The pod as the server has it.
    """
    status = pod.get("status", {})
    # KubeRay has its workers wait for their head in an init container, which needs the image first.
    for container in (*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])):
        waiting = container.get("state", {}).get("waiting")
        last = container.get("lastState", {}).get("terminated") or {}
        if waiting and last.get("reason") == "OOMKilled":
            return "OOMKilled: its container needed more memory than it may have"
        if waiting and waiting.get("reason") not in ("ContainerCreating", "PodInitializing"):
            return _reason(waiting["reason"], waiting.get("message"))
    for condition in status.get("conditions", []):
        if (
            condition["type"] == "PodScheduled"
            and condition["status"] == "False"
            and condition.get("message")
        ):
            return _reason(condition.get("reason", "Unschedulable"), condition["message"])
    return ""


def _troubles_by_events(connection: Connection, job: Job, silent: Mapping[str, str]) -> Iterator[Trouble]:
    """Yield what events say of pods that say nothing themselves, and of those that could not be made."""
    try:
        events = find_all(connection, "Event", fieldSelector="type=Warning")
    except ApiError:
        return  # who may not see events sees that the pods wait
    seen: dict[tuple[str, str], Manifest] = {}
    for event in events:
        about = event["involvedObject"].get("name", "")
        if about in silent or about in (job.name, job.cluster):
            seen[silent.get(about, ""), event["reason"]] = event
    for (component, reason), event in seen.items():
        count = sum(one == component for one in silent.values()) if component else 0
        yield _trouble(component, count, reason, _one_line(event.get("message")))


def _trouble(component: str, pods: int, reason: str, told: str) -> Trouble:
    return Trouble(component, pods, reason, told, _mend(reason, told))


def _mend(reason: str, told: str) -> str:
    for part, mend in _PARTS:
        if part in told:
            return mend
    return _ROOM if reason == "Unschedulable" else _MENDS.get(reason, "")


def _reason(reason: str, told: object) -> str:
    text = _one_line(told)
    return f"{reason}: {text}" if text else reason


def _one_line(text: object) -> str:
    return " ".join(str(text or "").split())[:300]
