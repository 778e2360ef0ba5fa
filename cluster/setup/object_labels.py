"""Names and labels of the objects of one release."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from destage.cluster.setup.cluster_settings import DNS_LABEL, Settings
from destage.errors import ConfigError, Issue

LONGEST_RELEASE = 38
"""The name of a RayJob is the release's and a digest; KubeRay allows 47 characters."""
RELEASE = "destage.io/release"
COMPONENT = "destage.io/component"
"""Pods have labels of our own because KubeRay sets and selects by some of the recommended ones."""
SWEEP = "destage.io/sweep"
"""The annotation with the sweep of a job, if known at submission."""
READER_PRIORITY = "destage.io/reader-priority-class"
"""The annotation of the head's template with the priority class of the reader."""
Labels = dict[str, str]


@dataclass(frozen=True, slots=True)
class Release:
    """A set of objects under one name.

    Attributes:
        managed_by: `Helm` or `destage`.
        revision: Helm's number of the release's revision.

    Raises:
        ConfigError: KubeRay would reject the name.
    """

    name: str
    namespace: str
    version: str
    managed_by: str = "destage"
    revision: int = 1

    def __post_init__(self) -> None:
        if len(self.name) <= LONGEST_RELEASE and DNS_LABEL.fullmatch(self.name):
            return
        near = _to_allowed(self.name).lstrip("-0123456789")[:LONGEST_RELEASE].rstrip("-")
        hint = f"; did you mean {near!r}?" if near else ""
        message = (
            f'"{self.name}" is not a valid name: use at most {LONGEST_RELEASE} lower-case letters, digits '
            f"and hyphens; start with a letter and do not end with a hyphen{hint}"
        )
        raise ConfigError([Issue("settings.bad-release-name", "name", message, data={"suggestion": near})])

    @property
    def selector(self) -> Labels:
        """The label that selects the release's pods."""
        return {RELEASE: self.name}

    @property
    def labels(self) -> Labels:
        """The labels of every object."""
        return self.selector | {
            "app.kubernetes.io/name": "destage",
            "app.kubernetes.io/instance": self.name,
            "app.kubernetes.io/version": self.version,
            "app.kubernetes.io/managed-by": self.managed_by,
        }

    def manifest(
        self,
        kind: str,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        **parts: Any,
    ) -> dict[str, Any]:
        """Return an object of the release.

        Args:
            kind: Its API version and kind, as in `batch/v1 Job`.
            labels: Labels beside those of every object.
            parts: What it has beside its metadata, such as its `spec`.
        """
        version, _, kind = kind.partition(" ")
        metadata = {"name": name, "namespace": self.namespace, "labels": self.labels | dict(labels or {})}
        metadata |= {"annotations": dict(annotations)} if annotations else {}
        return {"apiVersion": version, "kind": kind, "metadata": metadata, **parts}

    def pod_labels(self, component: str) -> Labels:
        """Return the labels of a component's pods: `head`, `worker`, `submitter`, `keeper` or `reader`."""
        return self.selector | {COMPONENT: component}

    @property
    def pods_account(self) -> str:
        """The service account of the head and the workers."""
        return f"{self.name}-ray"

    @property
    def submitter_account(self) -> str:
        """The service account of the submitter."""
        return f"{self.name}-submitter"

    @property
    def keeper_account(self) -> str:
        """The service account of the keeper."""
        return f"{self.name}-keeper"

    def keeper_job_name(self, settings: Settings) -> str:
        """Return the name of the keeper's Job, which no revision can change, so each has its own."""
        return f"{keeper_prefix(self.job_name(settings))}{self.revision}"

    def claim_name(self, settings: Settings) -> str:
        """Return the name of the claim for the results."""
        return settings.claim.existing or f"{self.name}-results"

    def job_name(self, settings: Settings) -> str:
        """Return the RayJob's name; it depends on study and store, so that an upgrade starts a new job."""
        sweep = settings.sweep
        text = sweep.spec or sweep.config_map or sweep.study
        if settings.store.url:
            text += f"\n{settings.store.url}"
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def keeper_prefix(job: str) -> str:
    """Return what the names of the keepers of a RayJob start with."""
    return f"{job}-keeper-"


def to_release_name(study: str) -> str:
    """Return a release name for a study's name.

    Raises:
        ConfigError: The name has no letter to start with.
    """
    name = _to_allowed(study)
    if not name or not name[0].isalpha():
        message = f"{study!r} cannot be used as a name on a cluster, which starts with a letter: set --name"
        raise ConfigError([Issue("settings.bad-release-name", "name", message)])
    return name[:LONGEST_RELEASE].rstrip("-")


def _to_allowed(text: str) -> str:
    """Return a text with every character that a name cannot have replaced by a hyphen, none at its ends."""
    return re.sub("[^a-z0-9]", "-", text.lower()).strip("-")
