"""Write the generated reference pages: studies, parameters, columns, the catalogue, disks, presets, errors.

Usage: generate_docs.py [--check]

Without an option it writes docs/reference/*.md; with --check it writes nothing and exits 1 if a page
is out of date.
"""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from preset_pages import presets_page
from query_pages import queries_page

from destage.engine import catalog, columns, limiting_resource
from destage.engine.scenario_schema import engine_tree
from destage.spec import quantities
from destage.spec.schema_tree import Node, is_null, is_outward_tagged
from destage.spec.typed_tables import table_schema
from destage.sweeps.study.valid_study import Study
from destage.tools.disksim import data_sheet

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs" / "reference"
ERROR_CODES = ROOT / "src" / "destage" / "error_codes"
NAMESPACES = {
    "usage": "The command line.",
    "study": "A study file.",
    "scenario": "A configuration.",
    "catalog": "The catalogue.",
    "trace": "Recorded traces: reading, replaying, analysing.",
    "import": "Importing tests of any tool.",
    "fio": "Importing fio job files.",
    "iometer": "Importing Iometer configurations.",
    "diskspd": "Importing DiskSpd commands, scripts and profiles.",
    "vdbench": "Importing Vdbench parameter files.",
    "sysbench": "Importing sysbench commands and scripts.",
    "measured": "Importing measured figures.",
    "export": "Exporting workloads to load generators.",
    "disk": "Descriptions and measurements of disks.",
    "run": "Runs that failed in the engine.",
    "sweep": "Planning and running a sweep.",
    "store": "Stores of results.",
    "bucket": "Object services.",
    "query": "SQL, named queries and reports.",
    "settings": "Settings of a cluster.",
    "cluster": "Kubernetes and Ray.",
    "system": "The machine.",
}
"""The namespaces of error codes and what each is about, in the order of the page."""
WORDS = {
    "bytes": "bytes",
    "ns": "ns",
    "per_s": "1/s",
    "bytes_per_s": "bytes/s",
    "rpm": "rpm",
    "fraction": "fraction",
}
TYPES = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}
DISK_QUANTITIES = {
    "track_to_track_ms": "track to track",
    "average_seek_ms": "average",
    "full_stroke_ms": "full stroke",
    "outer_mb_per_s": "outer edge",
    "inner_mb_per_s": "inner edge",
    "mean_mb_per_s": "mean",
    "random_reads_1_per_s": "1 outstanding",
    "random_reads_16_per_s": "16 outstanding",
}
DISK_TABLES = (
    ("Seeks", ("track_to_track_ms", "average_seek_ms", "full_stroke_ms"), "ms"),
    ("Sequential reads", ("outer_mb_per_s", "inner_mb_per_s", "mean_mb_per_s"), "MB/s"),
    ("Random reads", ("random_reads_1_per_s", "random_reads_16_per_s"), "1/s"),
)
"""The tables of the page of disks: title, quantities, unit."""
GENERATED = "<!-- Written by scripts/generate_docs.py from the engine's own definitions; edit those. -->\n"
STUDY_GENERATED = (
    "<!-- Written by scripts/generate_docs.py from sweeps/study/valid_study.py; edit that. -->\n"
)
ERRORS_GENERATED = "<!-- Written by scripts/generate_docs.py from src/destage/error_codes/; edit those. -->\n"


def main() -> int:
    """Write the pages, or print which are out of date."""
    pages = {
        "study.md": study_page(),
        "configuration.md": configuration_page(),
        "columns.md": columns_page(),
        "catalog.md": catalog_page(),
        "disks.md": disks_page(),
        "presets.md": presets_page(),
        "errors.md": errors_page(),
        "queries.md": queries_page(),
    }
    if "--check" in sys.argv[1:]:
        stale = [name for name, text in pages.items() if _current(DOCS / name) != text]
        for name in stale:
            print(f"docs/reference/{name} is out of date; run scripts/generate_docs.py", file=sys.stderr)
        return 1 if stale else 0
    DOCS.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (DOCS / name).write_text(text, encoding="utf-8")
    return 0


def columns_page() -> str:
    """The page of result columns."""
    rows = [
        f"| `{column.name}` | {column.type} | {column.unit or '-'} | {_cell(column.meaning)} |"
        for column in columns()
    ]
    return "\n".join(
        [
            "# Result columns",
            "",
            GENERATED,
            "Each run writes one row with these columns. A column that does not apply to a run is null.",
            "An objective names a column without its unit suffix, and its value has a unit:",
            "`response_p95 <= 30ms`.",
            "",
            "| column | type | unit | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
            "## Limiting resource",
            "",
            "The column `limiting` of answers and queries names the resource with the highest use, or `host`",
            f"if every use is below {limiting_resource.IDLE:g}. The answer of a seek names the resource that",
            "limits most of the runs just above it; a table of points uses the means over replicates.",
            "",
            "| resource | use |",
            "|---|---|",
            *(
                f"| `{resource}` | {' / '.join(f'`{column}`' for column in uses)} |"
                for resource, uses in limiting_resource.RESOURCES.items()
            ),
            "",
        ]
    )


def catalog_page() -> str:
    """The page of the catalogue: what each name means, and the source and certainty of its figures."""
    lines = [
        "# Catalogue",
        "",
        GENERATED,
        "What a configuration may `use` by name. A figure is *typical* where it is quoted from memory and",
        "*assumed* where nobody published it; the source states the others. `destage catalog list` shows it.",
        "",
    ]
    for kind in catalog.KINDS:
        lines += [
            f"## {kind}",
            "",
            "| name | what it is | source | typical | assumed |",
            "|---|---|---|---|---|",
        ]
        for entry in catalog.entries(kind):
            title = f"{entry.title}. {entry.note}" if entry.note else entry.title
            cells = (_cell(title), _cell(entry.source), _paths(entry.unverified), _paths(entry.assumed))
            lines.append(f"| `{entry.name}` | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def disks_page() -> str:
    """The page of the catalogue's disks beside their data sheets."""
    lines = [
        "# Disks beside their data sheets",
        "",
        GENERATED,
        "Each hard disk of the catalogue, measured as one would the real one: sheet / model, deviation.",
        "The tests hold each deviation within the tolerance of its column. A sheet's figure can itself be",
        "typical or assumed (see the [catalogue](catalog.md)). Rates are of sequential reads of 64 KiB, one",
        "at a time, through the buffer; the mean is over the whole disk. Random reads of 4 KiB are spread",
        "over the whole disk; with one outstanding, the sheet value is that of its average seek, half a turn",
        "and 0.3 ms of overheads. A dash is a figure that the sheet does not state; the disks as measured",
        "are validated [against traces](../validating-a-disk.md) instead. `atlas_10k` reads ahead to the end",
        "of a track only, the one behaviour that fits its trace: a read that crosses a track misses a",
        "revolution unless another one is waiting, so its rate is about half that of its media.",
        "",
    ]
    disks = [entry for entry in catalog.entries("disks") if entry.config["kind"] == "disk"]
    compared = {entry.name: data_sheet.compare(entry) for entry in disks}
    for title, quantities_of, unit in DISK_TABLES:
        heads = [
            f"{DISK_QUANTITIES[name]}, within {data_sheet.TOLERANCES[name]:.0%}" for name in quantities_of
        ]
        lines += [f"## {title} [{unit}]", "", f"| disk | {' | '.join(heads)} |"]
        lines.append(f"|---|{'---|' * len(heads)}")
        for entry in disks:
            cells = [_sheet_cell(compared[entry.name][name]) for name in quantities_of]
            lines.append(f"| `{entry.name}` | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _sheet_cell(cell: data_sheet.Cell) -> str:
    if cell.sheet is None or cell.deviation is None:
        return f"- / {cell.model:.4g}"
    return f"{cell.sheet:.4g} / {cell.model:.4g}, {cell.deviation:+.1%}"


def configuration_page() -> str:
    """The page of parameters, one section per part of a configuration."""
    return "\n".join(
        [
            "# Configuration",
            "",
            GENERATED,
            "A configuration is the `scenario` of a study: the load (`workload`), the controller and its",
            "arrays, and how the run is measured (`run`). Quantities may have a unit (`64MiB`, `8ms`,",
            "`533MB/s`, `30%`); a bare number is in the unit that the table gives. MiB is 2^20 bytes, MB is",
            "10^6 bytes. `workload`, `controller` and the `disk` of an array may `use` a catalogue entry",
            "(`destage catalog list`); fields given beside `use` override the entry's.",
            "",
            *_section("", engine_tree().root, set()),
        ]
    )


def study_page() -> str:
    """The page of the keys of a study, one section per table."""
    return "\n".join(
        [
            "# Study",
            "",
            STUDY_GENERATED,
            "A study is a YAML or JSON document: a configuration (`scenario`), what varies of it, and what",
            "is asked. The [guide](../guide.md) shows studies; [configuration](configuration.md) lists the",
            "parameters, which a study names by dotted path, such as `array.disks`. `destage catalog schema`",
            "prints the same as JSON Schema, for editors.",
            "",
            *_section("", table_schema(Study) | {"description": ""}, set(), title="study"),
        ]
    )


def errors_page() -> str:
    """The page of error codes: an index, then the cause and the fix of each code."""
    catalogue = {file.stem: tomllib.loads(file.read_text()) for file in ERROR_CODES.glob("*.toml")}
    lines = [
        "# Errors and warnings",
        "",
        ERRORS_GENERATED,
        "Each error and warning is one line with a code, a place and a message:",
        "`error: small.yaml: study.unknown-key at axes.contoller: unknown key`.",
        'With `--json`, a command prints `{"errors": [{"code", "place", "message", "value", "data",',
        '"source"}]}` on stdout. Codes are stable; messages may change.',
        "",
        "| namespace | about | codes |",
        "|---|---|---|",
    ]
    for namespace, about in NAMESPACES.items():
        names = ", ".join(
            f"[{name}](#{namespace}{name})" + (" (warning)" if "level" in entry else "")
            for name, entry in catalogue[namespace].items()
        )
        lines.append(f"| `{namespace}` | {about} | {names} |")
    for namespace in NAMESPACES:
        for name, entry in catalogue[namespace].items():
            lines += [
                "",
                f"## {namespace}.{name}",
                "",
                *(["This is a warning.", ""] if "level" in entry else []),
                f"**Cause:** {entry['cause']}",
                "",
                f"**Fix:** {entry['fix']}",
            ]
    return "\n".join([*lines, ""])


def _section(path: str, node: Node, seen: set[str], *, title: str = "scenario") -> Iterator[str]:
    """A part of the configuration and the parts below it, each once."""
    tree = engine_tree()
    node = tree.follow(node)
    branches = [branch for branch in tree.alternatives(node) if not is_null(branch)]
    if len(branches) == 1:
        node, branches = {**branches[0], "description": node.get("description", "")}, []
    yield f"## {f'`{path}`' if path else title}\n"
    if node.get("description"):
        yield f"{node['description']}\n"
    for branch in branches:
        tag = tree.tag_of(node)
        if tag is not None:
            yield f"### `{path}`, {tag} `{branch['properties'][tag]['const']}`\n"
            yield f"{branch.get('description') or branch['properties'][tag].get('description', '')}\n"
            yield from _table({key: leaf for key, leaf in branch["properties"].items() if key != tag}, branch)
    if not branches:
        yield from _table(node.get("properties", {}), node)
    parts = [part for branch in branches for part in branch.get("properties", {}).items()]
    for key, leaf in parts or node.get("properties", {}).items():
        below = _part_below(leaf)
        name = f"{path}.{key}" if path else key
        if below is not None and str(below) not in seen and not (key == "arrays" and not path):
            seen.add(str(below))
            yield from _section(name, below, seen)


def _part_below(leaf: Node) -> Node | None:
    """The part of the configuration that a field holds, or holds a list of; None for a plain value."""
    tree = engine_tree()
    node = tree.follow(leaf)
    branches = [branch for branch in tree.alternatives(node) if not is_null(branch)]
    if len(branches) == 1:
        node = branches[0]
    if "items" in node:
        return _part_below(node["items"])
    if isinstance(node.get("additionalProperties"), dict):
        return _part_below(node["additionalProperties"])
    is_part = "properties" in node or tree.tag_of(node) is not None
    return {**node, "description": node.get("description", "")} if is_part else None


def _table(fields: dict[str, Node], owner: Node) -> Iterator[str]:
    if not fields:
        return
    yield "| parameter | type | unit | allowed | default | meaning |"
    yield "|---|---|---|---|---|---|"
    for key, leaf in fields.items():
        node = engine_tree().follow(leaf)
        default = "required" if key in owner.get("required", ()) else _value(node.get("default"), node)
        unit = WORDS.get(node.get("x-unit", ""), "-")
        meaning = _cell(node.get("description", ""))
        yield f"| `{key}` | {_type(node)} | {unit} | {_allowed(node)} | {default} | {meaning} |"
    yield ""


def _type(node: Node) -> str:
    tree = engine_tree()
    branches = [branch for branch in tree.alternatives(node) if not is_null(branch)]
    if len(branches) == 1:
        return f"{_type(branches[0])} or null"
    if (
        any(is_outward_tagged(branch) or "const" in branch for branch in branches)
        and tree.tag_of(node) is None
    ):
        return "choice"
    if branches:
        return "table with `kind`"
    if "enum" in node:
        return "choice"
    types = [node["type"]] if isinstance(node.get("type"), str) else list(node.get("type", ()))
    words = [
        "null"
        if name == "null"
        else "list"
        if name == "array"
        else "table"
        if name == "object"
        else TYPES[name]
        for name in types
    ]
    return " or ".join(words)


def _allowed(node: Node) -> str:
    tree = engine_tree()
    unit = node.get("x-unit")
    if "enum" in node:
        return ", ".join(f"`{word}`" for word in node["enum"])
    branches = [branch for branch in tree.alternatives(node) if not is_null(branch)]
    if len(branches) == 1:
        return _allowed(branches[0])
    if branches and tree.tag_of(node) is not None:
        tag = tree.tag_of(node) or ""
        return ", ".join(f"`{branch['properties'][tag]['const']}`" for branch in branches)
    if len(branches) > 1:
        return "; ".join(_choice(branch) for branch in branches)
    bounds = [
        f"{sign} {_value(node[key], node)}"
        for sign, key in (
            ("at least", "minimum"),
            ("more than", "exclusiveMinimum"),
            ("at most", "maximum"),
            ("less than", "exclusiveMaximum"),
        )
        if key in node and not (key == "minimum" and node[key] == 0 and unit != "fraction")
    ]
    return ", ".join(bounds) or "-"


def _choice(branch: Node) -> str:
    word = branch["const"] if "const" in branch else f"{{{branch['required'][0]}: ...}}"
    return f"`{word}`: {_cell(branch.get('description', '')).removesuffix('.')}"


def _value(value: object, node: Node) -> str:
    unit = node.get("x-unit")
    if value is None:
        return "-"
    if isinstance(value, dict | list):
        return "see below"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if unit is not None and isinstance(value, int | float):
        return f"`{quantities.render(value, unit)}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _paths(paths: tuple[str, ...]) -> str:
    return ", ".join(f"`{path}`" for path in paths) or "-"


def _current(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
