"""Loops of a script: `for` of cmd and of POSIX shells, `foreach` of PowerShell."""

import re
from dataclasses import dataclass, field

from destage.tools.scripts.statements import Statement, read_statements

_SHELL_FOR = re.compile(r"^for\s+(?P<name>[A-Za-z_]\w*)\s+in\s+(?P<values>.*)$")
_SHELL_OTHER = re.compile(r"^(?:for\s*\(\(|while\b|until\b|select\b)")
_CMD_FOR = re.compile(
    r"^@?for\s+(?P<switch>/\w\s+)?%%?(?P<name>\w)\s+in\s+\((?P<values>[^)]*)\)\s+do\b\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_POWERSHELL_FOR = re.compile(r"^foreach\s*\(\s*\$(?P<name>\w+)\s+in\s+(?P<values>.*)\)$", re.IGNORECASE)
_COUNTED = re.compile(r"\s*(-?\d+)\s*,\s*(-?\d+)\s*,\s*(-?\d+)\s*")
_PIPED_FOR = re.compile(r"\bforeach(?:-object)?$", re.IGNORECASE)


@dataclass
class Block:
    """Statements in braces, or in a loop that is not followed; with a variable, a loop over values."""

    variable: str = ""
    values: str = ""
    body: list["Node"] = field(default_factory=list)


Node = Statement | Block
"""A block, or a statement that is not part of its syntax."""


@dataclass
class _Reader:
    top: Block = field(default_factory=Block)
    opened: list[tuple[str, Block]] = field(default_factory=list)
    header: Block | None = None

    def add(self, node: Node) -> None:
        (self.opened[-1][1] if self.opened else self.top).body.append(node)

    def open(self, end: str, node: Block) -> None:
        self.add(node)
        self.opened.append((end, node))

    def close(self, end: str) -> None:
        if any(opened_end == end for opened_end, _ in self.opened):
            while self.opened.pop()[0] != end:
                pass

    def read(self, statement: Statement) -> None:
        text = statement.text
        if text == "{":
            self.open("}", self.header or Block())
            self.header = None
        elif text in {"}", "done"} or text.startswith("done "):
            self.close(text[:4].strip())
        elif text.startswith(")"):
            self.close(")")
        elif text == "do" or text.startswith("do "):
            if text != "do":
                self.read(statement.tail(2))
        elif not self.read_header(statement):
            self.header = None
            self.add(statement)

    def read_header(self, statement: Statement) -> bool:
        text = statement.text
        if (match := _SHELL_FOR.match(text)) is not None:
            self.open("done", Block(match["name"], match["values"]))
        elif _SHELL_OTHER.match(text):
            self.open("done", Block())
        elif (match := _CMD_FOR.match(text)) is not None:
            self.read_cmd_loop(statement, match)
        elif (match := _POWERSHELL_FOR.match(text)) is not None:
            self.header = Block(match["name"], match["values"])
        elif _PIPED_FOR.search(text):
            self.header = None
        else:
            return False
        return True

    def read_cmd_loop(self, statement: Statement, match: re.Match[str]) -> None:
        switch, values = (match["switch"] or "").strip().lower(), match["values"]
        if switch == "/l":
            counted = _COUNTED.fullmatch(values)
            values = ",".join(count_up(*map(int, counted.groups()))) if counted else ""
        loop = Block() if switch in {"/f", "/r", "/d"} else Block(match["name"], values)
        rest = statement.tail(match.start("rest"))
        self.open(")", loop)
        if rest.text.startswith("("):
            inner = rest.tail(1)
            is_closed = inner.text.endswith(")")
            if is_closed:
                inner = Statement(inner.text[:-1].rstrip(), inner.places)
        else:
            inner, is_closed = rest, True
        if inner.text:
            self.read(inner)
        if is_closed:
            self.close(")")


def count_up(first: int, step: int, last: int) -> list[str]:
    """Return the numbers from the first to the last; none without a step."""
    return [str(number) for number in range(first, last + (1 if step > 0 else -1), step)] if step else []


def read_blocks(text: str) -> list[Node]:
    """Return the statements of a script with their loops."""
    reader = _Reader()
    for statement in read_statements(text):
        reader.read(statement)
    return reader.top.body
