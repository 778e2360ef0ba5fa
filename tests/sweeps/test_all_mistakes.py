"""All mistakes of a study are reported at once, each with its line and column."""

from pathlib import Path
from typing import Any

import pytest

from destage.errors import ConfigError, Issue
from destage.spec.source import Source
from destage.sweeps import parse_study
from destage.sweeps.reading.expansion import expand

STUDY = """\
name: Bad Name
question: x
scenario:
  workload: {use: call_centre}
  controler: {use: p410}
  array: {raid: 6, disks: 4, disk: exos_x18}
axes:
  controller.cache.capacity: [512, 1024 MiB, foo, bar]
  array.raid: [5, 7]
  workload.usr: [1]
seek:
  maximize: workload.users
  subject_to: ["response_p95 < 20"]
replicates: no
"""
MISTAKES = [
    ("study.bad-form", "name", 1, 7),
    ("catalog.unknown-entry", "scenario.workload.use", 4, 19),
    ("scenario.unknown-key", "scenario.controler", 5, 3),
    ("catalog.name-alone", "scenario.array.disk", 6, 36),
    ("study.bad-quantity", "axes.controller.cache.capacity", 8, 31),
    ("study.bad-quantity", "axes.controller.cache.capacity", 8, 46),
    ("study.bad-quantity", "axes.controller.cache.capacity", 8, 51),
    ("scenario.unknown-name", "axes.array.raid", 9, 19),
    ("study.unknown-key", "axes.workload.usr", 10, 3),
    ("study.bad-quantity", "seek.subject_to.0", 13, 16),
    ("study.wrong-type", "replicates", 14, 13),
]


def read_mistakes(text: str) -> list[tuple[str, str, int | None, int | None]]:
    """Return code, place, line and column of each mistake of a study."""
    with pytest.raises(ConfigError) as caught:
        expand(parse_study(text, name="s.yaml"))
    return [(issue.code, issue.place, issue.line, issue.column) for issue in caught.value.issues]


def test_every_stage_reports_its_mistakes() -> None:
    """Those of the schema, of axes, of the seek, and of the points that the rest describes."""
    assert read_mistakes(STUDY) == MISTAKES


@pytest.mark.parametrize("left_out", range(len(MISTAKES)))
def test_a_mistake_is_found_without_the_others(left_out: int) -> None:
    """Repairing one mistake leaves exactly the others: none of them follows from another."""
    repairs = {
        "name: Bad Name": "name: good-name",
        "call_centre": "call_center",
        "controler: {use: p410}": "controller: {use: smart_array_p840}",
        "disk: exos_x18": "disk: {use: exos_x18}",
        "[512,": "[2GiB,",
        "foo, ": "",
        ", bar]": "]",
        "[5, 7]": "[5]",
        "  workload.usr: [1]\n": "",
        '< 20"': '< 20ms"',
        "replicates: no": "replicates: 1",
    }
    wrong, right = list(repairs.items())[left_out]
    found = [(code, place) for code, place, _, _ in read_mistakes(STUDY.replace(wrong, right))]
    assert found == [mistake[:2] for at, mistake in enumerate(MISTAKES) if at != left_out]


def test_a_wrong_condition_hides_no_other_mistake() -> None:
    text = (
        "name: s\nwhere: disks >\n"
        "scenario: {workload: {use: nope}, array: {raid: 5, disks: 4, disk: {use: exos_x18}}}\n"
        "axes: {array.disks: [4, 5]}\n"
    )
    assert [issue[:3] for issue in read_mistakes(text)] == [
        ("study.bad-sql", "where", 2),
        ("catalog.unknown-entry", "scenario.workload.use", 3),
    ]


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ("axes: {array.disks: {integer: [4]}}\ndesign: {points: 8}\n", "axes.array.disks.integer"),
        ("axes: {array.disks: {normal: [4, 5]}}\ndesign: {points: 8}\n", "axes.array.disks.normal"),
        ("axes: {array.disks: {integer: [4, 5]}}\ndesign: {points: 1}\n", "design.points"),
        (
            "axes: {array.disks: {integer: [4, 5]}}\nsearch: {objectives: [], trials: 2}\n",
            "search.objectives",
        ),
        ("axes: {array.disks: []}\nwhen: {array.disks: 1 = 1}\n", "axes.array.disks"),
        ("axes: {array.disks: []}\nrefine: {axis: array.disks, of: response_p95}\n", "axes.array.disks"),
    ],
)
def test_what_depends_on_a_mistake_is_no_mistake(keys: str, place: str) -> None:
    scenario = "{workload: {use: call_center}, array: {raid: 5, disks: 4, disk: {use: u320_10k_36gb}}}"
    assert [issue[1] for issue in read_mistakes(f"name: s\nscenario: {scenario}\n{keys}")] == [place]


@pytest.mark.parametrize(
    ("text", "place", "code", "value", "position"),
    [
        ("a: 1\nb:\n  - x\n  - {y: 2}\n", "b.1.y", "study.out-of-range", 2, (4, 9)),
        ("a.b: [1, 2]\n", "a.b", "study.out-of-range", 2, (1, 10)),
        ("a.b: {range: [1, 2, 3]}\n", "a.b", "study.out-of-range", 3, (1, 21)),
        ("a:\n  b: 1\n", "a.c", "study.missing-key", None, (1, 1)),
        ("a:\n  b: 1\n", "a.b", "study.unknown-key", 1, (2, 3)),
        ("base: &b {x: 1}\nhere: {<<: *b, y: 2}\n", "here.x", "study.out-of-range", 1, (1, 14)),
        ("arrays: [{disks: 3}]\n", "array.disks", "scenario.out-of-range", 3, (1, 18)),
        ("a: 1\n", "", "study.wrong-type", None, (1, 1)),
    ],
)
def test_places_are_located(text: str, place: str, code: str, value: Any, position: tuple[int, int]) -> None:
    found = Source("s.yaml", text).locate(Issue(code, place, "", value))
    assert (found.line, found.column) == position


def test_the_error_names_file_line_and_column(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_study(STUDY, name="s.yaml", folder=tmp_path)
    first = str(caught.value).splitlines()[0]
    assert first.startswith("s.yaml:1:7: study.bad-form at name: 'Bad Name':")
