"""The registry and the folders of the tools agree."""

import re
from inspect import signature
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import destage.tools
from destage.cli.commands import measured, workload
from destage.tools.registry import TOOLS, Tool, detect

ROOT = Path(destage.tools.__file__).parent
TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs"
OTHERS = {"scripts", "disksim", "data_sheets"}
"""Folders without tests or results of their own: what tools share, models of disks, data sheets."""
FUNCTIONS = {
    "load": {"recognizes": 1, "read_tests": 3},
    "results": {"recognizes": 1, "read": 1},
    "export": {"write": 3},
}
"""The functions of a module, and how many parameters each has."""


def test_each_folder_is_a_registered_tool() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    names = [tool.name for tool in TOOLS]
    assert len(set(names)) == len(names)
    assert folders - OTHERS == set(names)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_an_entry_has_what_its_folder_has(tool: Tool) -> None:
    files = {
        path.stem
        for pattern in ("load*", "results*", "export")
        for path in ROOT.glob(f"{tool.name}/{pattern}.py")
    }
    assert set(tool.list_parts()) == files
    assert bool(tool.suffixes) == ("load" in files)
    for part in files:
        module = tool.open_part(part)
        for name, count in FUNCTIONS[part.partition("_")[0]].items():
            assert len(signature(getattr(module, name)).parameters) == count, (part, name)
    has_commands = bool(tool.suffixes) and hasattr(tool.open_part("load"), "is_command")
    assert tool.has_commands == has_commands


def test_the_command_line_has_these_tools() -> None:
    importing, exporting = get_type_hints(workload.import_), get_type_hints(workload.export)
    assert set(get_args(importing["tool"])) == {"auto", *(tool.name for tool in TOOLS if tool.suffixes)}
    assert set(get_args(exporting["to"])) == {tool.name for tool in TOOLS if tool.has_export}


def test_the_help_names_each_tool_with_tests_and_each_with_results() -> None:
    tests = signature(workload.import_).parameters["source"].annotation.__metadata__[0].help
    results = signature(measured.import_).parameters["files"].annotation.__metadata__[0].help
    assert [tool.title for tool in TOOLS if tool.suffixes and tool.title not in tests] == []
    assert [tool.title for tool in TOOLS if tool.results and tool.title not in results] == []


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_part_of_a_tool_has_tests(tool: Tool) -> None:
    """Those of `load` and `export` import it; `results` has a file in its form, which it recognizes."""
    for part, folder in (("load", "importers"), ("export", "exporters")):
        if part in tool.list_parts():
            texts = [file.read_text() for file in (TESTS / folder).glob("test_*.py")]
            assert any(re.search(rf"destage\.tools(\.| import ){tool.name}\b", text) for text in texts), part
    if tool.results:
        texts = [file.read_text(errors="replace") for file in (TESTS / "measured" / "data").iterdir()]
        detected = [found for text in texts if (found := detect(text, "results")) is not None]
        modules = {module.__name__ for owner, module in detected if owner is tool}
        assert modules == {tool.open_part(part).__name__ for part in tool.results}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_part_of_a_tool_is_documented(tool: Tool) -> None:
    workloads, measured_figures = (
        (DOCS / f"{page}.md").read_text() for page in ("workloads", "measured-figures")
    )
    if tool.suffixes:
        assert f"\n## From {tool.title}\n" in workloads
    if tool.has_export:
        assert tool.title in workloads.partition("\n## Export\n")[2]
    if tool.results:
        assert re.search(rf"^\| `?{tool.title}\b", measured_figures, re.MULTILINE)


def test_a_profile_of_diskspd_in_the_folder_of_crystaldiskmark_is_one_of_diskspd() -> None:
    path = "C:\\CrystalDiskMark 8\\x.dat"
    profile = f"<Profile><TimeSpans><TimeSpan><Path>{path}</Path></TimeSpan></TimeSpans></Profile>"
    found = detect(profile, "load")
    assert found is not None
    assert found[0].name == "diskspd"
