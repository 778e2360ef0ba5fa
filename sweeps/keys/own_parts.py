"""Files of disks and controllers that the catalogue lacks.

    disks:
      our_disk:
        title: Example 10K SAS 1.2 TB
        source: data sheet of 2014, p. 2
        config: {kind: disk, rpm: 10500rpm, ...}

A configuration names such files in `catalog`, or a folder of them; a study stores the parts themselves.
"""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from destage import engine
from destage.engine import catalog
from destage.errors import ConfigError, Issue
from destage.spec.documents import MOST_BYTES, parse_document, read_beginning
from destage.spec.source import Source
from destage.spec.typed_tables import key, table, table_schema
from destage.spec.validation import validate_document
from destage.sweeps.space.parameters import find_bare_numbers, is_json

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_Paths = Annotated[tuple[str, ...], {}]


@table
class OwnPart:
    """A disk or a controller, as an entry of the catalogue has it."""

    title: str = key("What it is called.", optional=True)
    source: str = key("Where its figures are from, such as a page of its data sheet.", optional=True)
    note: str = key("A remark.", optional=True)
    unverified: _Paths = key("Fields of `config` that are quoted from memory.", optional=True)
    assumed: _Paths = key("Fields of `config` that are assumed.", optional=True)
    sheet: Mapping[str, float] = key(
        "Figures of the data sheet that `destage catalog check` compares with the model.", optional=True
    )
    nvme: bool = key(
        "Whether a drive is connected by NVMe, or a controller takes such drives; `size` pairs no NVMe drive "
        "with a controller that takes none.",
        optional=True,
    )
    config: Mapping[str, Any] = key("The part of a configuration that the name stands for.")


NAME = "^[a-z0-9][a-z0-9_-]*$"
"""The form of the name of a part."""
_Named = Annotated[Mapping[str, OwnPart], {"propertyNames": {"pattern": NAME}}]


@table
class OwnParts:
    """Parts by name."""

    disks: _Named = key("Disks and solid-state disks.", optional=True)
    controllers: _Named = key("Controllers.", optional=True)


_PROBES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "disks": ("array.disk", {"array": {"raid": "0", "disks": 1, "disk": {}}}),
    "controllers": ("controller", {"array": {"raid": "0", "disks": 1, "disk": {"use": "exos_x18"}}}),
}
"""Where a configuration has a part of each kind, and the rest of one that is valid with it."""


def read_parts(place: Path) -> dict[str, dict[str, Any]]:
    """Return the parts of a file, or of all YAML and JSON files of a folder, by kind and name.

    Raises:
        ConfigError: With all mistakes of a file.
    """
    parts: dict[str, dict[str, Any]] = {}
    is_folder = place.is_dir()
    files = sorted(file for file in place.iterdir() if file.suffix in _SUFFIXES) if is_folder else [place]
    for file in files:
        for kind, named in _read_file(file, is_of_folder=is_folder).items():
            for name, fields in named.items():
                if name in parts.setdefault(kind, {}):
                    message = f"another file of {place} has it, too"
                    raise ConfigError([Issue("catalog.name-taken", f"{kind}.{name}", message)], str(file))
                parts[kind][name] = fields
    if not parts:
        message = "has no YAML file with `disks` or `controllers`"
        raise ConfigError([Issue("catalog.no-parts", "", message)], str(place))
    return parts


def _read_file(file: Path, *, is_of_folder: bool) -> Mapping[str, Mapping[str, Any]]:
    """Return the parts of a file; none if it is another file of a folder, such as a study."""
    try:
        text = read_beginning(file, MOST_BYTES)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise ConfigError([Issue("catalog.unreadable", "", message)], str(file)) from None
    document = parse_document(text, str(file), "catalog")
    if is_of_folder and not (isinstance(document, dict) and document.keys() & _PROBES.keys()):
        return {}
    issues = find_part_mistakes(document, needs_units=not is_json(text))
    if issues or not isinstance(document, dict):
        raise Source(str(file), text).error(issues)
    return document


def find_part_mistakes(document: object, *, needs_units: bool) -> list[Issue]:
    """Return the mistakes in a document with parts."""
    issues = validate_document(document, table_schema(OwnParts), "catalog")
    if not issues and isinstance(document, dict):
        issues = list(_check_parts(document, needs_units=needs_units))
    return issues


def _check_parts(parts: Mapping[str, Mapping[str, Any]], *, needs_units: bool) -> Iterator[Issue]:
    """Yield the mistakes in parts that fit the schema."""
    for kind, named in parts.items():
        for name, fields in named.items():
            place = f"{kind}.{name}"
            if catalog.is_shipped(_kind(kind), name):
                yield Issue("catalog.name-taken", place, "Destage has a part of this name; choose another")
            for issue in _check_config(kind, fields["config"], needs_units=needs_units):
                yield replace(issue, place=f"{place}.config{issue.place}")


def _check_config(kind: str, config: Mapping[str, Any], *, needs_units: bool) -> Iterator[Issue]:
    """Yield the mistakes in a part, placed within it."""
    place, probe = _PROBES[kind]
    scenario: dict[str, Any] = copy.deepcopy({"workload": {"use": "iometer_oltp"}, **probe})
    node = scenario
    *above, last = place.split(".")
    for step in above:
        node = node[step]
    node[last] = dict(config)
    bare = find_bare_numbers(scenario) if needs_units else []
    found = {issue.place: issue for issue in [*engine.validate(scenario), *bare]}
    for at, issue in found.items():
        inner = at.replace("arrays.0.", "array.", 1)
        yield replace(issue, place=inner.removeprefix(place) if inner.startswith(place) else "")


def bind_parts(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Put the parts that a configuration or a study needs into it.

    Those are the parts of the files that its `catalog` names, and of the parts that were added to the
    catalogue of this process, those whose name it contains.

    Args:
        document: A table with the key `scenario`, or a configuration itself.
        folder: The folder of relative files.

    Raises:
        ConfigError: With the mistakes of a file, or of `catalog`.
    """
    bound = dict(document)
    scenario = bound.get("scenario", bound)
    written = scenario.get(catalog.OWN, {})
    own = _list_own(written, folder)
    text = json.dumps(document, default=str)
    for kind, named in catalog.list_added().items():
        used = {name: fields for name, fields in named.items() if name in text}
        if used:
            own[kind] = used | own.get(kind, {})
    if not own:
        return bound
    scenario = {**scenario, catalog.OWN: own}
    return {**bound, "scenario": scenario} if "scenario" in bound else scenario


def _list_own(written: Any, folder: Path) -> dict[str, dict[str, Any]]:
    """Return the parts of a `catalog`: tables, or the files that have them."""
    if isinstance(written, Mapping):
        issues = [
            replace(issue, place=f"{catalog.OWN}.{issue.place}" if issue.place else catalog.OWN)
            for issue in validate_document(dict(written), table_schema(OwnParts), "catalog")
        ]
        if issues:
            raise ConfigError(issues)
        return {kind: dict(named) for kind, named in written.items()}
    files = [written] if isinstance(written, str) else written
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        message = "must be a file or a folder of parts, a list of them, or a table with disks and controllers"
        raise ConfigError([Issue("catalog.wrong-type", catalog.OWN, message, written)])
    own: dict[str, dict[str, Any]] = {}
    for file in files:
        for kind, named in read_parts(folder / file).items():
            own.setdefault(kind, {}).update(named)
    return own


def add_parts(places: Sequence[Path]) -> None:
    """Add the parts of files to the catalogue of this process.

    Raises:
        ConfigError: With all mistakes of a file.
    """
    for place in places:
        catalog.add(read_parts(place))


def _kind(kind: str) -> catalog.Kind:
    return "disks" if kind == "disks" else "controllers"
