"""What the objects of one release are called, and how they are labelled."""

import hashlib
import re
from dataclasses import dataclass

from destage.cluster.entry import LABEL
from destage.cluster.settings import Settings
from destage.errors import ConfigError

LONGEST_RELEASE = 38
"""With the digest behind it a RayJob's name keeps to the 47 characters that KubeRay allows."""
RELEASE = "destage.io/release"
COMPONENT = "destage.io/component"
"""Pods carry labels of our own: KubeRay sets some of the recommended ones itself, and selects by them."""
SWEEP = "destage.io/sweep"
"""The annotation that names the sweep of a job, where who submitted it knew."""
Labels = dict[str, str]


@dataclass(frozen=True, slots=True)
class Release:
    """What is installed under one name.

    Attributes:
        name: The name.
        namespace: Where.
        version: The version of Destage.
        managed_by: Who made it: `Helm` or `destage`.

    Raises:
        ConfigError: KubeRay would refuse what bears the name.
    """

    name: str
    namespace: str
    version: str
    managed_by: str = "destage"

    def __post_init__(self) -> None:
        if len(self.name) <= LONGEST_RELEASE and re.fullmatch(LABEL, self.name):
            return
        near = _nearest(self.name)
        offer = f"; did you mean {near!r}?" if near else ""
        raise ConfigError(
            f"the name {self.name!r} is not allowed on a cluster: at most {LONGEST_RELEASE} small letters, "
            f"digits and hyphens, the first a letter, the last no hyphen{offer}"
        )

    @property
    def selector(self) -> Labels:
        """The label that tells this release's pods from all others."""
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

    def pod_labels(self, component: str) -> Labels:
        """Return the labels of a kind of pod.

        Args:
            component: `head`, `worker`, `submitter` or `reader`.
        """
        return self.selector | {COMPONENT: component}

    @property
    def pods_account(self) -> str:
        """The service account of the head and of the workers."""
        return f"{self.name}-ray"

    @property
    def submitter_account(self) -> str:
        """The service account of the pod that submits the job."""
        return f"{self.name}-submitter"

    def claim(self, settings: Settings) -> str:
        """Return the name of the claim that keeps the results.

        Args:
            settings: What is asked for.
        """
        return settings.claim.existing or f"{self.name}-results"

    def job(self, settings: Settings) -> str:
        """Return the name of the RayJob: another sweep or store is another job, so that an upgrade starts it.

        Args:
            settings: What is asked for.
        """
        sweep = settings.sweep
        text = sweep.spec or sweep.config_map or sweep.study
        if settings.store.url:
            text += f"\n{settings.store.url}"
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def to_release_name(text: str) -> str:
    """Return a name that Kubernetes allows for a study's.

    Args:
        text: The study's name.

    Raises:
        ConfigError: Nothing of it can be kept.
    """
    name = _spelt(text)
    if not name or not name[0].isalpha():
        raise ConfigError(
            f"{text!r} gives no name on a cluster, which starts with a letter: choose one with --name"
        )
    return name[:LONGEST_RELEASE].rstrip("-")


def _nearest(text: str) -> str:
    """Return the allowed name that is nearest to a text; empty where it has no letter."""
    return _spelt(text).lstrip("-0123456789")[:LONGEST_RELEASE].rstrip("-")


def _spelt(text: str) -> str:
    """Return a text in small letters, digits and hyphens, with no hyphen at its ends."""
    return "".join(one if one.isascii() and one.isalnum() else "-" for one in text.lower()).strip("-")
