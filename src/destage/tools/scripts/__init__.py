"""Commands of a tool in scripts of cmd, PowerShell and POSIX shells, with their loops and variables.

Assignments of constants and loops over lists are followed; everything else in a script is skipped. A variable
whose value the script does not define stays in the word.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from destage.errors import ConfigError, Issue
from destage.tools.scripts.blocks import Node, count_up, read_blocks
from destage.tools.scripts.statements import Statement, read_words
from destage.tools.values import Word

MOST_COMMANDS = 5_000
"""Maximum commands of a script; more come from a loop that is not a test plan."""
_ASSIGNMENT = (
    re.compile(r'^set\s+"?(?P<name>\w+)=(?P<value>[^"]*)"?$', re.IGNORECASE),
    re.compile(r"^(?:\[\w+(?:\[\])?\]\s*)?\$(?P<name>\w+)\s*=\s*(?P<value>.*)$"),
    re.compile(r"^(?:export\s+|local\s+|readonly\s+)?(?P<name>\w+)=(?P<value>.*)$"),
)
_UNKNOWN = re.compile(r"\$[({][^)}]*[)}]?|\$\d|%~?\d|`[^`]*`|\{\d+\}")
_REFERENCE = re.compile(
    r"%%?(?P<cmd>[A-Za-z_]\w*)%?|\$\{(?P<braced>\w+)\}|\$\(\$?(?P<sub>\w+)\)|\$(?P<plain>\w+)"
)
_VALUE = re.compile(r"(\"[^\"]*\"|'[^']*'|.*?)\s*(?:(?:^|\s)#.*)?$", re.DOTALL)
"""A value, without the comment behind it."""
_SILENT = re.compile(r"^(?:@?echo|write-host|write-output|printf|rem|title)\b", re.IGNORECASE)
_RANGE = re.compile(r"^\{?(-?\d+)\.\.(-?\d+)\}?$")
_SEQUENCE = re.compile(
    r"^\$\(\s*seq\s+(-?\d+)(?:\s+(-?\d+))?(?:\s+(-?\d+))?\s*\)$|^`seq\s+(-?\d+)\s+(-?\d+)`$"
)


@dataclass(frozen=True, slots=True)
class ScriptCommand:
    """One command of a script.

    Attributes:
        words: The words after the program's name.
    """

    words: tuple[Word, ...]
    line: int


def read_commands(text: str, program: re.Pattern[str]) -> list[ScriptCommand]:
    r"""Return the commands of a script that start a program, in order, with loops unrolled.

    Args:
        program: The program's name as the last part of a path, such as `diskspd(64)?(\\.exe)?`.
    """
    return list(islice(_run(read_blocks(text), {}, program), MOST_COMMANDS + 1))


def check_number(commands: Sequence[ScriptCommand], file: str) -> None:
    """Raise if a script has too many commands."""
    if len(commands) > MOST_COMMANDS:
        message = f"loops make more than {MOST_COMMANDS} commands"
        line = commands[0].line
        raise ConfigError([Issue("import.too-many-tests", "", message, line=line, column=1)], file)


def _run(nodes: list[Node], variables: dict[str, str], program: re.Pattern[str]) -> Iterator[ScriptCommand]:
    for node in nodes:
        if isinstance(node, Statement):
            if not _assign(node.text, variables):
                yield from _find_command(node, variables, program)
        elif node.variable:
            for value in _list_values(node.values, variables):
                variables[node.variable.lower()] = value
                yield from _run(node.body, variables, program)
        else:
            yield from _run(node.body, variables, program)


def _assign(text: str, variables: dict[str, str]) -> bool:
    for pattern in _ASSIGNMENT:
        match = pattern.match(text)
        if match is not None:
            value = _VALUE.match(match["value"].strip())[1]  # type: ignore[index]
            is_list = value.startswith(("@(", "(")) or ("," in value and '"' in value)
            variables[match["name"].lower()] = value if is_list else _expand(value.strip("\"'"), variables)
            return True
    return False


def _find_command(
    statement: Statement, variables: Mapping[str, str], program: re.Pattern[str]
) -> Iterator[ScriptCommand]:
    if _SILENT.match(statement.text) or not ("$" in statement.text or program.search(statement.text)):
        return
    words = [
        part
        for word in read_words(statement)
        for part in _split_expanded(word, _expand(word.text, variables))
    ]
    for index, word in enumerate(words):
        if program.fullmatch(re.split(r"[\\/]", word.text.lstrip("{("))[-1]):
            rest = list(_take_arguments(words[index + 1 :]))
            if any(argument.text[:1] in "-/" for argument in rest):
                yield ScriptCommand(tuple(rest), word.line)
            return


def _split_expanded(word: Word, text: str) -> list[Word]:
    # A variable, or a quoted word such as that of `cmd /c`, may hold several options.
    if " -" not in text:
        return [word.with_text(text)]
    is_same = text == word.text
    return [word.part(match.start() if is_same else 0, match[0]) for match in re.finditer(r"[^\s\"']+", text)]


def _take_arguments(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the words up to a bracket that closes a block around the command."""
    for word in words:
        text = word.text
        while text[-1:] in {"}", ")"} and _count(text, "{(") < _count(text, "})"):
            text = text[:-1]
        if text:
            yield word.with_text(text)
        if text != word.text:
            return


def _count(text: str, letters: str) -> int:
    return sum(map(text.count, letters))


def _expand(text: str, variables: Mapping[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        name = next(group for group in match.groups() if group is not None)
        return variables.get(name.lower(), match[0])

    for _ in range(4):
        expanded = _REFERENCE.sub(replace, text)
        if expanded == text:
            break
        text = expanded
    return text


def find_variable(text: str) -> str | None:
    """Return the first variable in a word that the script does not define."""
    match = _UNKNOWN.search(text) or _REFERENCE.search(text)
    return None if match is None else match[0]


def _list_values(text: str, variables: Mapping[str, str]) -> list[str]:
    """Return the values that a loop goes through."""
    text = _expand(text.strip(), variables).strip()
    sequence = _SEQUENCE.match(text)
    if sequence is not None:
        # To; from and to; from, step and to.
        *rest, last = (int(group) for group in sequence.groups() if group is not None)
        first, step = (*rest, 1, 1)[:2]
        return count_up(first, step, last)[:MOST_COMMANDS]
    text = text.removeprefix("@").strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    values: list[str] = []
    for part in re.findall(r'"[^"]*"|\'[^\']*\'|[^\s,]+', text):
        numbers_range = _RANGE.match(part)
        if numbers_range is not None:
            first, last = int(numbers_range[1]), int(numbers_range[2])
            values += count_up(first, 1 if last >= first else -1, last)[:MOST_COMMANDS]
        else:
            values.append(part.strip("\"'"))
    return values
