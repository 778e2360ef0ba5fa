"""Sweeps on Kubernetes: manifests from settings, and a client that submits, follows and fetches sweeps."""

from destage.cluster.labels import Release
from destage.cluster.manifests import build
from destage.cluster.pods import Manifest
from destage.cluster.settings import Settings
from destage.cluster.values import read_settings

__all__ = ["Manifest", "Release", "Settings", "build", "read_settings"]
