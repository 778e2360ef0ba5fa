"""Sweeps on Kubernetes: manifests from settings, and a client that submits, follows and fetches sweeps."""

from destage.cluster.resources.manifests import build
from destage.cluster.resources.pods import Manifest
from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.helm_values import read_settings
from destage.cluster.setup.object_labels import Release

__all__ = ["Manifest", "Release", "Settings", "build", "read_settings"]
