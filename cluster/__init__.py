"""Sweeps on Kubernetes: settings as manifests, and a client that submits, follows and fetches."""

from destage.cluster.manifests import Manifest, Release, build
from destage.cluster.settings import Settings
from destage.cluster.values import read_settings

__all__ = ["Manifest", "Release", "Settings", "build", "read_settings"]
