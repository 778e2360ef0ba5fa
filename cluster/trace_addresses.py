"""Where the traces of a study must lie so that the pods see them: on the volume, or in a bucket."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from destage.cluster.settings import Settings
from destage.cluster.storage import RESULTS
from destage.cluster.store_url import find_ports
from destage.objects import ObjectPath, is_address


def find_trace_issue(document: object, settings: Settings) -> str:
    """Return what keeps the pods from seeing a study's traces, and its mend; empty where nothing does.

    Args:
        document: The study.
        settings: What is asked for.
    """
    return next((told for trace in _traces(document) if (told := _mistake(trace, settings))), "")


def _mistake(trace: str, settings: Settings) -> str:
    url, on_volume = settings.store.url, f"{RESULTS}/traces/{Path(trace).name}"
    if not is_address(trace):
        if url:
            copy = ObjectPath.parse(url) / "traces" / Path(trace).name
            return (
                f"the pods do not see {trace}: store.url leaves no volume for a file; copy it to the bucket "
                f"and name it by its address, as {copy}"
            )
        seen = trace.startswith(f"{RESULTS}/")
        return "" if seen else f"the pods do not see {trace}: put the trace on the volume, as {on_volume}"
    if not url:
        return (
            f"the pods have no credentials for {trace}: a trace in a bucket goes with results in one, "
            "store.url; with a volume it is a file there"
        )
    rules = settings.network_policy
    shut = set(find_ports(trace)) - {*find_ports(url), *rules.egress_ports}
    if rules.enabled and shut:
        ports = ", ".join(map(str, sorted(shut)))
        return f"the pods do not reach {trace}: networkPolicy.egressPorts must name {ports}"
    return ""


def _traces(document: object) -> Iterator[str]:
    """Yield the traces that a study names: each is the `file` of an arrival."""
    if isinstance(document, Mapping):
        for key, value in document.items():
            if str(key).rpartition(".")[2] == "file":
                yield from map(str, value if isinstance(value, list) else [value])
            else:
                yield from _traces(value)
    elif isinstance(document, list):
        for value in document:
            yield from _traces(value)
