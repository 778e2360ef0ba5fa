"""The options of `destage size` as a request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from destage.cli.parameters.shared_options import read_file, split_assignment
from destage.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from destage.objects import Location
    from destage.sweeps.sizing.request import SizingRequest

EXAMPLE = "controller.cache.capacity=4GiB"
_COUNT = re.compile(r"(\d+)(?:\s*(?:-|\.\.)\s*(\d+))?")
_MOST_DISKS = 1_024
_DECIDED = {
    "workload.use": "--workload",
    "workload.users": "--users",
    "array.disks": "--count",
    "array.disk.use": "--disks",
    "array.raid": "--raid",
    "controller.use": "--controllers",
}
"""The options that decide a field of the configuration, by its dotted path."""
_PLACES = {
    "seek.subject_to.0": "--response-p95",
    "seek.subject_to": "--subject-to",
    "seek.max_price": "--budget",
    "seek": "--count",
    "workload.users": "--users",
    "use": "--workload",
    "controllers": "--controllers",
    "disks": "--disks",
    "raid": "--raid",
    "array.disks": "--count",
    "arrays.0.disks": "--count",
}
"""The options that give what is at a place in the study, by how the place starts."""
_TRACE_RUN = {"run.warm_up": "none", "run.window": "auto"}


def make_request(
    *,
    users: int,
    workload: str | None,
    trace: "Location | None",
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
    from destage.sweeps.sizing import request as sizing

    fewest, most = _read_count(count)
    with place_at_options():
        objectives = sizing.list_objectives(response_p95, subject_to)
    return sizing.SizingRequest(
        workload=_read_workload(workload, trace, users),
        name=f"{_slug(workload or (trace.stem if trace is not None else ''))}-{users}",
        objectives=objectives,
        prices=_read_prices(prices),
        controllers=_split(controllers),
        disks=_split(disks),
        raid=_split(raid) or sizing.RAID_LEVELS,
        fewest=fewest,
        most=most,
        max_price=budget,
        settings=({} if trace is None else _TRACE_RUN)
        | _choose_phase(workload, phase)
        | _read_settings(assign, {"run.window": "--phase"} if phase is not None else {}),
    )


@contextmanager
def place_at_options() -> Iterator[None]:
    """Give mistakes of a request the option as their place; others are in a value of `--set`."""
    try:
        yield
    except ConfigError as error:
        if error.source:
            # A mistake in the price table has its place in the file.
            raise
        raise ConfigError(
            [replace(issue, place=_find_option(issue.place)) for issue in error.issues]
        ) from None


def _find_option(place: str) -> str:
    return next(
        (option for start, option in _PLACES.items() if place.startswith(start)),
        f"--set {place.removeprefix('scenario.')}",
    )


def _read_workload(workload: str | None, trace: "Location | None", users: int) -> dict[str, Any]:
    if (workload is None) == (trace is None):
        message = "give either a workload of the catalogue or a trace"
        raise UsageError("usage.conflicting-options", message, "--workload")
    if trace is None:
        return {"use": workload, "users": users}
    # The response curve has other numbers of users.
    arrival = {"kind": "trace", "file": str(trace.absolute()), "mode": "open", "copies": {}}
    return {"users": users, "streams": [{"name": "trace", "arrival": arrival}]}


def _choose_phase(workload: str | None, phase: str | None) -> dict[str, Any]:
    """Return the setting that measures a phase of a load that varies over time."""
    from destage.spec.validation import suggest
    from destage.sweeps.sizing import request as sizing

    if phase is None:
        return {}
    names = sizing.list_phases({} if workload is None else {"use": workload})
    if phase not in names:
        message = f"no phase {phase}{suggest(phase, names)}; phases: {', '.join(names) or 'none'}"
        raise UsageError("usage.bad-value", message, "--phase")
    return {"run.window": {"phase": phase}}


def _read_prices(file: Path | None) -> dict[str, Any]:
    from destage.sweeps.sizing import request as sizing

    if file is None:
        return sizing.read_prices_file(sizing.example_prices(), "example prices")
    return sizing.read_prices_file(read_file(file, "--prices"), str(file))


def _split(names: Sequence[str]) -> list[str]:
    return [name.strip() for text in names for name in text.split(",") if name.strip()]


def _read_count(text: str) -> tuple[int, int]:
    match = _COUNT.fullmatch(text.strip())
    fewest, most = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= fewest <= most <= _MOST_DISKS:
        message = f"{text!r}: must be a number of disks, or two as in 2-24, up to {_MOST_DISKS}"
        raise UsageError("usage.bad-value", message, "--count")
    return fewest, most


def _read_settings(assign: Sequence[str], decided: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that `--set` gives.

    Args:
        decided: The options that decide further fields, by dotted path.
    """
    from destage.spec.documents import parse_document

    settings = {}
    for text in assign:
        path, value = split_assignment(text, "--set", EXAMPLE)
        for field, option in {**_DECIDED, **decided}.items():
            if f"{field}.".startswith(f"{path}.") or f"{path}.".startswith(f"{field}."):
                message = f"{path}: {field} cannot be set, {option} decides it"
                raise UsageError("usage.conflicting-options", message, "--set")
        try:
            settings[path] = parse_document(value, f"--set {path}")
        except ConfigError as error:
            raise UsageError("usage.bad-assignment", f"{text!r}: {error.message}", "--set") from error
    return settings


def _slug(name: str) -> str:
    """Return a name as a study may have it."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-") or "load"
