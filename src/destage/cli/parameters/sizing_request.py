"""The options of `destage size` as a request."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from destage.cli.parameters.shared_options import parse_size, read_file, split_assignment
from destage.cli.parameters.sizing_load import LoadOptions, join_added, read_load
from destage.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from destage.sweeps.sizing.request import SizingRequest

EXAMPLE = "controller.cache.capacity=4GiB"
_COUNT = re.compile(r"(\d+)(?:\s*(?:-|\.\.)\s*(\d+))?")
_MOST_DISKS = 1_024
_MOST_GROWTH = 1_000
"""The largest growth of data [%]."""
_SIZE = re.compile(r"workload\.streams\.\d+\.operations\.size\b")
_FOOTPRINT = re.compile(r"workload\..*\.footprint")
"""The fields of a workload that `--size` gives, and those that `--capacity` scales."""
_DECIDED = {
    "workload.use": "--workload",
    "array.hot_spares": "--spares",
    "workload.users": "--users",
    "array.disks": "--count",
    "array.disk.use": "--disks",
    "array.raid": "--raid",
    "controller.use": "--controllers",
}
"""The options that decide a field of the configuration, by its dotted path."""
_PLACES = {
    "response_p95": "--response-p95",
    "seek.subject_to": "--subject-to",
    "seek.max_price": "--budget",
    "seek": "--count",
    "workload.users": "--users",
    "controllers": "--controllers",
    "disks": "--disks",
    "raid": "--raid",
    "array.disks": "--count",
    "arrays.0.disks": "--count",
    "add": "--add",
    "capacity": "--capacity",
    "keep": "--keep",
    "most": "--count",
    "have": "--have",
    "during_rebuild": "--during-rebuild",
    "dead_battery": "--dead-battery",
}
"""The options that give what is at a place in the study, by how the place starts."""
_TRACE_RUN = {"run.warm_up": "none", "run.window": "auto"}


DEFAULT_COUNT = "2-24"


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeOptions:
    """What the options of `destage size` say; None or empty for an option that is not given.

    Attributes:
        failures: The objectives in states of failure, by state.
    """

    load: LoadOptions
    have: Path | None
    add: Sequence[str]
    keep: str | None
    response_p95: str | None
    subject_to: Sequence[str]
    failures: Mapping[str, Sequence[str]]
    disks: Sequence[str]
    controllers: Sequence[str]
    raid: Sequence[str]
    count: str | None
    budget: float | None
    prices: Path | None
    phase: str | None
    assign: Sequence[str]
    capacity: str | None
    growth: float
    spares: int


def make_request(options: SizeOptions) -> "SizingRequest":
    """Return the request that the options make, without an array that is there."""
    from destage.sweeps.sizing.request import RAID_LEVELS, SizingRequest, list_objectives
    from destage.sweeps.sizing.stored_data import scale_data

    fewest, most = read_count(options.count or DEFAULT_COUNT)
    load = read_load(options.load)
    data = read_capacity(options)
    if options.add and options.load.trace is not None:
        message = "a trace has the array to itself: the size of its data is unknown"
        raise UsageError("usage.conflicting-options", message, "--add")
    if options.add:
        load = join_added(load, options.add, data)
    decided = {} if data is None else dict.fromkeys(scale_data(load.workload, data), "--capacity")
    decided |= dict.fromkeys(load.settings, "--read-share")
    if options.phase is not None:
        decided["run.window"] = "--phase"
    objectives = list_objectives(options.response_p95, options.subject_to)
    given = _read_failures(options.failures)
    if "during_rebuild" in given:
        decided |= dict.fromkeys(("faults", "array.failed_disks"), "--during-rebuild")
    return SizingRequest(
        workload=load.workload,
        name=load.name,
        objectives=objectives,
        prices=read_prices(options.prices),
        controllers=split(options.controllers),
        disks=split(options.disks),
        raid=split(options.raid) or RAID_LEVELS,
        fewest=fewest,
        most=most,
        max_price=options.budget,
        settings=({} if options.load.trace is None else _TRACE_RUN)
        | choose_phase(load.workload, options.phase)
        | dict(load.settings)
        | _read_settings(options.assign, decided),
        capacity=data,
        spares=options.spares,
        unit=load.unit,
        remarks=load.remarks,
        failures=given,
    )


def _read_failures(failures: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the objectives in states of failure, by state."""
    if not any(failures.values()):
        return {}
    from destage.sweeps.sizing.failure_states import list_failures

    return list_failures(failures)


@contextmanager
def place_at_options(options: SizeOptions) -> Iterator[None]:
    """Give mistakes of a request the option that they are of as their place."""
    try:
        yield
    except ConfigError as error:
        if error.source:
            # A mistake in the price table has its place in the file.
            raise
        issues = [replace(issue, place=_find_option(issue.place, options)) for issue in error.issues]
        # One option may be wrong for several streams.
        raise ConfigError(
            list({(issue.place, issue.code, issue.message): issue for issue in issues}.values())
        ) from None


def _find_option(place: str, options: SizeOptions) -> str:
    """Return the option that gives what is at a place in the study; the place if none does."""
    field = place.removeprefix("scenario.")
    if any(_overlap(field, text.partition("=")[0]) for text in options.assign):
        return f"--set {field}"
    for start, option in _PLACES.items():
        if place.startswith(start):
            return option
    if options.load.is_rate and _SIZE.match(place):
        return "--size"
    if options.capacity is not None and _FOOTPRINT.fullmatch(place):
        return "--capacity"
    if place.partition(".")[0] != "workload":
        return place
    # The present load of --have has no mistake then: it was read before.
    option = "--workload" if options.have is None else "--add"
    return option if place == "workload" else f"{option} {place}"


def _overlap(a: str, b: str) -> bool:
    """Return whether one of two dotted paths is the other, or leads to it."""
    return f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.")


def parse_growth(text: str | float) -> float:
    """Return a growth [%], with or without its sign."""
    try:
        growth = float(str(text).strip().removesuffix("%"))
    except ValueError:
        growth = math.nan
    if not 0 <= growth <= _MOST_GROWTH:
        message = f"{text!r}: must be a percentage from 0 to {_MOST_GROWTH:,}, such as 30%"
        raise UsageError("usage.bad-value", message, "--growth")
    return growth


def read_capacity(options: SizeOptions) -> int | None:
    """Return the size of the data with their growth [bytes]; a rate needs it."""
    if options.capacity is not None:
        return round(parse_size(options.capacity, "--capacity", "TB") * (1 + options.growth / 100))
    if options.growth:
        message = "--growth needs --capacity, which it adds to"
        raise UsageError("usage.conflicting-options", message, "--growth")
    if options.load.is_rate:
        message = "missing; a rate needs the size of the data that it is spread over"
        raise UsageError("usage.missing-argument", message, "--capacity")
    return None


def choose_phase(workload: Mapping[str, Any], phase: str | None) -> dict[str, Any]:
    """Return the setting that measures a phase of a load that varies over time."""
    from destage.spec.near_names import suggest
    from destage.sweeps.sizing.request import list_phases

    if phase is None:
        return {}
    names = list_phases(workload)
    if phase not in names:
        message = f"no phase {phase}{suggest(phase, names)}; phases: {', '.join(names) or 'none'}"
        raise UsageError("usage.bad-value", message, "--phase")
    return {"run.window": {"phase": phase}}


def read_prices(file: Path | None) -> dict[str, Any]:
    """Return the price table of a file; the example without one."""
    from destage.sweeps.keys.prices import example_prices, read_prices_file

    if file is None:
        return read_prices_file(example_prices(), "example prices")
    return read_prices_file(read_file(file, "--prices"), str(file))


def split(names: Sequence[str]) -> list[str]:
    """Return the names that an option gives, some with commas between them."""
    return [name.strip() for text in names for name in text.split(",") if name.strip()]


def read_count(text: str) -> tuple[int, int]:
    """Return the fewest and the most disks that `--count` gives."""
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
            if _overlap(field, path):
                message = f"{path}: {field} cannot be set, {option} decides it"
                raise UsageError("usage.conflicting-options", message, "--set")
        try:
            settings[path] = parse_document(value, f"--set {path}")
        except ConfigError as error:
            raise UsageError("usage.bad-assignment", f"{text!r}: {error.message}", "--set") from error
    return settings
