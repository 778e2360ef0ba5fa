"""The settings of a sweep on a cluster: each name, type, default, bound and description is defined here.

`scripts/generate_chart.py` writes the chart's `values.yaml`, `values.schema.json` and README from these
classes, and `destage cluster submit --values` reads the same files. In YAML the names are in camel case. The
URL of an object store, its scheme and ports, decides what further settings are valid.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from destage.errors import Issue, StoreError
from destage.objects import ObjectPath

_QUANTITY: Mapping[str, Any] = {
    "type": ["string", "integer"],
    "pattern": r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$",
    "examples": ["500m", "4Gi"],
}
"""A Kubernetes quantity."""
_NAME: Mapping[str, Any] = {"pattern": r"^$|^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", "examples": ["my-name"]}
"""The name of an existing object, or empty."""
DNS_LABEL = re.compile("^[a-z]([-a-z0-9]*[a-z0-9])?$")
"""A DNS label of RFC 1035: KubeRay derives Service names from the names of clusters and worker groups."""


def setting(default: Any, description: str, **schema: Any) -> Any:
    """Define a setting as a dataclass field.

    Args:
        default: The default; `...` for a required setting.
        description: One line for values.yaml, the schema and the README.
        schema: JSON Schema keywords beyond the type: `minimum`, `pattern`, `enum`.
    """
    metadata = {"description": description, "schema": schema}
    if default is ...:
        return field(metadata=metadata)
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def section(kind: type) -> Any:
    """Define a group of settings, described by the first line of its class's docstring."""
    return setting(kind, (kind.__doc__ or "").splitlines()[0])


@dataclass(frozen=True, slots=True)
class Image:
    """The container image of all pods."""

    repository: str = setting("destage", "The image's repository, without a tag.", minLength=1)
    tag: str = setting("", "The image's tag; default: the version of Destage.")
    digest: str = setting(
        "",
        "The image's digest, `sha256:...`; takes precedence over the tag.",
        pattern="^$|^sha256:[0-9a-f]{64}$",
        examples=["sha256:" + "0a" * 32],
    )
    pull_policy: str = setting(
        "IfNotPresent", "When the image is pulled.", enum=["Always", "IfNotPresent", "Never"]
    )
    pull_secrets: tuple[str, ...] = setting((), "Names of Secrets with the registry's credentials.")


@dataclass(frozen=True, slots=True)
class Sweep:
    """The study to run; mode `job` takes exactly one of the three."""

    spec: str = setting("", "A study as YAML text (`--set-file sweep.spec=study.yaml`).")
    config_map: str = setting("", "An existing ConfigMap with the study under the key `study.yaml`.", **_NAME)
    study: str = setting("", "The name of a bundled study.", pattern="^[a-z0-9_]*$", examples=["call_center"])


@dataclass(frozen=True, slots=True)
class Claim:
    """The persistent volume claim for the results."""

    existing: str = setting(
        "", "An existing claim; by default one is created, and kept on uninstall.", **_NAME
    )
    size: str = setting("20Gi", "The size of a new claim.", **_QUANTITY)
    storage_class: str = setting(
        "", "The storage class of a new claim; default: the cluster's default class.", **_NAME
    )
    access_mode: str = setting(
        "ReadWriteMany",
        "The access mode of a new claim; `ReadWriteOnce` works only if all pods run on one node.",
        enum=["ReadWriteMany", "ReadWriteOnce"],
    )


@dataclass(frozen=True, slots=True)
class Store:
    """The object store for the results; replaces the claim."""

    url: str = setting(
        "",
        "The URL of the store: `s3://`, `gs://`, `abfs://` or `abfss://`.",
        pattern="^[!$-~]*$",
        examples=["s3://bucket/prefix?region=eu-west-1"],
    )
    secret: str = setting(
        "", "An existing Secret with the store's credentials; empty for workload identity.", **_NAME
    )


@dataclass(frozen=True, slots=True)
class DeletionRule:
    """What KubeRay deletes how long after a job has ended."""

    policy: str = setting(
        ..., "What to delete.", enum=["DeleteCluster", "DeleteWorkers", "DeleteSelf", "DeleteNone"]
    )
    status: str = setting(
        ..., "The job's final status that the rule applies to.", enum=["SUCCEEDED", "FAILED"]
    )
    ttl_seconds: int = setting(..., "Delay after the job's end [s].", minimum=0)


@dataclass(frozen=True, slots=True)
class Job:
    """Deadline, retries and cleanup of the job."""

    active_deadline_seconds: int = setting(
        86400, "Time limit of the job [s]; committed results are kept.", minimum=60
    )
    backoff_limit: int = setting(
        3, "Maximum retries of the job, each on a new cluster, which resumes the sweep.", minimum=0
    )
    submitter_backoff_limit: int = setting(3, "Maximum retries of the submission.", minimum=0)
    ttl_seconds_after_finished: int = setting(300, "How long the pods are kept after the end [s].", minimum=0)
    deletion_rules: tuple[DeletionRule, ...] = setting(
        (),
        "Rules that replace `ttlSecondsAfterFinished`; require KubeRay's feature gate RayJobDeletionPolicy.",
    )


@dataclass(frozen=True, slots=True)
class Keeper:
    """The pod that restarts the job after a loss of machines."""

    enabled: bool = setting(True, "Restart the job if it failed because its head or its pods were lost.")
    max_failures: int = setting(
        20, "Failures of the job, KubeRay's own retries included, after which it is left alone.", minimum=1
    )


@dataclass(frozen=True, slots=True)
class Head:
    """The pod that drives the sweep; it executes no runs."""

    cpu: str = setting("1", "CPU request and limit.", **_QUANTITY)
    memory: str = setting("4Gi", "Memory request and limit.", **_QUANTITY)
    priority_class: str = setting(
        "", "An existing priority class for the head and the keeper; default: `priorityClass`.", **_NAME
    )
    disruption_budget: bool = setting(
        True, "Create a PodDisruptionBudget, so that a drained node keeps the head until the sweep ends."
    )
    node_selector: Mapping[str, str] = setting(dict, "Node labels that the pod requires.")
    tolerations: tuple[Mapping[str, Any], ...] = setting((), "Tolerations; keep the head off spot nodes.")


@dataclass(frozen=True, slots=True)
class Reader:
    """The pod that `destage cluster` reads results with while there is no head."""

    priority_class: str = setting(
        "",
        "An existing priority class; a negative one with preemptionPolicy Never starves no sweep.",
        **_NAME,
    )


@dataclass(frozen=True, slots=True)
class Workers:
    """A group of identical pods that execute runs."""

    name: str = setting(
        ..., "The group's name.", pattern=DNS_LABEL.pattern, examples=["spot-large"], maxLength=20
    )
    replicas: int = setting(..., "Number of pods.", minimum=0)
    slots: int = setting(..., "Concurrent runs per pod; one per CPU.", minimum=1)
    cpu: str = setting(..., "CPU request and limit of each pod.", **_QUANTITY)
    memory: str = setting(..., "Memory request and limit of each pod.", **_QUANTITY)
    min_replicas: int = setting(0, "Minimum number of pods with autoscaling.", minimum=0)
    max_replicas: int = setting(
        0, "Maximum number of pods with autoscaling; 0: the same as `replicas`.", minimum=0
    )
    spot: bool = setting(False, "Tolerate the taints of spot nodes, which can be reclaimed at any time.")
    node_selector: Mapping[str, str] = setting(dict, "Node labels that the pods require.")
    tolerations: tuple[Mapping[str, Any], ...] = setting((), "Further tolerations.")


@dataclass(frozen=True, slots=True)
class Autoscaling:
    """Autoscaling of the workers by demand."""

    enabled: bool = setting(False, "Run Ray's autoscaler beside the head.")
    idle_timeout_seconds: int = setting(60, "Idle time before a worker is removed [s].", minimum=1)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The service accounts of the pods; only the autoscaler's has API permissions."""

    annotations: Mapping[str, str] = setting(
        dict, "Annotations of the head and worker account, for workload identity."
    )


@dataclass(frozen=True, slots=True)
class Users:
    """The users of `destage cluster`."""

    role: bool = setting(False, "Create a Role with the permissions that `destage cluster` needs.")
    subjects: tuple[Mapping[str, str], ...] = setting((), "The subjects to bind the Role to.")


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """Network access to and from the pods."""

    enabled: bool = setting(True, "Allow ingress only from the sweep's own pods and the KubeRay operator.")
    egress_ports: tuple[int, ...] = setting(
        (), "Further ports to allow egress to: a proxy's, or an endpoint's that `store.url` does not name."
    )


@dataclass(frozen=True, slots=True)
class PodMonitor:
    """Ray's metrics for Prometheus."""

    enabled: bool = setting(False, "Create a PodMonitor; requires the Prometheus operator.")
    interval: str = setting("30s", "The scrape interval.", pattern="^[0-9]+(ms|s|m)$", examples=["15s"])
    labels: Mapping[str, str] = setting(dict, "Labels by which Prometheus selects the PodMonitor.")


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A Grafana dashboard."""

    enabled: bool = setting(False, "Create a ConfigMap with the dashboard.")
    labels: Mapping[str, str] = setting(
        dict, "Further labels by which Grafana's sidecar selects the dashboard."
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings."""

    mode: str = setting(
        "job",
        "`job` runs one sweep and ends; `cluster` is a Ray cluster that runs until it is deleted.",
        enum=["job", "cluster"],
    )
    ray_version: str = setting(
        "2.60.0", "The version of Ray in the image.", pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$", examples=["2.61.0"]
    )
    image: Image = section(Image)
    sweep: Sweep = section(Sweep)
    claim: Claim = section(Claim)
    store: Store = section(Store)
    job: Job = section(Job)
    keeper: Keeper = section(Keeper)
    head: Head = section(Head)
    reader: Reader = section(Reader)
    workers: tuple[Workers, ...] = setting(
        (Workers("workers", replicas=2, slots=2, cpu="2", memory="4Gi", spot=True),),
        "Groups of pods that execute runs.",
        minItems=1,
    )
    autoscaling: Autoscaling = section(Autoscaling)
    auth_secret: str = setting(
        "",
        "An existing Secret with Ray's token under the key `auth_token`; by default KubeRay creates one.",
        **_NAME,
    )
    priority_class: str = setting("", "An existing priority class for all pods but the reader.", **_NAME)
    accounts: Accounts = section(Accounts)
    users: Users = section(Users)
    network_policy: NetworkPolicy = section(NetworkPolicy)
    pod_monitor: PodMonitor = section(PodMonitor)
    dashboard: Dashboard = section(Dashboard)


_ADDRESS = re.compile(r"^(s3|gs|abfss?)://[^/?#]")
_PORT = re.compile(
    r"(?:^abfss?://[^/?]*|[?&](?:endpoint_override|blob_storage_authority|dfs_storage_authority)=[^&]*)"
    r"(?::|%3A)([0-9]+)"
)
_PLAIN = re.compile(r"[?&](scheme=http|enable_tls=(false|0))(&|$)")
_HTTP, _HTTPS = 80, 443


def find_scheme(url: str) -> str:
    """Return the scheme of a store's client: `s3`, `gs` or `abfs`; empty for anything else."""
    match = _ADDRESS.search(url)
    return match[1].replace("abfss", "abfs") if match else ""


def find_ports(url: str) -> list[int]:
    """Return the ports of a store and its token service: 443, and that of the store's endpoint."""
    named = [int(port) for port in _PORT.findall(url)]
    if not named and _PLAIN.search(url):
        named = [_HTTP]
    return list(dict.fromkeys([_HTTPS, *named]))


def find_store_issues(settings: Settings) -> Iterator[Issue]:
    """Yield the issues of the store settings; the chart's `_refusals.tpl` has the same."""
    url = settings.store.url
    if settings.store.secret and not url:
        message = "needs store.url: a volume has no credentials"
        yield Issue("settings.secret-without-url", "store.secret", message)
    if not url:
        return
    if not _ADDRESS.search(url):
        message = "must start with s3://, gs://, abfs:// or abfss:// and a bucket"
        yield Issue("settings.bad-store-url", "store.url", message)
    elif _has_credentials(url):
        # The URL is not repeated: logs are kept.
        message = (
            "must not contain credentials: put them into a Secret (store.secret) or use workload identity "
            "(accounts.annotations)"
        )
        yield Issue("settings.credentials-in-url", "store.url", message)
    if settings.claim.existing:
        message = "excludes claim.existing: results go to a bucket or to a volume"
        yield Issue("settings.store-and-claim", "store.url", message)


def _has_credentials(url: str) -> bool:
    """Return whether an otherwise valid URL is rejected, as everywhere, because it contains credentials."""
    try:
        ObjectPath.parse(url)
    except StoreError:
        return True
    return False
