"""The tools of other people: what Destage has of each, and which of them a text is of.

A tool is a folder beside this file, with an entry here. Its modules are imported when they are needed:

- `load` reads its tests: `recognizes(text)`, `read_tests(text, file, options)` and, if it has commands,
  `is_command(text)`. docs/workloads.md has a table for each of how its options are translated.
- Each module of `results` reads its results: `recognizes(text)` and `read(file)`.
- `export` writes a workload as its job: `write(workload, target, source)`.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Literal


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, and what Destage has of it.

    Attributes:
        name: The name of its folder, and in options.
        suffixes: The usual suffixes of the files of tests that `load` reads; none without `load`.
        has_commands: Whether `load` reads commands, too.
        results: The form of the results that each module reads.
        has_export: Whether there is `export`.
        is_log: Whether its results are a log of a running system.
    """

    name: str
    title: str
    suffixes: tuple[str, ...] = ()
    has_commands: bool = False
    results: Mapping[str, str] = field(default_factory=dict)
    has_export: bool = False
    is_log: bool = False

    def list_parts(self) -> list[str]:
        """Return the names of the modules that the entry promises."""
        return [*["load"] * bool(self.suffixes), *self.results, *["export"] * self.has_export]

    def open_part(self, part: str) -> ModuleType:
        """Return one of the modules."""
        return importlib.import_module(f"destage.tools.{self.name}.{part}")


_SCRIPTS = (".cmd", ".bat", ".ps1", ".sh")
TOOLS = (
    Tool("iometer", "Iometer", (".icf", ".txt"), results={"results": "results"}),
    Tool("crystaldiskmark", "CrystalDiskMark", (".txt", ".ini"), has_commands=True),
    Tool("vdbench", "Vdbench", (".vdb", ".parm", ".conf", ".txt"), results={"results": "flatfile"}),
    Tool(
        *("diskspd", "DiskSpd", (".xml", ".txt", *_SCRIPTS)),
        has_commands=True,
        results={"results_xml": "XML", "results_text": "text"},
        has_export=True,
    ),
    Tool("sysbench", "sysbench", _SCRIPTS, has_commands=True, results={"results": "text"}),
    Tool("iostat", "iostat", results={"results": "-x, text or JSON"}, is_log=True),
    Tool("perfmon", "Perfmon", results={"results": "CSV"}, is_log=True),
    Tool("csv_table", "CSV of your own", results={"results": "with a heading"}),
    Tool("fio", "fio", (".fio", *_SCRIPTS), has_commands=True, results={"results": "JSON"}, has_export=True),
)
"""All tools, in the order in which they are asked whether a text is theirs; fio's job files have no mark."""


def find_tool(name: str) -> Tool:
    """Return the tool of a name."""
    return next(tool for tool in TOOLS if tool.name == name)


def list_suffixes() -> tuple[str, ...]:
    """Return the suffixes of files of tests."""
    return tuple(dict.fromkeys(suffix for tool in TOOLS for suffix in tool.suffixes))


def list_result_forms() -> list[str]:
    """Return the forms of results that are read, each with its tool."""
    return [f"{tool.title} {form}" for tool in TOOLS for form in tool.results.values()]


def detect(text: str, kind: Literal["load", "results"]) -> tuple[Tool, ModuleType] | None:
    """Return the tool that a text is a test or a result of, and the module that reads it."""
    parts = [(tool, part) for tool in TOOLS for part in tool.list_parts() if part.startswith(kind)]
    modules = ((tool, tool.open_part(part)) for tool, part in parts)
    return next((pair for pair in modules if pair[1].recognizes(text)), None)


def detect_log(text: str) -> Tool | None:
    """Return the tool that a text is a log of a running system of."""
    logs = [tool for tool in TOOLS if tool.is_log]
    return next(
        (tool for tool in logs for part in tool.results if tool.open_part(part).recognizes(text)), None
    )


def is_command(text: str) -> bool:
    """Return whether an argument is a command or a test's name instead of a file."""
    loads = (tool.open_part("load") for tool in TOOLS if tool.has_commands)
    return " " in text and any(load.is_command(text) for load in loads)
