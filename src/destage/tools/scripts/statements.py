"""Statements of a script and their words: continuation lines, comments, quotes, pipes and redirections."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from destage.tools.values import Word

_COMMENT = re.compile(r"\s*(?:@?rem\b|::|#|//|;)", re.IGNORECASE)
_CONTINUED = re.compile(r"(?:(?<=\s)|^)[\\^`]\s*$|(?<=[\w\"'])\^\s*$")
_REDIRECTION = re.compile(r"^[12&]?>{1,2}|^<")
_SEPARATORS = ";|&"


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
    text, start, quote, parentheses = line.text, 0, "", 0
    is_piped = False
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
            continue
        if letter in "\"'":
            quote = letter
            continue
        parentheses += (letter == "(") - (letter == ")")
        is_brace = letter in "{}" and _is_block(text, index)
        is_separator = letter in _SEPARATORS and parentheses <= 0 and not _is_redirection(text, index)
        if not is_brace and not is_separator:
            continue
        if not is_piped:
            yield from _trim(line, start, index)
        is_piped = letter == "|" and text[index + 1 : index + 2] != "|"
        if is_brace:
            yield Statement(letter, line.places[index : index + 1])
            is_piped = False
        start = index + 1
    if not is_piped:
        yield from _trim(line, start, len(text))


def _is_block(text: str, index: int) -> bool:
    before, after = text[index - 1 : index], text[index + 1 : index + 2]
    if text[index] == "{":
        return before in {"", " ", ")", "\t"} and (after in {"", " ", "\t"} or before == ")")
    return before in {"", " ", "\t"}


def _is_redirection(text: str, index: int) -> bool:
    return text[index] == "&" and text[index - 1 : index] == ">"


def _trim(line: Statement, start: int, end: int) -> Iterator[Statement]:
    part = line.text[start:end]
    kept = part.strip()
    if kept:
        start += len(part) - len(part.lstrip())
        yield Statement(kept, line.places[start : start + len(kept)])


def read_words(statement: Statement) -> list[Word]:
    """Return the words of a statement without quotes, up to a redirection or a comment."""
    words: list[Word] = []
    letters: list[str] = []
    begin, quote, is_word = 0, "", False

    def end() -> None:
        nonlocal letters, is_word
        if is_word:
            line, column = statement.places[begin]
            words.append(Word("".join(letters), line, column))
        letters, is_word = [], False

    for index, letter in enumerate(statement.text):
        if quote:
            if letter == quote:
                quote = ""
            else:
                letters.append(letter)
        elif letter in "\"'":
            begin, quote, is_word = (begin if is_word else index), letter, True
        elif letter.isspace():
            end()
        else:
            begin, is_word = (begin if is_word else index), True
            letters.append(letter)
    end()
    for index, word in enumerate(words):
        if _REDIRECTION.match(word.text) or word.text == "#":
            return words[:index]
    return words
