"""The pod of `destage cluster doctor`: starts the image as a sweep would and tests writing to the store."""

from destage.cluster.resources.auxiliary_pod import build_auxiliary_pod
from destage.cluster.resources.pods import Manifest, build_head_template
from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.object_labels import Release

PROBE = "destage-doctor"
"""The pod's name."""
_LIFETIME_S = 300


def build_probe_pod(release: Release, settings: Settings, image: str | None) -> Manifest:
    """Return the pod; `image` replaces that of the settings."""
    head = build_head_template(release, settings)
    command = _command(settings)
    pod = build_auxiliary_pod(head, PROBE, "probe", command, memory="512Mi", lifetime_s=_LIFETIME_S)
    (container,) = pod["spec"]["containers"]
    container["terminationMessagePolicy"] = "FallbackToLogsOnError"
    if image is not None:
        container["image"] = image
    if not has_store(settings):
        # The claim is created with the sweep.
        for parts in (container["volumeMounts"], pod["spec"]["volumes"]):
            parts[:] = [each for each in parts if each["name"] != "results"]
    if not uses_workload_identity(settings):
        del pod["spec"]["serviceAccountName"]
    return pod


def has_store(settings: Settings) -> bool:
    """Return whether the store exists before the sweep: a bucket or an existing claim."""
    return bool(settings.store.url or settings.claim.existing)


def uses_workload_identity(settings: Settings) -> bool:
    """Return whether pods access the store by their service account."""
    return bool(settings.store.url) and not settings.store.secret


def _command(settings: Settings) -> list[str]:
    if not has_store(settings):
        return ["destage", "--version"]
    return ["destage", "cluster", "probe", *(["--secret"] if settings.store.secret else [])]
