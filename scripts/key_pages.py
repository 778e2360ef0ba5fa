"""The pages of what may be written: the parameters of a configuration, and the keys of a study."""

from collections.abc import Iterator

from destage.engine.configuration import engine_tree
from destage.spec import quantities
from destage.spec.schema_tree import Node, is_null, is_outward_tagged
from destage.spec.typed_tables import table_schema
from destage.sweeps.study.valid_study import Study

GENERATED = "<!-- Written by scripts/generate_docs.py from the engine's own definitions; edit those. -->\n"
_STUDY_GENERATED = (
    "<!-- Written by scripts/generate_docs.py from sweeps/study/valid_study.py; edit that. -->\n"
)
_WORDS = {
    "bytes": "bytes",
    "ns": "ns",
    "per_s": "1/s",
    "bytes_per_s": "bytes/s",
    "rpm": "rpm",
    "fraction": "fraction",
}
_TYPES = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}


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
            _STUDY_GENERATED,
            "A study is a YAML or JSON document: a configuration (`scenario`), what varies of it, and what",
            "is asked. The [guide](../guide.md) shows studies; [configuration](configuration.md) lists the",
            "parameters, which a study names by dotted path, such as `array.disks`. `destage catalog schema`",
            "prints the same as JSON Schema, for editors.",
            "",
            *_section("", table_schema(Study) | {"description": ""}, set(), title="study"),
        ]
    )


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
        unit = _WORDS.get(node.get("x-unit", ""), "-")
        meaning = as_cell(node.get("description", ""))
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
        else _TYPES[name]
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
    return f"`{word}`: {as_cell(branch.get('description', '')).removesuffix('.')}"


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


def as_cell(text: str) -> str:
    """Return a text as one cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
