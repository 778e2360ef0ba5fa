"""Write the generated reference pages: studies, parameters, columns, the catalogue, disks, presets, errors.

Usage: generate_docs.py [--check]

Without an option it writes docs/reference/*.md; with --check it writes nothing and exits 1 if a page
is out of date.
"""

import sys
import tomllib

from key_pages import GENERATED, as_cell, configuration_page, study_page
from page_files import ROOT, write_files
from preset_pages import presets_page
from query_pages import queries_page

from destage.engine import catalog, columns, result_columns
from destage.tools.data_sheets import disk_comparison

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
    files = {DOCS / name: text for name, text in pages.items()}
    return write_files(files, "scripts/generate_docs.py", is_check="--check" in sys.argv[1:])


def columns_page() -> str:
    """The page of result columns."""
    rows = [
        f"| `{column.name}` | {column.type} | {column.unit or '-'} | {as_cell(column.meaning)} |"
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
            f"if every use is below {result_columns.IDLE:g}. The answer of a seek names the resource that",
            "limits most of the runs just above it; a table of points uses the means over replicates.",
            "",
            "| resource | use |",
            "|---|---|",
            *(
                f"| `{resource}` | {' / '.join(f'`{column}`' for column in uses)} |"
                for resource, uses in result_columns.RESOURCES.items()
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
            cells = (as_cell(title), as_cell(entry.source), _paths(entry.unverified), _paths(entry.assumed))
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
    compared = {entry.name: disk_comparison.compare_disk(entry.config, entry.sheet) for entry in disks}
    for title, quantities_of, unit in DISK_TABLES:
        heads = [
            f"{DISK_QUANTITIES[name]}, within {disk_comparison.TOLERANCES[name]:.0%}"
            for name in quantities_of
        ]
        lines += [f"## {title} [{unit}]", "", f"| disk | {' | '.join(heads)} |"]
        lines.append(f"|---|{'---|' * len(heads)}")
        for entry in disks:
            cells = [_sheet_cell(compared[entry.name][name]) for name in quantities_of]
            lines.append(f"| `{entry.name}` | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _sheet_cell(cell: disk_comparison.Cell) -> str:
    if cell.sheet is None or cell.deviation is None:
        return f"- / {cell.model:.4g}"
    return f"{cell.sheet:.4g} / {cell.model:.4g}, {cell.deviation:+.1%}"


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


def _paths(paths: tuple[str, ...]) -> str:
    return ", ".join(f"`{path}`" for path in paths) or "-"


if __name__ == "__main__":
    sys.exit(main())
