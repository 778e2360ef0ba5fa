"""Statements of a script and their words: continuation lines, comments, quotes, pipes and redirections."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from destage.tools.values import Word

_COMMENT = re.compile(r"\s*(?:@?rem\b|::|#|//|;)", re.IGNORECASE)
_CONTINUED = re.compile(r"(?:(?<=\s)|^)[\\^`]\s*$|(?<=[\w\"'])\^\s*$")
_REDIRECTION = re.compile(r"^[12&]?>{1,2}|^<")
_QUOTED = re.compile(r"\"([^\"]*)(?:\"|\Z)|'([^']*)(?:'|\Z)")
_PART = re.compile(rf"{_QUOTED.pattern}|([^\s\"']+)")
_WORD = re.compile(f"(?:{_PART.pattern})+")
_SEPARATOR = re.compile(r"[()]|(?<![^ \t)])\{(?=[ \t]|\Z)|(?<=\))\{|(?<![^ \t])\}|[;|]|(?<!>)&|\Z")
"""What ends a statement, outside parentheses; a brace does anywhere if it encloses a block."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a script.

    Attributes:
        places: Line and column of each character.
    """

    text: str
    places: tuple[tuple[int, int], ...]

    @property
    def line(self) -> int:
        """Its first line."""
        return self.places[0][0] if self.places else 1

    def tail(self, start: int) -> "Statement":
        """Return the statement without its first characters and the white space after them."""
        rest = self.text[start:]
        start += len(rest) - len(rest.lstrip())
        return Statement(self.text[start:].rstrip(), self.places[start:])


def read_statements(text: str) -> Iterator[Statement]:
    """Yield the statements of a script; braces that enclose a block are statements of their own."""
    for line in _join_lines(text):
        yield from _split(line)


def _join_lines(text: str) -> Iterator[Statement]:
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        if not letters and _COMMENT.match(raw):
            continue
        mark = _CONTINUED.search(raw)
        kept = raw[: mark.start()] if mark else raw
        letters += [*kept, " "]
        places += [(number, column) for column in range(1, len(kept) + 2)]
        if mark is None:
            yield Statement("".join(letters), tuple(places))
            letters, places = [], []
    if letters:
        yield Statement("".join(letters), tuple(places))


def _split(line: Statement) -> Iterator[Statement]:
    """Yield the parts of a line between separators that are not quoted."""
    text = _QUOTED.sub(lambda match: "_" * len(match[0]), line.text)
    start, parentheses, is_piped = 0, 0, False
    for match in _SEPARATOR.finditer(text):
        mark, index = match[0], match.start()
        parentheses += (mark == "(") - (mark == ")")
        is_brace = mark in {"{", "}"}
        if mark in {"(", ")"} or (mark and not is_brace and parentheses > 0):
            continue
        part = Statement(line.text[start:index], line.places[start:index]).tail(0)
        if part.text and not is_piped:
            yield part
        is_piped = mark == "|" and text[index + 1 : index + 2] != "|"
        if is_brace:
            yield Statement(mark, line.places[index : index + 1])
        start = index + 1


def read_words(statement: Statement) -> list[Word]:
    """Return the words of a statement without quotes, up to a redirection or a comment."""
    words: list[Word] = []
    for match in _WORD.finditer(statement.text):
        # One of three groups of a part has its text: quoted by one or the other mark, or not quoted.
        text = "".join("".join(groups) for groups in _PART.findall(match[0]))
        if _REDIRECTION.match(text) or text == "#":
            break
        words.append(Word(text, *statement.places[match.start()]))
    return words
