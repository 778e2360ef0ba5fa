"""YAML documents: a key stands once, nothing holds itself, and what cannot be read is told in one line."""

import re
from typing import Any

import yaml

from destage.errors import ConfigError


def parse_document(source: str | bytes, name: str) -> object:
    """Read one YAML document; JSON is YAML, too.

    Args:
        source: The text, or the bytes of its file.
        name: What messages call it.

    Raises:
        ConfigError: It is not YAML; the message names the place.
    """
    try:
        text = source if isinstance(source, str) else source.decode()
        document: object = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 - a SafeLoader
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name}: byte {error.start}: not a text in UTF-8: {error.reason}") from error
    except yaml.reader.ReaderError as error:
        character = f"the character {chr(error.character)!r} at position {error.position}"
        raise ConfigError(f"{name}: not YAML: {character} is not allowed") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark is not None else name
        raise ConfigError(f"{place}: not YAML: {error.problem}") from error
    except RecursionError as error:
        raise ConfigError(f"{name}: lists and tables stand in one another too deep to be read") from error
    return document


class _UniqueKeyLoader(yaml.SafeLoader):
    """A YAML loader that refuses a key written twice, where the plain one silently keeps the last.

    As in YAML 1.2, only true and false are truth values: `on`, `off`, `yes` and `no` are texts.
    """

    def construct_document(self, node: yaml.Node) -> Any:
        # Built from the leaves up, so that an alias to what it stands in is found.
        self.deep_construct = True
        return super().construct_document(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key_node.value!r} is written twice", problem_mark=key_node.start_mark
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
