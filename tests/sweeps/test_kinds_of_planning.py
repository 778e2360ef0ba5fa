"""The kinds of questions and the ways of adding points: each is reached from a study, and documented."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from inspect import isabstract
from pathlib import Path
from typing import Any

import pytest

import destage.sweeps.rounds
from destage.sweeps import Study
from destage.sweeps.keys.calibrate_settings import Calibration
from destage.sweeps.keys.refine_key import Refinement
from destage.sweeps.keys.search_key import Search
from destage.sweeps.rounds.planner import WAYS, find_question, list_needed_columns
from destage.sweeps.rounds.question import FixedRuns, PointMeans, Question
from destage.sweeps.rounds.sought_values import LargestValues, SmallestValues
from destage.sweeps.study.reader import study_schema

MakeStudy = Callable[..., Study]
DOCS = Path(__file__).parents[2] / "docs"
BOUND = {"subject_to": ["response_p95 <= 30ms"]}
RATE = {"workload.streams.0.arrival.ios": 5}
QUESTIONS: Mapping[type[Question], Mapping[str, Any]] = {
    FixedRuns: {},
    PointMeans: {"replicates": {"min": 2, "until": {"interval_of": "response_p95", "relative": 0.1}}},
    LargestValues: {"seek": {"maximize": "workload.users", **BOUND}},
    SmallestValues: {"seek": {"minimize": "array.disks", **BOUND}, "replicates": 2},
}
"""What a study has beside its scenario, by the kind of question that it asks."""
ADDED: Mapping[type, tuple[str, Mapping[str, Any]]] = {
    Search: (
        "search",
        {
            "axes": {"array.disks": {"integer": [4, 8]}},
            "search": {
                "objectives": [{"minimize": "array.disks"}, {"minimize": "response_p95"}],
                "trials": 4,
            },
        },
    ),
    Refinement: (
        "refine",
        {"axes": {"array.disks": [4, 6, 8]}, "refine": {"axis": "array.disks", "of": "response_p95"}},
    ),
    Calibration: (
        "calibrate",
        {
            "calibrate": {
                "unknowns": {"array.disk.service.mean": {"log_uniform": [1_000_000, 9_000_000]}},
                "figures": {"light": {"set": RATE, "of": "response_p95", "value": 7000, "tolerance": "5%"}},
            }
        },
    ),
}
"""The key of each way of adding points, and what a study with it has beside its scenario."""


def find_kinds() -> Iterator[type[Question]]:
    """Yield the kinds of questions that no other kind is a part of."""
    for file in Path(destage.sweeps.rounds.__file__).parent.glob("*.py"):
        importlib.import_module(f"destage.sweeps.rounds.{file.stem}".removesuffix(".__init__"))
    waiting: list[type[Question]] = [Question]
    while waiting:
        kind = waiting.pop()
        parts = kind.__subclasses__()
        waiting += parts
        if not parts:
            yield kind


def test_every_kind_of_question_is_here() -> None:
    kinds = {*find_kinds()}
    assert kinds == {*QUESTIONS}
    assert not any(isabstract(kind) for kind in kinds)


@pytest.mark.parametrize("kind", QUESTIONS, ids=lambda kind: kind.__name__)
def test_a_study_reaches_each_kind_of_question(kind: type[Question], make_study: MakeStudy) -> None:
    assert find_question(make_study(**QUESTIONS[kind])) is kind


def test_every_way_of_adding_points_is_here() -> None:
    assert {*WAYS} == {*ADDED}


@pytest.mark.parametrize("settings", ADDED, ids=lambda settings: settings.__name__)
def test_a_key_of_a_study_adds_points(settings: type, make_study: MakeStudy) -> None:
    """Planning gets the columns that the way needs."""
    study = make_study(**ADDED[settings][1])
    assert type(study.adding) is settings
    assert "response_p95_us" in list_needed_columns(study)


@pytest.mark.parametrize("key", [key for key, _ in ADDED.values()])
def test_a_key_that_adds_points_has_its_help_and_document(key: str) -> None:
    assert study_schema()["properties"][key]["description"]
    texts = [file.read_text() for file in DOCS.glob("*.md")]
    assert any(f"`{key}" in text and f"{key}:" in text for text in texts)
