"""Parser of YAML documents that rejects duplicate keys and self-references."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from destage.errors import ConfigError, Issue


def parse_document(source: str | bytes, name: str, namespace: str = "scenario") -> object:
    """Read one YAML or JSON document.

    Raises:
        ConfigError: It is not valid YAML; the place is line and column.
    """

    def error_at(code: str, place: str, message: str) -> ConfigError:
        return ConfigError([Issue(f"{namespace}.{code}", place, message)], name)

    try:
        text = source if isinstance(source, str) else source.decode()
        document: object = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 - a SafeLoader
    except UnicodeDecodeError as error:
        raise error_at("bad-syntax", f"byte {error.start}", f"invalid UTF-8: {error.reason}") from error
    except yaml.reader.ReaderError as error:
        message = f"invalid YAML: the character {chr(error.character)!r} is not allowed"
        raise error_at("bad-syntax", f"position {error.position}", message) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        if isinstance(error, _DuplicateKeyError):
            raise error_at("duplicate-key", place, str(error.problem)) from error
        raise error_at("bad-syntax", place, f"invalid YAML: {error.problem}") from error
    except RecursionError as error:
        raise error_at("bad-syntax", "", "lists and tables are nested too deeply") from error
    return document


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


class _UniqueKeyLoader(yaml.SafeLoader):
    """A YAML loader that rejects duplicate keys; PyYAML silently keeps the last.

    As in YAML 1.2, only true and false are booleans: `on`, `off`, `yes` and `no` are strings.
    """

    def construct_document(self, node: yaml.Node) -> Any:
        # Construct leaves first, so that an alias to its own parent is detected.
        self.deep_construct = True
        return super().construct_document(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in seen:
                raise _DuplicateKeyError(
                    problem=f"duplicate key {key_node.value!r}", problem_mark=key_node.start_mark
                )
            seen.add(key_node.value)
        return super().construct_mapping(node, deep=deep)


_BOOLEAN = "tag:yaml.org,2002:bool"
_UniqueKeyLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOLEAN]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_UniqueKeyLoader.add_implicit_resolver(
    _BOOLEAN, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
