"""Parser of YAML documents that rejects duplicate keys, self-references and expansions without bound."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from destage.errors import ConfigError, Issue


def parse_document(source: str | bytes, name: str, namespace: str = "scenario") -> object:
    """Read one YAML or JSON document.

    Raises:
        ConfigError: It is not valid YAML.
    """

    def error_at(code: str, place: str, message: str, mark: Any = None) -> ConfigError:
        line, column = (None, None) if mark is None else (mark.line + 1, mark.column + 1)
        return ConfigError([Issue(f"{namespace}.{code}", place, message, line=line, column=column)], name)

    if len(source) > MOST_BYTES:
        message = f"more than {MOST_BYTES:,} bytes, the most that are allowed"
        raise error_at("too-large", "", message)
    try:
        text = source if isinstance(source, str) else source.decode()
        document = _load(text)
    except UnicodeDecodeError as error:
        raise error_at("bad-syntax", f"byte {error.start}", f"invalid UTF-8: {error.reason}") from error
    except yaml.reader.ReaderError as error:
        message = f"invalid YAML: the character {chr(error.character)!r} is not allowed"
        raise error_at("bad-syntax", f"position {error.position}", message) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        if isinstance(error, _DuplicateKeyError):
            raise error_at("duplicate-key", "", str(error.problem), mark) from error
        if isinstance(error, _TooLargeError):
            raise error_at("too-large", "", str(error.problem), mark) from error
        raise error_at("bad-syntax", "", f"invalid YAML: {error.problem}", mark) from error
    except ValueError as error:
        # A number of thousands of digits.
        raise error_at("bad-syntax", "", f"invalid YAML: {error}") from error
    except RecursionError as error:
        raise error_at("bad-syntax", "", "lists and tables are nested too deeply") from error
    return document


def read_beginning(path: Path, most: int) -> bytes:
    """Return a file's first `most` + 1 bytes, of which the last one means that it is too large.

    A device never ends, and a large file need not be in memory to be refused.
    """
    with path.open("rb") as file:
        return file.read(most + 1)


def value_at(document: Any, path: str) -> Any:
    """Return the value at a dotted path, or None if the document has no such value."""
    for step in path.split(".") if path else ():
        if isinstance(document, list) and step.isdigit() and int(step) < len(document):
            document = document[int(step)]
        elif isinstance(document, Mapping):
            document = document.get(step)
        else:
            return None
    return document


class _DuplicateKeyError(yaml.MarkedYAMLError):
    """A mapping that has a key twice."""


class _TooLargeError(yaml.MarkedYAMLError):
    """A document with too many values."""


MOST_VALUES = 1_000_000
"""Maximum values of a document, with every alias replaced by what it stands for."""


MOST_BYTES = 8 << 20
"""Maximum size of a document, which takes the parser about a minute."""


_MOST_NESTED = 1_000
"""Brackets, and letters of a line, up to which no nesting exhausts the stack of libyaml."""
_UNLIKE = re.compile("[\t\x85\u2028\u2029]")
"""Tabs and separators of lines, which the two parsers read differently."""


def _load(text: str) -> object:
    """Return the document of a text.

    libyaml is many times as fast, but does not bound how deep it nests, and its errors say less.
    """
    brackets = text.count("[") + text.count("{")
    longest = max(map(len, text.splitlines()), default=0)
    if max(brackets, longest) <= _MOST_NESTED and _UNLIKE.search(text) is None:
        try:
            document: object = yaml.load(text, Loader=_FastLoader)  # noqa: S506 - a SafeLoader
        except (yaml.YAMLError, UnicodeEncodeError):
            pass
        else:
            return document
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader


class _UniqueKeys(yaml.constructor.SafeConstructor):
    """Constructs values of JSON, and rejects duplicate keys; PyYAML silently keeps the last.

    As in YAML 1.2, only true and false are booleans: `on`, `off`, `yes` and `no` are strings. So is a date:
    values are those of JSON.
    """

    def construct_document(self, node: yaml.Node) -> Any:
        count = _count_values(node, {})
        if count > MOST_VALUES:
            raise _TooLargeError(
                problem=f"{count:,} values, with aliases expanded; at most {MOST_VALUES:,} are allowed",
                problem_mark=node.start_mark,
            )
        # Construct leaves first, so that an alias to its own parent is detected.
        self.deep_construct = True
        return super().construct_document(node)

    def construct_scalar(self, node: Any) -> Any:
        value = super().construct_scalar(node)
        if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise yaml.constructor.ConstructorError(None, None, "half of a surrogate pair", node.start_mark)
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            if key_node.tag != _TEXT:
                written = getattr(key_node, "value", "")
                shown = f" {written}" if isinstance(written, str) else ""
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key{shown} must be a text; write it in quotes", key_node.start_mark
                )
            if key_node.value in seen:
                raise _DuplicateKeyError(
                    problem=f"duplicate key {key_node.value!r}", problem_mark=key_node.start_mark
                )
            seen.add(key_node.value)
        return super().construct_mapping(node, deep=deep)


def _count_values(node: yaml.Node, counted: dict[int, int]) -> int:
    """Return the number of values of a node with every alias replaced by what it stands for."""
    if id(node) in counted:
        return counted[id(node)]
    counted[id(node)] = 1  # for a node within itself, which the constructor rejects
    if isinstance(node, yaml.SequenceNode):
        counted[id(node)] += sum(_count_values(item, counted) for item in node.value)
    elif isinstance(node, yaml.MappingNode):
        counted[id(node)] += sum(_count_values(item, counted) for pair in node.value for item in pair)
    return counted[id(node)]


_TEXT, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
_BOOLEAN, _TIMESTAMP = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"
_UniqueKeys.yaml_constructors = {
    tag: constructor
    for tag, constructor in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] in {"null", "bool", "int", "float", "str", "seq", "map"}
}
"""A value of another tag, such as `!!binary`, is an error."""


class _Loader(_UniqueKeys, yaml.SafeLoader):
    """PyYAML's own parser."""


class _FastLoader(_UniqueKeys, yaml.CSafeLoader):
    """The parser of libyaml."""


for _loader in (_Loader, _FastLoader):
    _loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in {_BOOLEAN, _TIMESTAMP}]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    _loader.add_implicit_resolver(
        _BOOLEAN, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
    )
