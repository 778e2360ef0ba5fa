"""Logs of a running system as loads: each device is a test of its mean rate."""

from destage.errors import ConfigError, Issue
from destage.measured.line_load import make_stream
from destage.tools.imported_workload import ImportedWorkload, number_repeated
from destage.tools.registry import Tool
from destage.tools.results import read_results

_ASSUMED = (
    "Rate, share of reads and sizes are means of the log, without its peaks; give the busy part of a log.",
    "Assumes requests at random times (Poisson) and at uniformly random addresses of the whole array.",
)


def read_log(tool: Tool, text: str, file: str) -> list[ImportedWorkload]:
    """Return the load of each device of a log.

    Raises:
        ConfigError: The log is incomplete or wrong, or has no rates and sizes.
    """
    lines = read_results(file, text.encode()).lines
    loads = [(line, stream) for line in lines if (stream := make_stream(line)) is not None]
    if not loads:
        raise ConfigError(
            [Issue("import.no-test", "", "no device of the log has the rate and the size of its requests")],
            file,
        )
    names = number_repeated([line.workload or "device" for line, _ in loads])
    return [
        ImportedWorkload(
            {"users": 1, "streams": [stream]},
            remarks=_ASSUMED,
            mapping={"load": (f"line {line.source_line}: {name}",)},
            name=name,
            is_named=True,
            is_measured=True,
            tool=tool.title,
            file=file,
        )
        for name, (line, stream) in zip(names, loads, strict=True)
    ]
