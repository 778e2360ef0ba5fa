"""The load of `destage size`: a workload of the catalogue or of a file, a trace, or a rate of requests.

Its numbers are values or ranges: `300`, `250..350`.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from destage.cli.parameters.shared_options import check_size
from destage.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from destage.objects import Location
    from destage.sweeps.sizing.request import InputRange

_BOUNDS = {"users": (1, 1_000_000, "a whole number"), "read_share": (0, 1, "a share such as 0.7 or 70%")}
_BOUNDS_OF_RATE = (0, 1_000_000_000, "a number")
"""The least and the most that an input may be, and what it is."""
_RANGE = re.compile(r"\s*(.+?)\s*(?:\.\.\s*(.+?)\s*)?")


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What the options of `destage size` say about the load; None for an option that is not given."""

    users: int | None = None
    workload: str | None = None
    test: str | None = None
    trace: "Location | None" = None
    iops: float | None = None
    read_iops: float | None = None
    write_iops: float | None = None
    size: str | None = None
    read_share: float | None = None

    @property
    def is_rate(self) -> bool:
        """Whether the load is a rate of requests."""
        return any(rate is not None for rate in (self.iops, self.read_iops, self.write_iops))


@dataclass(frozen=True, slots=True)
class SizedLoad:
    """A load.

    Attributes:
        workload: The workload, as in a scenario, with its number of users.
        name: The name of the load in the names of studies.
        unit: `users`, or a percentage of the load.
        remarks: Sentences on what the load assumes.
        settings: Fields of the load that options decide, by dotted path.
    """

    workload: Mapping[str, Any]
    name: str
    unit: str = "users"
    remarks: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


def read_load(options: LoadOptions) -> SizedLoad:
    """Return the load that the options describe.

    Raises:
        UsageError: They describe none, or more than one.
    """
    if (options.workload is not None) + (options.trace is not None) + options.is_rate != 1:
        message = "give either a workload, a trace, or a rate by --iops or --read-iops and --write-iops"
        raise UsageError("usage.conflicting-options", message, "--workload")
    given: dict[str, object] = {"--size": options.size} if not options.is_rate else {"--users": options.users}
    given |= {"--test": options.test} if options.workload is None else {}
    if options.iops is not None:
        given |= {"--read-iops": options.read_iops, "--write-iops": options.write_iops}
    elif options.workload is None:
        given |= {"--read-share": options.read_share}
    for option, value in given.items():
        if value is not None:
            message = f"{option} has no effect on this load; leave it out"
            raise UsageError("usage.conflicting-options", message, option)
    if options.is_rate:
        return _read_rate(options)
    users = options.users or 1
    if options.trace is None:
        load = _read_workload(options.workload or "", options.test, options.users)
        return load if options.read_share is None else _share_reads(load, options.read_share)
    # The response curve has other numbers of users.
    arrival = {"kind": "trace", "file": str(options.trace.absolute()), "mode": "open", "copies": {}}
    workload = {"users": users, "streams": [{"name": "trace", "arrival": arrival}]}
    return SizedLoad(workload, f"{make_slug(options.trace.stem)}-{users}")


def read_added(text: str, options: LoadOptions | None = None) -> SizedLoad:
    """Return a load that `--add` names, with its users after a colon, as in `vdi:300`.

    Args:
        options: The other options of this load.

    Raises:
        UsageError: Its users are stated twice.
    """
    from destage.sweeps.sizing.added_loads import split_users
    from destage.tools.registry import is_command

    # A command may end in a colon and digits that are no users, as in --name=run:2.
    name, users = (text, None) if is_command(text) else split_users(text)
    options = LoadOptions() if options is None else options
    if users is not None and options.users is not None:
        message = f"{text!r} states its users, and so does --users"
        raise UsageError("usage.conflicting-options", message, "--users")
    try:
        return read_load(replace(options, workload=name, users=users or options.users))
    except UsageError as error:
        place = "--add" if error.place == "--workload" else error.place
        raise UsageError(error.code, error.message, place) from error


def join_added(load: SizedLoad, names: Sequence[str], capacity: int | None) -> SizedLoad:
    """Return a load with those that `--add` names, which share an array that is to be found.

    Args:
        capacity: The data of all [bytes]; None for their own.

    Raises:
        ConfigError: They cannot run together.
    """
    from destage.sweeps.sizing.shared_load import JOINED_UNIT, NamedLoad, join_loads

    loads = [load, *(read_added(name) for name in names)]
    joined = join_loads([NamedLoad(one.workload, one.name, one.remarks) for one in loads], capacity)
    return replace(load, workload=joined.workload, name=joined.name, unit=JOINED_UNIT, remarks=joined.remarks)


def _share_reads(load: SizedLoad, share: float) -> SizedLoad:
    """Return a load of one stream with another share of reads."""
    from destage.sweeps.study.users import list_streams

    streams = list_streams(load.workload)
    if len(streams) != 1 or "read_fraction" not in streams[0].get("operations", {}):
        message = "needs a workload of one stream with a read_fraction; set fields of other ones by --set"
        raise UsageError("usage.conflicting-options", message, "--read-share")
    return replace(load, settings={"workload.streams.0.operations.read_fraction": share})


def make_slug(name: str) -> str:
    """Return a name as a study may have it."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-") or "load"


def _read_rate(options: LoadOptions) -> SizedLoad:
    from destage.sweeps.sizing import rate_load

    if options.iops is None:
        reads, writes = options.read_iops or 0.0, options.write_iops or 0.0
    elif options.read_share is None:
        message = "missing; --iops needs the share of reads, such as --read-share 0.7"
        raise UsageError("usage.missing-argument", message, "--read-share")
    else:
        reads, writes = rate_load.split_rate(options.iops, options.read_share)
    if options.size is None:
        message = "missing; a rate needs the size of its requests, such as --size 8KiB"
        raise UsageError("usage.missing-argument", message, "--size")
    if reads + writes <= 0:
        option = "--read-iops" if options.iops is None else "--iops"
        raise UsageError("usage.out-of-range", "the rate must be more than 0", option)
    workload = rate_load.make_rate_load(reads, writes, check_size(options.size, "--size", "KiB"))
    name = f"rate-{reads + writes:.0f}"
    return SizedLoad(workload, name, rate_load.UNIT, (rate_load.ASSUMED,))


def _read_workload(name: str, test: str | None, users: int | None) -> SizedLoad:
    """Return a workload of the catalogue or of a file."""
    from destage.tools.registry import is_command

    file = Path(name)
    if not file.exists() and not file.suffix and (" " not in name or not is_command(name)):
        # The search names an entry that the catalogue does not have.
        return SizedLoad({"use": name, "users": users or 1}, f"{make_slug(name)}-{users or 1}")
    workload, remarks = _read_file(name, test)
    users = users or int(workload.get("users", 1))
    stem = file.stem if file.exists() else name.partition(" ")[0]
    return SizedLoad({**workload, "users": users}, f"{make_slug(stem)}-{users}", remarks=remarks)


def _read_file(name: str, test: str | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the only workload of a file or command, or that of a test, and what it assumes."""
    from destage.cli.parameters.imported_files import DOCUMENTS, find_workload, list_warnings, read_tests
    from destage.engine import workload_profile
    from destage.tools.imported_workload import ImportOptions

    file = Path(name)
    if file.suffix in DOCUMENTS:
        workload = find_workload(name)[1]
        try:
            workload_profile.check_workload(workload)
        except ConfigError as error:
            raise ConfigError(error.issues, name) from None
        for stream in workload["streams"]:
            if stream["arrival"].get("kind") == "trace":
                stream["arrival"]["file"] = str((file.parent / stream["arrival"]["file"]).absolute())
        return workload, ()
    _, tests = read_tests(name, ImportOptions(test=test), "--workload")
    if len(tests) > 1:
        message = f"{len(tests)} tests; choose one of {', '.join(repr(read.name) for read in tests)}"
        raise UsageError("usage.missing-argument", message, "--test")
    # The window of a sizing is its own.
    warnings = [warning for warning in list_warnings(tests) if not warning.place.startswith("run.")]
    assumed = tests[0].remarks if tests[0].is_measured else ()
    return dict(tests[0].workload), (*(f"{warning}." for warning in warnings), *assumed)


def range_parser(name: str) -> "Callable[[str], InputRange]":
    """Return what reads the value of an option: numbers of users, shares of reads, or rates [1/s]."""
    return lambda text: _parse(text, name)


def _name_option(given: "InputRange") -> str:
    return f"--{given.name.replace('_', '-')}"


def reject_ranges(inputs: "Iterable[InputRange]") -> None:
    """Reject options that give a range."""
    for given in inputs:
        if given.has_width:
            message = f"{given}: --have takes one value; without it, the cheapest array for a range is found"
            raise UsageError("usage.conflicting-options", message, _name_option(given))


def _parse(text: str, name: str) -> "InputRange":
    from destage.sweeps.sizing.request import InputRange

    least, most, kind = _BOUNDS.get(name, _BOUNDS_OF_RATE)
    match = _RANGE.fullmatch(text)
    readers: dict[str, Callable[[str], float]] = {"users": int, "read_share": _read_share}
    read = readers.get(name, float)
    try:
        low, high = (read(end) for end in (match[1], match[2] or match[1])) if match else (math.nan,) * 2
    except ValueError:
        low = high = math.nan
    given = InputRange(name, low, high, text)
    option = _name_option(given)
    if not (math.isfinite(low) and math.isfinite(high)):
        example = {"users": "250..350", "read_share": "0.6..0.8"}.get(name, "5000..8000")
        message = f"{text!r}: must be {kind}, or a range of two as in {example}"
        raise UsageError("usage.bad-value", message, option)
    if low > high:
        message = f"{text!r}: the low end of the range is above the high end; swap them"
        raise UsageError("usage.bad-value", message, option)
    if low < least or high > most:
        bounds = f"from {least:,} to {most:,}{' or end in %' * (name == 'read_share')}"
        raise UsageError("usage.out-of-range", f"{text}: must be {bounds}", option)
    return given


def _read_share(text: str) -> float:
    """Return a share as a number, or as a percentage with its sign."""
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)
