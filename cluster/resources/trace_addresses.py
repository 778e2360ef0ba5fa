"""Whether the pods can read the traces of a study: files on the results volume, or objects in a bucket."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from destage.cluster.resources.storage import RESULTS
from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.store_url import find_ports
from destage.errors import Issue
from destage.objects import ObjectPath, is_address


def find_trace_issues(document: object, settings: Settings) -> list[Issue]:
    """Return an issue for each trace of a study that the pods cannot read."""
    return [issue for trace in _traces(document) if (issue := _find_issue(trace, settings))]


def _find_issue(trace: str, settings: Settings) -> Issue | None:
    url, name = settings.store.url, Path(trace).name
    if not is_address(trace):
        if url:
            target = str(ObjectPath.parse(url) / "traces" / name)
            message = (
                f"pods have no volume with store.url; copy the trace to a bucket and set the file to {target}"
            )
            return Issue("cluster.trace-not-in-bucket", trace, message, data={"target": target})
        if trace.startswith(f"{RESULTS}/"):
            return None
        target = f"{RESULTS}/traces/{name}"
        message = f"pods read only the results volume; copy the trace there and set the file to {target}"
        return Issue("cluster.trace-not-on-volume", trace, message, data={"target": target})
    if not url:
        message = (
            "pods have no credentials for a bucket without store.url; copy the trace to the results volume"
        )
        return Issue("cluster.trace-without-credentials", trace, message)
    policy = settings.network_policy
    blocked = sorted(set(find_ports(trace)) - {*find_ports(url), *policy.egress_ports})
    if policy.enabled and blocked:
        ports = ", ".join(map(str, blocked))
        message = f"the NetworkPolicy blocks port {ports}; add it to networkPolicy.egressPorts"
        return Issue("cluster.trace-port-blocked", trace, message, data={"ports": blocked})
    return None


def _traces(document: object) -> Iterator[str]:
    """Yield the traces of a study: each `file` of an arrival."""
    if isinstance(document, Mapping):
        for key, value in document.items():
            if str(key).rpartition(".")[2] == "file":
                yield from map(str, value if isinstance(value, list) else [value])
            else:
                yield from _traces(value)
    elif isinstance(document, list):
        for value in document:
            yield from _traces(value)
