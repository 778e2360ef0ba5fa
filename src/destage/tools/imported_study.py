"""A study of the tests in another tool's file: what differs between them becomes axes or points."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import yaml

from destage.tools.imported_workload import ImportedWorkload, dump, indent, list_comments

_MISSING_ARRAY = (
    'array: missing; add it, as in {raid: "5", disks: 8, disk: {use: exos_x18}}, or import with --on raid5x8'
)


@dataclass(frozen=True)
class ImportedStudy:
    """A study of tests.

    Attributes:
        hardware: The tables of the scenario beside workload and run, such as `array`; may be empty.
    """

    name: str
    tests: Sequence[ImportedWorkload]
    hardware: Mapping[str, Any]

    def to_document(self) -> dict[str, Any]:
        """Return the study."""
        first = self.tests[0]
        scenario: dict[str, Any] = {"workload": dict(first.workload), **self.hardware}
        if first.run:
            scenario["run"] = dict(first.run)
        question = f"How fast is this array in the tests of {first.tool} ({first.file})?"
        document: dict[str, Any] = {"name": self.name, "question": question, "scenario": scenario}
        axes, differences = self.find_axes(), self._find_differences()
        if axes:
            return {**document, "axes": axes}
        if len(self.tests) == 1:
            return document
        points = [
            {"label": test.name, **{path: values[index] for path, values in differences.items()}}
            for index, test in enumerate(self.tests)
        ]
        return {**document, "points": points}

    def find_axes(self) -> dict[str, list[Any]]:
        """Return the axes whose grid is exactly the tests; none if there is no such grid.

        Tests that are known by a name are points, whose labels have it: measured figures belong to it.
        """
        if all(test.is_named for test in self.tests):
            return {}
        differences = self._find_differences()
        axes = {
            path: list({repr(value): value for value in values}.values())
            for path, values in differences.items()
        }
        is_plain = not any(isinstance(value, dict | list) for values in axes.values() for value in values)
        distinct = {tuple(map(repr, point)) for point in zip(*differences.values(), strict=True)}
        is_grid = prod(map(len, axes.values())) == len(self.tests) == len(distinct)
        return axes if axes and is_plain and is_grid else {}

    def to_yaml(self) -> str:
        """Return the study as YAML, with comments on how its first test was translated."""
        first = self.tests[0]
        document = self.to_document()
        warnings = [f"Warning: {warning}" for test in self.tests for warning in test.warnings]
        remarks = [remark for test in self.tests for remark in test.remarks]
        tests = "1 test" if len(self.tests) == 1 else f"{len(self.tests)} tests"
        about = f"Imported from {first.file} ({first.tool}): {tests}."
        lines = list_comments((about, *dict.fromkeys((*warnings, *remarks))))
        lines += dump({"name": self.name, "question": document["question"]})
        lines += ["scenario:", "  workload:", *indent(first.list_workload_lines(), 4)]
        lines += indent(dump(dict(self.hardware)), 2) if self.hardware else []
        if "array" not in self.hardware:
            lines += [f"  # {_MISSING_ARRAY}"]
        if first.run:
            lines += ["  run:", *indent(dump(first.run), 4)]
        if "axes" in document:
            lines += ["axes:", *indent(_dump_flow(document["axes"]), 2)]
        for point in document.get("points", ()):
            lines += ["points:"] if point is document["points"][0] else []
            lines += [
                f"- {line}" if index == 0 else f"  {line}" for index, line in enumerate(_dump_flow(point))
            ]
        return "\n".join(lines) + "\n"

    def _find_differences(self) -> dict[str, list[Any]]:
        documents = [
            {"workload": self._with_common_names(test.workload), "run": dict(test.run)} for test in self.tests
        ]
        return dict(_differences(documents, ""))

    def _with_common_names(self, workload: Mapping[str, Any]) -> dict[str, Any]:
        """Return a workload whose streams have the names of the first test's, if there are as many.

        Random streams have the names of streams, so that the tests then use common random numbers.
        """
        named, streams = self.tests[0].workload["streams"], workload["streams"]
        if len(named) != len(streams):
            return dict(workload)
        pairs = zip(streams, named, strict=True)
        return {**workload, "streams": [{**stream, "name": first["name"]} for stream, first in pairs]}


def _differences(values: list[Any], path: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the shortest paths below which values differ, with the value of each test."""
    if all(value == values[0] for value in values):
        return
    if all(isinstance(value, dict) and value.keys() == values[0].keys() for value in values):
        for key in values[0]:
            below = f"{path}.{key}" if path else key
            yield from _differences([value[key] for value in values], below)
    elif all(isinstance(value, list) and len(value) == len(values[0]) for value in values):
        for index in range(len(values[0])):
            yield from _differences([value[index] for value in values], f"{path}.{index}")
    else:
        yield path, values


def _dump_flow(table: Mapping[str, Any]) -> list[str]:
    """Return a table as lines of YAML, one line for each key."""
    return [f"{_in_flow(key)}: {_in_flow(value)}" for key, value in table.items()]


def _in_flow(value: Any) -> str:
    text = yaml.safe_dump(
        [value], sort_keys=False, allow_unicode=True, width=float("inf"), default_flow_style=True
    )
    return text.strip()[1:-1]
