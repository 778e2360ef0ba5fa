"""`destage init`."""

import shlex
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.parameters.part_options import (
    check_entry,
    check_quantity,
    check_sizes,
    list_names,
    parse_array,
    place_at_option,
    split_list,
)
from destage.cli.parameters.shared_options import Catalog, Json, check_suffix, parse_duration, use_catalog
from destage.cli.terminal.output import print_json, print_note
from destage.errors import ConfigError, Issue, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from destage.cli.parameters.part_options import ArrayShape, Part
    from destage.sweeps.reading.new_study import NewStudy

_DEFAULTS: "dict[Part, str]" = {"workload": "vdi", "controller": "megaraid_9560_8i", "disk": "exos_x18"}
_MOST_USERS = 1_000_000


@dataclass(frozen=True, slots=True)
class _Field:
    """A choice: the option that gives it, the question that asks for it, and its default."""

    option: str
    question: str
    default: str
    check: "Callable[[str], object]"
    words: "Sequence[str]" = ()


def init(
    workload: Annotated[
        str | None, typer.Option("--workload", metavar="NAME", help="Workload (default: vdi).")
    ] = None,
    controller: Annotated[
        str | None,
        typer.Option("--controller", metavar="NAME", help="Controller (default: megaraid_9560_8i)."),
    ] = None,
    disk: Annotated[
        str | None, typer.Option("--disk", metavar="NAME", help="Disk (default: exos_x18).")
    ] = None,
    raid: Annotated[
        str | None,
        typer.Option(
            "--raid",
            metavar="ARRAYS",
            help="RAID levels and disks, as in raid5x8,raid10x8 (default: raid5x8).",
        ),
    ] = None,
    users: Annotated[
        str | None,
        typer.Option(
            "--users",
            metavar="N,...",
            help="Numbers of users (default: 50,100,200); of a seek, the first one tried (default: 100).",
        ),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option("--cache", metavar="SIZE,...", help="Cache sizes (default: that of the controller)."),
    ] = None,
    seek: Annotated[
        bool | None, typer.Option("--seek/--no-seek", help="Find the most users that each array supports.")
    ] = None,
    response_p95: Annotated[
        str | None,
        typer.Option(
            "--response-p95", metavar="TIME", help="Limit of a seek: 95 % of the I/Os within (default: 30ms)."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The study (default: WORKLOAD.yaml).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    no_input: Annotated[
        bool, typer.Option("--no-input", help="Use defaults instead of asking on a terminal.")
    ] = False,
    catalog_files: Catalog = None,
    as_json: Json = False,
) -> None:
    """Write a new study that runs without changes.

    On a terminal, asks for values that no option sets. Also writes the JSON Schema for editors.
    """
    use_catalog(catalog_files)
    is_asking = sys.stdin.isatty() and not no_input and not as_json
    given = {
        "workload": workload,
        "controller": controller,
        "disk": disk,
        "raid": raid,
        "users": users,
        "cache": cache,
        "response_p95": response_p95,
    }
    if seek is False and response_p95 is not None:
        raise UsageError("usage.conflicting-options", "cannot be combined with --no-seek", "--response-p95")
    new, file = _choose(given, seek if response_p95 is None else True, out, is_asking=is_asking)
    written = _write(new, file, force=force)
    if as_json:
        print_json({name: str(path) for name, path in written.items()})
        return
    print_note(f"study written to {file}, its schema to {written['schema'].name}")
    print_note(f"next: destage run {shlex.quote(str(file))}")


def _choose(
    given: "dict[str, str | None]", is_seek: bool | None, out: Path | None, *, is_asking: bool
) -> "tuple[NewStudy, Path]":
    """Return the study that options, answers and defaults make, and its file."""
    from destage.sweeps.reading.new_study import NewStudy, make_name

    def find(name: str, field: _Field) -> str:
        text = given[name]
        if text is None:
            text = _ask(field) if is_asking else field.default
        field.check(text)
        return text

    if is_seek is None:
        is_seek = is_asking and given["users"] is None and _ask(_SEEK).lower().startswith("y")
    fields = _list_fields(is_seek=is_seek)
    texts = {name: find(name, field) for name, field in fields.items()}
    has_users = _has_users(texts["workload"], "--seek" if is_seek else "--users" if given["users"] else None)
    arrays = _read_arrays(texts["raid"])
    if len({array.disks for array in arrays}) > 1:
        message = "all arrays must have the same number of disks; make array.disks an axis for several"
        raise UsageError("usage.bad-array", message, "--raid")
    file = out or Path(f"{make_name(texts['workload'])}.yaml")
    if is_asking and out is None:
        file = Path(_ask(_Field("--out", "file", str(file), _check_file)))
    _check_file(str(file))
    new = NewStudy(
        name=make_name(file.stem),
        workload=texts["workload"],
        controller=texts["controller"],
        disk=texts["disk"],
        raid=[array.raid for array in arrays],
        disks=arrays[0].disks,
        users=_read_users(texts["users"]) if has_users else (),
        caches=split_list(texts["cache"]),
        limit=texts.get("response_p95"),
    )
    return new, file


def _list_fields(*, is_seek: bool) -> dict[str, _Field]:
    fields: dict[str, _Field] = {
        part: _Field(f"--{part}", part, default, partial(check_entry, part), list_names(part))
        for part, default in _DEFAULTS.items()
    }
    fields["raid"] = _Field("--raid", "RAID level and disks", "raid5x8", _read_arrays)
    asked = "first number of users tried" if is_seek else "numbers of users"
    check = _check_first if is_seek else _read_users
    fields["users"] = _Field("--users", asked, "100" if is_seek else "50,100,200", check)
    fields["cache"] = _Field("--cache", "cache sizes (empty: as built)", "", check_sizes)
    if is_seek:
        fields["response_p95"] = _Field("--response-p95", "95 % of the I/Os within", "30ms", _check_limit)
    return fields


def _ask(field: _Field) -> str:
    from destage.cli.parameters.study_questions import ask

    return ask(field.question, field.default, field.check, field.words)


def _check_answer(text: str) -> None:
    if text.lower() not in {"y", "yes", "n", "no"}:
        raise UsageError("usage.bad-value", "answer yes or no", "--seek")


_SEEK = _Field("--seek", "find the most users (yes), or run at fixed numbers (no)", "yes", _check_answer)


def _read_arrays(text: str) -> "list[ArrayShape]":
    return [parse_array(array, "--raid") for array in text.split(",")]


def _check_file(text: str) -> None:
    check_suffix(Path(text), "--out", ".yaml", ".yml")


def _check_limit(text: str) -> None:
    check_quantity(text, "us", "--response-p95")
    parse_duration(text, "ns", "--response-p95")


def _read_users(text: str) -> list[int]:
    counts = split_list(text)
    if not counts or not all(count.isdecimal() and 1 <= int(count) <= _MOST_USERS for count in counts):
        message = f"{text!r}: must be numbers from 1 to {_MOST_USERS:,} with commas between them"
        raise UsageError("usage.bad-value", message, "--users")
    return sorted({int(count) for count in counts})


def _has_users(workload: str, option: str | None) -> bool:
    """Return whether the load depends on the number of users; reject the option that needs it."""
    from destage.sweeps.sizing.request import depends_on_users

    has_users = depends_on_users({"use": workload})
    if not has_users and option is not None:
        message = f"no stream of {workload} is per user: the load does not depend on the number of users"
        raise ConfigError([Issue("study.no-effect", option, message)])
    return has_users


def _check_first(text: str) -> None:
    """Check the number of users that a seek begins with."""
    from destage.sweeps.reading.new_study import MOST_SOUGHT

    users = _read_users(text)
    if len(users) > 1 or users[0] > MOST_SOUGHT:
        message = f"{text!r}: a seek begins with one number of users, at most {MOST_SOUGHT:,}"
        raise UsageError("usage.bad-value", message, "--users")


def _write(new: "NewStudy", file: Path, *, force: bool) -> dict[str, Path]:
    """Write the study and its schema; a schema that is there stays, unless forced."""
    from destage.sweeps import parse_study
    from destage.sweeps.reading.expansion import expand
    from destage.sweeps.reading.new_study import SCHEMA_FILE, schema_text, write_study

    text = write_study(new, str(file))
    try:
        expand(parse_study(text, name=str(file)))
    except ConfigError as error:
        raise place_at_option(error, "--raid") from None
    schema = file.parent / SCHEMA_FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError("usage.bad-value", f"{file.parent} is not a directory", "--out") from None
    try:
        with file.open("w" if force else "x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        message = f"{file} exists; --force overwrites it"
        raise UsageError("usage.file-exists", message, "--out") from None
    latest = schema_text()
    if force or not schema.exists():
        schema.write_text(latest, encoding="utf-8")
    elif schema.read_bytes() != latest.encode():
        print_note(f"{schema} is from another version and was kept; --force overwrites it")
    return {"study": file, "schema": schema}
