"""Arguments and options that several commands share, and the checks of their values."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from destage.cli.parameters import completion
from destage.errors import DestageError, StoreError, UsageError

if TYPE_CHECKING:
    from destage.sql import QueryLimits
    from destage.store import Location

LARGEST_SEED = 2**64 - 1
DEFAULT_TIMEOUT, DEFAULT_ROWS = "10min", 10_000_000
_ENDINGS = {".csv": "csv", ".parquet": "parquet", ".md": "markdown"}
"""The formats of rows by the ending of a file."""
_LEAST_MEMORY = 64 << 20
"""Memory without which DuckDB cannot run a query [bytes]."""


def parse_store(text: str) -> "Location":
    """Return the store that `--store` names."""
    from destage.store import locate

    try:
        return locate(text)
    except StoreError as error:
        raise UsageError(error.code, error.message, "--store", error.data) from None


def choose_store(store: "Location | None") -> "Location":
    """Return the store that `--store` gives, or the default one."""
    from destage.store import default_store

    return default_store() if store is None else store


def parse_trace(text: str) -> "Location":
    """Return the file or the object that holds a trace."""
    from destage.engine.traces.access_places import locate_trace

    return locate_trace(text)


def check_suffix(path: Path | None, option: str, *allowed: str, advice: str = "") -> None:
    """Reject an output file, if one is given, whose name does not end in the suffix of a format to write."""
    if path is not None and path.suffix not in allowed:
        message = f"{path}: the file name must end in {' or '.join(allowed)}{advice}"
        raise UsageError("usage.bad-file-type", message, option, {"allowed": list(allowed)})


def parse_duration(text: str, unit: Literal["ns", "s"], option: str) -> float:
    """Return the duration that an option gives, more than zero [`unit`]."""
    from destage.spec import quantities

    with translate_places({"": option}):
        duration = quantities.parse(text, unit)
    if duration <= 0:
        raise UsageError("usage.out-of-range", f"{text}: must be more than 0", option)
    return duration


@contextmanager
def translate_places(options: Mapping[str, str]) -> Iterator[None]:
    """Give errors at arguments of functions the option as their place, in a `with` block."""
    try:
        yield
    except DestageError as error:
        error.issues = tuple(
            replace(issue, place=options.get(issue.place, issue.place)) for issue in error.issues
        )
        raise


def check_size(text: str, option: str, suffix: str | None = None) -> str:
    """Return the size that an option gives, if it has a unit.

    Args:
        suffix: The unit to suggest for a number without one (default: MiB).
    """
    from destage.spec import quantities
    from destage.sweeps.space.parameters import explain_bare_number

    if ".." in text:
        range_given = f"{text!r}: must be one size, not a range; run the command for each"
        raise UsageError("usage.bad-value", range_given, option)
    with translate_places({"": option}):
        quantities.parse(text, "bytes")
    message = explain_bare_number(text, "bytes", suffix)
    if message is not None:
        raise UsageError("usage.bad-quantity", f"{text}: {message}", option)
    return text


def parse_size(text: str, option: str, suffix: str | None = None) -> int:
    """Return the size that an option gives, more than zero [bytes].

    Args:
        suffix: As for `check_size`.
    """
    from destage.spec import quantities

    size = int(quantities.parse(check_size(text, option, suffix), "bytes"))
    if size <= 0:
        raise UsageError("usage.out-of-range", f"{text}: must be more than 0", option)
    return size


def reject_options(context: typer.Context, reason: str, *options: str) -> None:
    """Reject options that the command line gives."""
    for option in options:
        if is_given(context, option):
            raise UsageError("usage.conflicting-options", reason, option)


def is_given(context: typer.Context, option: str) -> bool:
    """Return whether the command line gives an option."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if max(parameter.opts, key=len) == option:
            return source is not None and source.name == "COMMANDLINE"
    return False


def choose_format(context: typer.Context, form: str) -> str:
    """Return the format that `--format` gives, or without it the one of the ending of `--out`."""
    out = context.params.get("out")
    # Click processes the options of the command line before those that it lacks.
    if out is None or context.params.get("as_json") or is_given(context, "--format"):
        return form
    check_suffix(Path(out), "--out", *_ENDINGS, advice=", or give --format or --json")
    return _ENDINGS[Path(out).suffix]


def decode_argument(text: str) -> str:
    """Return an argument as UTF-8 has it, where the locale has a narrower encoding."""
    return os.fsencode(text).decode(errors="surrogateescape")


def make_limits(timeout: str, rows: int, memory: str | None) -> "QueryLimits":
    """Return the limits that `--timeout`, `--max-rows` and `--memory` give."""
    from destage.spec import quantities
    from destage.sql import QueryLimits

    seconds = parse_duration(timeout, "s", "--timeout")
    if memory is None:
        return QueryLimits(seconds=seconds, rows=rows)
    size = int(quantities.parse(check_size(memory, "--memory"), "bytes"))
    if size < _LEAST_MEMORY:
        message = f"{memory}: must be at least {_LEAST_MEMORY >> 20} MiB"
        raise UsageError("usage.out-of-range", message, "--memory")
    return QueryLimits(seconds=seconds, rows=rows, memory_bytes=size)


def repeat_command(context: typer.Context) -> str:
    """Return the command line with the options that were given, as a shell reads it."""
    words = ["destage", *context.command_path.split()[1:]]
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        value = context.params.get(parameter.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        option = max(parameter.opts, key=len)
        if value is True:
            words.append(option)
        else:
            for argument in value if isinstance(value, list | tuple) else (value,):
                words += [option, str(argument)]
    return shlex.join(words)


def read_file(file: Path, place: str = "FILE", most: int | None = None) -> bytes:
    """Return the content of a file that an argument or an option names.

    Args:
        most: The largest size that is read (default: that of a YAML document) [bytes].
    """
    from destage.spec.documents import MOST_BYTES, read_beginning

    most = MOST_BYTES if most is None else most
    try:
        data = read_beginning(file, most)
    except OSError as error:
        raise UsageError("usage.unreadable-file", f"{file}: {error.strerror}", place) from error
    if len(data) > most:
        message = f"{file}: more than {most:,} bytes, the most that are read"
        raise UsageError("usage.too-large-file", message, place)
    return data


def use_catalog(places: Sequence[Path] | None) -> None:
    """Add the parts of the files of `--catalog` to the catalogue."""
    if places:
        from destage.sweeps.keys.own_parts import add_parts

        add_parts(places)


def split_assignment(text: str, option: str, example: str) -> tuple[str, str]:
    """Return the name and the value of an option such as `--param idle=1`."""
    name, separator, value = text.partition("=")
    if not separator or not name:
        message = f"{text!r}: must have the form NAME=VALUE, as in {example}"
        raise UsageError("usage.bad-assignment", message, option)
    return name, value


def declare_conditions(option: str, text: str) -> Any:
    """Return the declaration of an option that takes an SQL condition over points, with its help text."""
    return typer.Option(option, metavar="CONDITION", help=text, autocompletion=completion.complete_conditions)


def declare_plot(text: str) -> Any:
    """Return the declaration of `--plot`, with its help text; `check_suffix` checks its value."""
    return typer.Option("--plot", metavar="FILE", help=text)


Json = Annotated[bool, typer.Option("--json", help="Print results and errors as JSON.")]
Spec = Annotated[
    str,
    typer.Argument(
        metavar="SPEC",
        help="A study: a YAML file or the name of a bundled study.",
        autocompletion=completion.complete_studies,
    ),
]
Catalog = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalog",
        metavar="FILE",
        envvar="DESTAGE_CATALOG",
        show_envvar=False,
        help="Disks and controllers of your own: a file as `catalog new` writes, or a folder of them; "
        "repeatable (default: $DESTAGE_CATALOG).",
    ),
]
ImportedTest = Annotated[
    str | None,
    typer.Option("--test", metavar="NAME", help="Test of an imported file (default: the first)."),
]
# Typer has no unions: a `Location`, or None without the option.
Store = Annotated[
    Any,
    typer.Option(
        "--store",
        parser=parse_store,
        metavar="STORE",
        help="Store: a folder or a URL (s3://, gs://, abfs://) (default: $DESTAGE_STORE or ./destage-store).",
    ),
]
SweepName = Annotated[
    str,
    typer.Argument(
        metavar="SWEEP",
        help="A sweep: its directory, its name, or the start of its name.",
        autocompletion=completion.complete_sweeps,
    ),
]
Executor = Annotated[
    Literal["auto", "ray", "inline"],
    typer.Option(
        "--executor",
        help="Where to execute runs: on threads of this process (inline) or on Ray; auto uses Ray if "
        "--ray-address or RAY_ADDRESS names a cluster.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Maximum concurrent runs (default: one per processor)."),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        help="Run on an existing Ray cluster (ray://head:10001, head:6379 or auto); all its machines need "
        "access to the store.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Hide progress.")]
Statements = Annotated[
    str,
    typer.Argument(
        metavar="STATEMENTS", help="SELECT, DESCRIBE, PIVOT or EXPLAIN statements, with ; between them."
    ),
]
Format = Annotated[
    Literal["table", "csv", "parquet", "markdown"],
    typer.Option(
        "--format",
        help="Output format of the rows; default with --out: by its ending, .csv, .parquet or .md. "
        "--json prints the whole answer.",
        callback=choose_format,
    ),
]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="In CSV, put an apostrophe before texts that a spreadsheet would run as formulas.",
    ),
]
QueryTimeout = Annotated[
    str, typer.Option("--timeout", help="Time limit of the query, such as 30s.", metavar="DURATION")
]
WatchTimeout = Annotated[
    str,
    typer.Option("--timeout", help="Time after which to stop watching, such as 30min.", metavar="DURATION"),
]
MaxRows = Annotated[int, typer.Option("--max-rows", min=1, help="Maximum rows of the result.")]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", metavar="SIZE", help="Memory limit, such as 2GiB (default: half of the machine's)."
    ),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write to FILE instead of stdout.")]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="Write the report to FILE (default: the sweep's directory)."
    ),
]
