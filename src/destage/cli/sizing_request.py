"""The options of `destage size` as a request."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from destage.cli.options import parse_duration, read_file, split_assignment
from destage.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from destage.sweeps.sizing import SizingRequest

EXAMPLE = "controller.cache.capacity=4GiB"
_COUNT = re.compile(r"(\d+)(?:\s*(?:-|\.\.)\s*(\d+))?")
_MOST_DISKS = 1_024
_TRACE_RUN = {"run.warm_up": "none", "run.window": "auto"}


def make_request(
    *,
    users: int,
    workload: str | None,
    trace: Path | None,
    response_p95: str,
    subject_to: Sequence[str],
    disks: Sequence[str],
    controllers: Sequence[str],
    raid: Sequence[str],
    count: str,
    budget: float | None,
    prices: Path | None,
    phase: str | None,
    assign: Sequence[str],
) -> "SizingRequest":
    """Return the request that the options of `destage size` make."""
    from destage.sweeps import sizing

    fewest, most = _read_count(count)
    return sizing.SizingRequest(
        workload=_read_workload(workload, trace, users),
        name=f"{_slug(workload or Path(str(trace)).stem)}-{users}",
        objectives=_list_objectives(response_p95, subject_to),
        prices=_read_prices(prices),
        controllers=_split(controllers),
        disks=_split(disks),
        raid=_split(raid) or sizing.RAID_LEVELS,
        fewest=fewest,
        most=most,
        max_price=budget,
        settings=({} if trace is None else _TRACE_RUN)
        | _choose_phase(workload, phase)
        | _read_settings(assign),
    )


def _read_workload(workload: str | None, trace: Path | None, users: int) -> dict[str, Any]:
    if (workload is None) == (trace is None):
        message = "give either a workload of the catalogue or a trace"
        raise UsageError("usage.conflicting-options", message, "--workload")
    if trace is None:
        return {"use": workload, "users": users}
    arrival: dict[str, Any] = {"kind": "trace", "file": str(trace.absolute()), "mode": "open"}
    if users > 1:
        arrival["copies"] = {}
    return {"users": users, "streams": [{"name": "trace", "arrival": arrival}]}


def _choose_phase(workload: str | None, phase: str | None) -> dict[str, Any]:
    """Return the setting that measures a phase of a load that varies over time."""
    from destage.spec.validation import suggest
    from destage.sweeps import sizing

    if phase is None:
        return {}
    names = sizing.list_phases({} if workload is None else {"use": workload})
    if phase not in names:
        message = f"no phase {phase}{suggest(phase, names)}; phases: {', '.join(names) or 'none'}"
        raise UsageError("usage.bad-value", message, "--phase")
    return {"run.window": {"phase": phase}}


def _list_objectives(response_p95: str, subject_to: Sequence[str]) -> list[str]:
    parse_duration(response_p95, "ns", "--response-p95")
    from destage.sweeps.sizing import BUSIEST

    has_busiest = any(text.split()[:1] == BUSIEST.split()[:1] for text in subject_to)
    return [f"response_p95 <= {response_p95}", *subject_to, *([] if has_busiest else [BUSIEST])]


def _read_prices(file: Path | None) -> dict[str, Any]:
    from destage.sweeps import sizing

    if file is None:
        return sizing.read_prices_file(sizing.example_prices(), "example prices")
    return sizing.read_prices_file(read_file(file), str(file))


def _split(names: Sequence[str]) -> list[str]:
    return [name.strip() for text in names for name in text.split(",") if name.strip()]


def _read_count(text: str) -> tuple[int, int]:
    found = _COUNT.fullmatch(text.strip())
    fewest, most = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= fewest <= most <= _MOST_DISKS:
        message = f"{text!r}: must be a number of disks, or two as in 2-24, up to {_MOST_DISKS}"
        raise UsageError("usage.bad-value", message, "--count")
    return fewest, most


def _read_settings(assign: Sequence[str]) -> dict[str, Any]:
    from destage.spec.documents import parse_document

    settings = {}
    for text in assign:
        path, value = split_assignment(text, "--set", EXAMPLE)
        try:
            settings[path] = parse_document(value, f"--set {path}")
        except ConfigError as error:
            raise UsageError("usage.bad-assignment", f"{text!r}: {error.message}", "--set") from error
    return settings


def _slug(name: str) -> str:
    """Return a name as a study may have it."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-") or "load"
