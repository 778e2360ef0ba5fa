"""The settings of a sweep on a cluster: each name, default, bound and line of prose stands here, once.

The chart's `values.yaml`, `values.schema.json` and README are written from these classes, and
`destage cluster submit --values` reads the same files. In YAML the names are in camel case.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from destage.cluster.entry import LABEL, NAME, QUANTITY, entry


@dataclass(frozen=True, slots=True)
class Image:
    """The image that every pod runs."""

    repository: str = entry("destage", "Where the image is, without its tag.", minLength=1)
    tag: str = entry("", "Its tag; by default the version of Destage.")
    digest: str = entry(
        "",
        "Its digest, `sha256:...`; wins over the tag.",
        pattern="^$|^sha256:[0-9a-f]{64}$",
        examples=["sha256:" + "0a" * 32],
    )
    pull_policy: str = entry("IfNotPresent", "When it is pulled.", enum=["Always", "IfNotPresent", "Never"])
    pull_secrets: tuple[str, ...] = entry((), "Names of Secrets with the registry's credentials.")


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is run; in mode `job` exactly one of the three."""

    spec: str = entry("", "A study, as YAML text (`--set-file sweep.spec=study.yaml`).")
    config_map: str = entry("", "A ConfigMap that is there and holds a study as `study.yaml`.", **NAME)
    study: str = entry("", "The name of a bundled study.", pattern="^[a-z0-9_]*$", examples=["call_center"])


@dataclass(frozen=True, slots=True)
class Claim:
    """The volume that keeps the results."""

    existing: str = entry("", "A claim that is there; by default one is made, and kept on uninstall.", **NAME)
    size: str = entry("20Gi", "How much the new claim asks for.", **QUANTITY)
    storage_class: str = entry("", "Its storage class; by default the cluster's default one.", **NAME)
    access_mode: str = entry(
        "ReadWriteMany",
        "Its access mode; `ReadWriteOnce` serves where all pods share one node.",
        enum=["ReadWriteMany", "ReadWriteOnce"],
    )


@dataclass(frozen=True, slots=True)
class Store:
    """The object store that keeps the results in place of a volume."""

    url: str = entry(
        "",
        "Where the results go, in place of a volume: `s3://`, `gs://`, `abfs://` or `abfss://`.",
        pattern="^[!$-~]*$",
        examples=["s3://bucket/prefix?region=eu-west-1"],
    )
    secret: str = entry(
        "", "A Secret that is there, with the store's credentials; none with workload identity.", **NAME
    )


@dataclass(frozen=True, slots=True)
class DeletionRule:
    """What is deleted how long after a job has ended."""

    policy: str = entry(
        ..., "What is deleted.", enum=["DeleteCluster", "DeleteWorkers", "DeleteSelf", "DeleteNone"]
    )
    status: str = entry(..., "After which end.", enum=["SUCCEEDED", "FAILED"])
    ttl_seconds: int = entry(..., "How long after it [s].", minimum=0)


@dataclass(frozen=True, slots=True)
class Job:
    """How long the job may take, how often it is tried, and what is left of it."""

    active_deadline_seconds: int = entry(
        86400, "After this the job is ended [s]; what is committed stays.", minimum=60
    )
    backoff_limit: int = entry(3, "How often a new cluster resumes the sweep when one was lost.", minimum=0)
    submitter_backoff_limit: int = entry(3, "How often the submission itself is tried again.", minimum=0)
    ttl_seconds_after_finished: int = entry(300, "How long the pods stay after the end [s].", minimum=0)
    deletion_rules: tuple[DeletionRule, ...] = entry(
        (), "Rules that take the place of that; they need KubeRay's feature gate RayJobDeletionPolicy."
    )


@dataclass(frozen=True, slots=True)
class Head:
    """The pod that drives the sweep; it executes no runs."""

    cpu: str = entry("1", "Processors, requested and limited.", **QUANTITY)
    memory: str = entry("4Gi", "Memory, requested and limited.", **QUANTITY)
    node_selector: Mapping[str, str] = entry(dict, "Labels of the nodes it may run on.")
    tolerations: tuple[Mapping[str, Any], ...] = entry((), "Taints it bears; keep it off spot nodes.")


@dataclass(frozen=True, slots=True)
class Workers:
    """Pods that execute runs, all alike."""

    name: str = entry(
        ...,
        "The group's name.",
        pattern=LABEL,
        examples=["spot-large"],
        maxLength=20,
    )
    replicas: int = entry(..., "How many pods.", minimum=0)
    slots: int = entry(..., "Runs at a time in each; one per processor.", minimum=1)
    cpu: str = entry(..., "Processors of each, requested and limited.", **QUANTITY)
    memory: str = entry(..., "Memory of each, requested and limited.", **QUANTITY)
    min_replicas: int = entry(0, "The fewest, with autoscaling.", minimum=0)
    max_replicas: int = entry(0, "The most, with autoscaling; 0 for no more than `replicas`.", minimum=0)
    spot: bool = entry(False, "Whether they may run on spot nodes, which may be taken away at any time.")
    node_selector: Mapping[str, str] = entry(dict, "Labels of the nodes they may run on.")
    tolerations: tuple[Mapping[str, Any], ...] = entry((), "Further taints they bear.")


@dataclass(frozen=True, slots=True)
class Autoscaling:
    """Workers that come when there is work and go when there is none."""

    enabled: bool = entry(False, "Whether Ray's autoscaler runs beside the head.")
    idle_timeout_seconds: int = entry(60, "How long a worker may be idle [s].", minimum=1)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The service accounts of the pods; none may do anything in the API but the autoscaler's."""

    annotations: Mapping[str, str] = entry(
        dict, "Annotations of the account of head and workers, as workload identity asks for."
    )


@dataclass(frozen=True, slots=True)
class Users:
    """The people who use `destage cluster`."""

    role: bool = entry(False, "Whether a Role with what `destage cluster` needs is made.")
    subjects: tuple[Mapping[str, str], ...] = entry((), "Whom it is given: subjects of a RoleBinding.")


@dataclass(frozen=True, slots=True)
class NetworkRules:
    """Who may talk to the pods."""

    enabled: bool = entry(True, "Whether only the sweep's own pods and the KubeRay operator may.")
    egress_ports: tuple[int, ...] = entry(
        (),
        "Further ports that the pods may reach anywhere: a proxy's, an endpoint's that `store.url` lacks.",
    )


@dataclass(frozen=True, slots=True)
class PodMonitor:
    """Metrics of Ray for Prometheus."""

    enabled: bool = entry(False, "Whether a PodMonitor is made; needs the Prometheus operator.")
    interval: str = entry("30s", "How often it looks.", pattern="^[0-9]+(ms|s|m)$", examples=["30s"])
    labels: Mapping[str, str] = entry(dict, "Labels by which Prometheus selects it.")


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A board of Grafana."""

    enabled: bool = entry(False, "Whether a ConfigMap with the board is made.")
    labels: Mapping[str, str] = entry(dict, "Further labels, by which Grafana's sidecar selects it.")


@dataclass(frozen=True, slots=True)
class Settings:
    """All that is asked for."""

    mode: str = entry(
        "job", "`job` runs one sweep and ends; `cluster` stands until it is deleted.", enum=["job", "cluster"]
    )
    ray_version: str = entry(
        "2.60.0", "The version of Ray in the image.", pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$", examples=["2.60.0"]
    )
    image: Image = entry(Image, "The image that every pod runs.")
    sweep: Sweep = entry(Sweep, "What is run; in mode `job` exactly one of the three.")
    claim: Claim = entry(Claim, "The volume that keeps the results.")
    store: Store = entry(Store, "The object store that keeps the results in place of a volume.")
    job: Job = entry(Job, "How long the job may take, how often it is tried, and what is left of it.")
    head: Head = entry(Head, "The pod that drives the sweep; it executes no runs.")
    workers: tuple[Workers, ...] = entry(
        (Workers("workers", replicas=2, slots=2, cpu="2", memory="4Gi", spot=True),),
        "Groups of pods that execute runs.",
        minItems=1,
    )
    autoscaling: Autoscaling = entry(
        Autoscaling, "Workers that come when there is work and go when there is none."
    )
    auth_secret: str = entry(
        "", "A Secret with Ray's token as `auth_token`; by default KubeRay makes one.", **NAME
    )
    accounts: Accounts = entry(Accounts, "The service accounts of the pods.")
    users: Users = entry(Users, "The people who use `destage cluster`.")
    network_policy: NetworkRules = entry(NetworkRules, "Who may talk to the pods.")
    pod_monitor: PodMonitor = entry(PodMonitor, "Metrics of Ray for Prometheus.")
    dashboard: Dashboard = entry(Dashboard, "A board of Grafana.")
