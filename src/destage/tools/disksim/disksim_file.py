"""The syntax of DiskSim's parameter files: blocks of `key = value`, with the line of each value.

A value is a number, a word, a block (`kind [name] { ... }`), a list (`[ ... ]`) or `source FILE`. A comment
starts with `#` and ends with the line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias, Union

from destage.errors import ConfigError, Issue

Value: TypeAlias = Union[str, "Block", tuple["Value", ...]]
"""A number or word as written, a block, or a list."""

_TOKEN = re.compile(r"#[^\n]*|[{}\[\],=]|\n|[^{}\[\],=#\n]+")


@dataclass(frozen=True)
class Block:
    """A block with its values.

    Attributes:
        path: The file.
        kind: The word before the name, such as `dm_layout_g1_zone`.
        name: The words after it; empty if there are none.
        line: The line of its opening brace.
        values: Value and line by key.
    """

    path: Path
    kind: str
    name: str
    line: int
    values: Mapping[str, tuple[Value, int]]

    def refuse(self, message: str, line: int | None = None) -> NoReturn:
        """Raise the error for a value of the block, or for the block."""
        raise refusal(self.path, self.line if line is None else line, message)

    def line_of(self, key: str) -> int:
        """Return the line of a value, or that of the block if there is none."""
        return self.values[key][1] if key in self.values else self.line

    def find(self, key: str) -> float | None:
        """Return a number; None if it is missing."""
        if key not in self.values:
            return None
        value, line = self.values[key]
        number = as_number(value)
        if number is None:
            self.refuse(f"{key}: expected a number", line)
        return number

    def need(self, key: str) -> float:
        """Return a number that must be there."""
        number = self.find(key)
        if number is None:
            self.refuse(f"{self.kind}: missing number '{key}'")
        return number

    def text(self, key: str) -> str | None:
        """Return a word; None if it is missing."""
        value = self.values.get(key, (None, 0))[0]
        return value if isinstance(value, str) else None

    def block(self, key: str) -> "Block":
        """Return a block that must be there, from its own file if it is `source FILE`."""
        value, line = self.values.get(key, (None, self.line))
        if isinstance(value, str) and value.startswith("source "):
            return parse(self.path.parent / value.removeprefix("source ").strip())
        if not isinstance(value, Block):
            self.refuse(f"{self.kind}: missing block '{key}'", line)
        return value

    def items(self, key: str) -> Sequence[Value]:
        """Return a list; empty if it is missing."""
        value = self.values.get(key, ((), 0))[0]
        return value if isinstance(value, tuple) else ()


def refusal(path: Path, line: int | None, message: str) -> ConfigError:
    """Return the error for a line of a file."""
    place = "" if line is None else f"line {line}"
    return ConfigError([Issue("disk.bad-model", place, message)], str(path))


def read_text(path: Path) -> str:
    """Read a file.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(
            [Issue("disk.unreadable", "", f"cannot be read: {error.strerror}")], str(path)
        ) from None


def as_number(value: Value) -> float | None:
    """Return a value as a number; None if it is none."""
    if not isinstance(value, str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def parse(path: Path) -> Block:
    """Read the first block of a file.

    Raises:
        ConfigError: The file cannot be read or breaks the syntax.
    """
    value = _Parser(path).read_value()
    if not isinstance(value, Block):
        raise refusal(path, 1, "expected a block 'kind name {'")
    return value


def parse_items(path: Path) -> Sequence[Value]:
    """Read a file with several blocks, and words and lists between them.

    Raises:
        ConfigError: The file cannot be read or breaks the syntax.
    """
    return list(_Parser(path).read_items())


class _Parser:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._tokens = _tokens(read_text(path))
        self._line = 1
        self._next = ""
        self._advance()

    def _advance(self) -> str:
        """Return the current token and read the next one; an empty token is the end."""
        current = self._next
        self._next, self._line = next(self._tokens, ("", self._line))
        return current

    def _expect(self, wanted: str) -> None:
        if self._next != wanted:
            actual = repr(self._next) if self._next else "the end of the file"
            raise refusal(self._path, self._line, f"expected {wanted!r}, found {actual}")
        self._advance()

    def read_items(self) -> Iterator[Value]:
        while self._next:
            if self._next in set("}],="):
                self._expect("{")
            yield self.read_value()

    def read_value(self) -> Value:
        if self._next == "[":
            return self._list()
        word = "" if self._next in set("{}],=") else self._advance()
        if self._next != "{":
            return word
        line = self._line
        kind, _, name = word.partition(" ")
        self._advance()
        values: dict[str, tuple[Value, int]] = {}
        while self._next != "}":
            key, key_line = self._advance(), self._line
            if key == ",":
                continue
            self._expect("=")
            values[key] = self.read_value(), key_line
            if self._next != "}":
                self._expect(",")
        self._advance()
        return Block(self._path, kind, name, line, values)

    def _list(self) -> Value:
        self._advance()
        items: list[Value] = []
        while self._next != "]":
            if self._next == ",":
                self._advance()
                continue
            if self._next in ("", "}", "="):
                self._expect("]")
            items.append(self.read_value())
        self._advance()
        return tuple(items)


def _tokens(content: str) -> Iterator[tuple[str, int]]:
    line = 1
    for match in _TOKEN.finditer(content):
        text = match.group()
        if text == "\n":
            line += 1
        elif not text.startswith("#") and (words := text.split()):
            yield " ".join(words), line
