"""A pod that starts an image once, as a sweep would, writes to the store where there is one, and ends."""

from destage.cluster.auxiliary_pod import companion
from destage.cluster.labels import Release
from destage.cluster.pods import Manifest, head_template
from destage.cluster.settings import Settings

PROBE = "destage-doctor"
"""The pod's name."""
_LIFE_S = 300


def build_probe_pod(release: Release, settings: Settings, image: str | None) -> Manifest:
    """Return the pod.

    Args:
        release: What it would belong to.
        settings: What a sweep is to have.
        image: The image, with its tag or digest; None for that of the settings.
    """
    pod = companion(
        head_template(release, settings), PROBE, "probe", _command(settings), memory="512Mi", life_s=_LIFE_S
    )
    (container,) = pod["spec"]["containers"]
    container["terminationMessagePolicy"] = "FallbackToLogsOnError"
    if image is not None:
        container["image"] = image
    if not writes(settings):
        # The claim is made with the sweep.
        for parts in (container["volumeMounts"], pod["spec"]["volumes"]):
            parts[:] = [each for each in parts if each["name"] != "results"]
    if not has_identity(settings):
        del pod["spec"]["serviceAccountName"]
    return pod


def writes(settings: Settings) -> bool:
    """Return whether there is a store to write to before there is a sweep.

    Args:
        settings: What a sweep is to have.
    """
    return bool(settings.store.url or settings.claim.existing)


def has_identity(settings: Settings) -> bool:
    """Return whether a pod reaches the store by its account.

    Args:
        settings: What a sweep is to have.
    """
    return bool(settings.store.url) and not settings.store.secret


def _command(settings: Settings) -> list[str]:
    if not writes(settings):
        return ["destage", "--version"]
    return ["destage", "cluster", "probe", *(["--secret"] if settings.store.secret else [])]
