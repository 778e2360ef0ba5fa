"""A workload imported from another tool's file: its name, its YAML, and what was left out.

The name says what distinguishes a test from the others of its file.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from destage.errors import Issue


def name_by_difference(tests: Sequence[Sequence[str]]) -> list[str]:
    """Return a name for each test: its options that not all tests have, or its number."""
    counts = Counter(option for options in tests for option in set(options))
    names = [
        " ".join(option for option in dict.fromkeys(options) if counts[option] < len(tests))
        for options in tests
    ]
    return number_repeated([name or str(number) for number, name in enumerate(names, 1)])


def number_repeated(names: Sequence[str]) -> list[str]:
    """Return names with a number behind each repetition."""
    seen = Counter[str]()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is read.

    Attributes:
        tool: The name of its tool; `auto` detects it.
        test: The name of the test to read; None for all.
        is_study: Whether groups of jobs that run one after another are tests of their own.
        ignore_unknown: Whether options that cannot be simulated are skipped with a warning.
    """

    tool: str = "auto"
    test: str | None = None
    is_study: bool = False
    ignore_unknown: bool = False


DEFAULTS = ImportOptions()


_WIDTH = 110


@dataclass(frozen=True)
class ImportedWorkload:
    """A workload read from another tool's file.

    Attributes:
        workload: The value of `workload:` in a configuration.
        run: The value of `run:`; empty if the file does not define it.
        remarks: What is approximated, assumed or without effect.
        mapping: How each part of the file was translated, by stream.
        warnings: Where the workload may differ from what the author meant.
        name: The name of the test, in a file with several.
        is_named: Whether the name is one that the file's author chose, and that results have.
        is_measured: Whether it is the load of a running system; an answer about it repeats the remarks.
        tool: The tool's title.
        file: The file's name in messages.
    """

    workload: Mapping[str, Any]
    run: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    mapping: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[Issue, ...] = ()
    name: str = ""
    is_named: bool = False
    is_measured: bool = False
    tool: str = ""
    file: str = ""

    def to_yaml(self) -> str:
        """Return the workload as YAML, with comments on how it was translated.

        The document has `workload:` and, if the file defines a run time, `run:`. With `array:` added, it is a
        configuration.
        """
        about = f"Imported from {self.file} ({self.tool})."
        warnings = (f"Warning: {warning}" for warning in self.warnings)
        lines = list_comments((about, *warnings, *self.remarks))
        lines += ["workload:", *indent(self.list_workload_lines(), 2)]
        if self.run:
            lines += ["run:", *indent(dump(self.run), 2)]
        return "\n".join(lines) + "\n"

    def list_workload_lines(self) -> list[str]:
        """Return the lines below `workload:`, with comments."""
        head = {key: value for key, value in self.workload.items() if key != "streams"}
        lines = dump(head) if head else []
        lines += ["streams:"]
        for stream in self.workload["streams"]:
            lines += list_comments(self.mapping.get(stream["name"], ()))
            first, *rest = dump(stream)
            lines += [f"- {first}", *indent(rest, 2)]
        return lines


def dump(value: Mapping[str, Any]) -> list[str]:
    """Return a table as lines of YAML."""
    # Flow style for nested tables that contain no further ones, block style for the rest.
    is_flat = not any(isinstance(item, dict | list) for item in value.values())
    text = yaml.safe_dump(
        dict(value),
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=False if is_flat else None,
    )
    return text.splitlines()


def indent(lines: list[str], by: int) -> list[str]:
    """Return lines with spaces before each."""
    return [f"{' ' * by}{line}" for line in lines]


def list_comments(texts: Iterable[str]) -> list[str]:
    """Return texts as comments, one line each."""

    # Text from the file may contain line separators or characters that YAML does not allow.
    def show(letter: str) -> str:
        return letter if letter.isprintable() or letter.isspace() else repr(letter)[1:-1]

    return [f"# {' '.join(''.join(map(show, text)).split())}" for text in texts]
