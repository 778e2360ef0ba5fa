"""What the call-centre studies say they fitted is what the script finds, from the 39 users alone."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from destage.sweeps import parameters, studies
from destage.sweeps.points import expand

SCRIPT = Path(__file__).parents[2] / "scripts" / "fit_call_center.py"
IOS = "workload.streams.0.arrival.ios"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[SCRIPT.stem] = module
    spec.loader.exec_module(module)
    return module


def test_a_point_of_the_prior_is_fitted_as_the_study_says(script: ModuleType) -> None:
    study = studies.load("call_center_prior")
    points = tuple(point for point in study.points if str(point[0]).startswith("9:"))
    [(fitted, half_width)] = script.fit(replace(study, points=points)).values()
    assignments = points[0][1]
    assert round(fitted) == assignments[IOS]
    assert 0 < half_width < 1


def test_every_fitted_figure_is_the_one_that_the_runs_take() -> None:
    study = studies.load("call_center_prior")
    told = [entry["value"] for entry in study.document["fitted"]]
    ios = {point.label: parameters.read(point.config, IOS) for point in expand(study).points}
    assert told == list(ios.values())
    assert {entry["on"] for entry in study.document["fitted"]} == {"users, no write cache"}


def test_the_three_controllers_differ_in_nothing_else() -> None:
    study = studies.load("call_center_prior")
    systems: dict[str | None, set[str]] = {}
    for label, assignments in study.points:
        others = {path: value for path, value in assignments.items() if path != "controller.use"}
        systems.setdefault(label, set()).add(repr(sorted(others.items())))
    assert len(systems) == 12
    assert all(len(system) == 1 for system in systems.values())
