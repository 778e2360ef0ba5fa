"""Files of other tools that the command line imports: their text, their tests, and a study of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from destage.cli.parameters.shared_options import read_file
from destage.cli.terminal.output import issue_as_json
from destage.errors import ConfigError, Issue, UsageError

if TYPE_CHECKING:
    from destage.tools.imported_study import ImportedStudy
    from destage.tools.imported_workload import ImportedWorkload, ImportOptions

COMMAND = "command"
"""The name of a command in messages."""
_MOST_BYTES = 64 << 20
"""Largest file of another tool."""
DOCUMENTS = (".yaml", ".yml", ".json")
"""The suffixes of workloads, configurations and studies."""
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_text(file: Path, place: str = "FILE") -> str:
    """Return the text of a file, in Unicode or in the code page of an old Windows.

    Args:
        place: The argument or the option that names it.
    """
    raw = read_file(file, place, _MOST_BYTES)
    try:
        return raw.decode("utf-16" if raw.startswith(_BYTE_ORDER_MARKS) else "utf-8-sig")
    except UnicodeDecodeError:
        # Iometer writes the code page of its Windows.
        return raw.decode("latin-1")


def read_tests(
    source: str, options: "ImportOptions", place: str = "FILE"
) -> tuple[str, list["ImportedWorkload"]]:
    """Return the name of a file or command in messages, and its tests.

    Args:
        place: The argument or the option that names the file.

    Raises:
        ConfigError: With every option that cannot be read.
    """
    from destage.engine import workload_profile
    from destage.tools import load, registry

    is_command = not Path(source).exists() and registry.is_command(source)
    name = COMMAND if is_command else source
    tests = load.read_tests(source if is_command else read_text(Path(source), place), name, options)
    for test in tests:
        try:
            workload_profile.check_workload(test.workload)
        except ConfigError as error:
            raise ConfigError(error.issues, name) from error
    return name, tests


def choose_hardware(on: str | None, disk: str, controller: str) -> dict[str, Any]:
    """Return the tables of a scenario for the array that `--on` gives; none without it."""
    if on is None:
        return {}
    from destage.cli.parameters.part_options import check_entry, parse_array

    array = parse_array(on, "--on")
    check_entry("controller", controller)
    check_entry("disk", disk)
    shape = {"raid": array.raid, "disks": array.disks, "disk": {"use": disk}}
    return {"controller": {"use": controller}, "array": shape}


def make_study(
    source: str, tests: Sequence["ImportedWorkload"], hardware: Mapping[str, Any]
) -> "ImportedStudy":
    """Return the study of tests."""
    from destage.sweeps.reading.new_study import make_name
    from destage.tools.imported_study import ImportedStudy

    file = tests[0].file
    stem = tests[0].tool if file == COMMAND else Path(source).name.partition(".")[0]
    return ImportedStudy(make_name(stem), tests, hardware)


def list_warnings(tests: Sequence["ImportedWorkload"]) -> list[Issue]:
    """Return the different warnings of tests."""
    return list({warning.describe(): warning for test in tests for warning in test.warnings}.values())


def imported_as_json(tests: Sequence["ImportedWorkload"], study: "ImportedStudy | None") -> dict[str, Any]:
    """Return a workload, or a study with its tests, as `--json` prints it."""
    if study is None:
        return _test_as_json(tests[0])
    documents = [{"name": test.name, **_test_as_json(test)} for test in tests]
    return {"tool": tests[0].tool, "study": study.to_document(), "tests": documents}


def _test_as_json(test: "ImportedWorkload") -> dict[str, Any]:
    return {
        "tool": test.tool,
        "workload": test.workload,
        "run": test.run,
        "mapping": test.mapping,
        "remarks": test.remarks,
        "warnings": [issue_as_json(warning, test.file) for warning in test.warnings],
    }


def describe_entry(entry: Any) -> dict[str, Any]:
    """Return what is known of an entry of the catalogue."""
    return {
        "name": entry.name,
        "title": entry.title,
        "claim": entry.claim,
        "source": entry.source,
        "typical": list(entry.unverified),
        "assumed": list(entry.assumed),
        "note": entry.note,
        "nvme": entry.nvme,
    }


def find_workload(name: str, test: str | None = None) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """Return what is known of a workload, the workload without `use`, and the folder of its files."""
    from destage.engine import catalog
    from destage.tools.registry import is_command

    workloads = {entry.name: entry for entry in catalog.entries("workloads")}
    if name in workloads:
        return describe_entry(workloads[name]), dict(workloads[name].config), Path()
    file = Path(name)
    if not file.exists() and is_command(name):
        return _import_workload(name, file, test)
    if not file.exists():
        from destage.spec.near_names import suggest

        message = f"{name!r} is neither a file nor a bundled workload{suggest(name, workloads)}"
        message += "; `destage catalog list workloads` lists all"
        raise UsageError("usage.unknown-name", message, "NAME")
    if file.suffix in DOCUMENTS:
        workload = _read_workload(file)
        return {"name": name, "title": file.stem}, workload, file.parent
    return _import_workload(name, file, test)


def _import_workload(name: str, file: Path, test: str | None) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """Return facts, workload and folder of a test in another tool's file, the first by default."""
    from destage.tools.imported_workload import ImportOptions

    source, tests = read_tests(name, ImportOptions(test=test))
    imported = tests[0]
    notes = [*map(str, list_warnings([imported]))]
    if len(tests) > 1:
        notes.insert(0, f"the first of {len(tests)} tests, {imported.name!r}; --test NAME shows another")
    title = f"{file.stem} ({imported.tool})" if source == name else imported.tool
    facts = {"name": name, "title": title, "note": "; ".join(notes) or None}
    return facts, dict(imported.workload), file.parent if source == name else Path()


def _read_workload(file: Path) -> dict[str, Any]:
    """Return the workload in a YAML file that holds a workload alone, a configuration, or a study."""
    from destage.engine import catalog
    from destage.spec.documents import parse_document
    from destage.spec.source import Source
    from destage.sweeps.space.parameters import find_bare_numbers, is_json
    from destage.tools.load import reject_results

    text = read_text(file)
    document, within = parse_document(text, str(file)), ""
    if isinstance(document, dict) and isinstance(document.get("scenario"), dict):
        document, within = document["scenario"], "scenario"
    if isinstance(document, dict) and "streams" in document:
        document = {"workload": document}
    if not isinstance(document, dict) or not isinstance(document.get("workload"), dict):
        reject_results(text, str(file))
        message = "missing; a workload is a table under `workload:`, or under `scenario.workload:` in a study"
        raise ConfigError([Issue("scenario.missing-key", "workload", message)], str(file))
    bare = [] if is_json(text) else find_bare_numbers({"workload": document["workload"]})
    if bare:
        raise Source(str(file), text, within).error(bare)
    resolved: dict[str, Any] = catalog.resolve({"workload": document["workload"]})["workload"]
    streams = resolved.get("streams")
    if not isinstance(streams, list):
        issue = Issue("scenario.wrong-type", "workload.streams", "must be a list of streams", streams)
        raise ConfigError([issue], str(file))
    return resolved
