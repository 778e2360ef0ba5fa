"""A calibration whose figures have the values of a measured set of the store."""

import copy
from pathlib import Path

import pytest
import yaml
from small_studies import RATE, small_calibration

from destage import sweeps
from destage.errors import ConfigError
from destage.measured.line import MeasuredLine
from destage.measured.sets import delete_set, write_set
from destage.store import open_sweep
from destage.sweeps import parse_study
from destage.sweeps.calibration.measured_figures import bind_figures
from destage.sweeps.keys.calibrate_settings import Calibration

FIGURES: dict[str, dict[str, object]] = {
    "at-50": {"set": {RATE: "50/s"}},
    "at-100": {"set": {RATE: "100/s"}, "of": "throughput_iops", "line": 3, "tolerance": "2%"},
    "at-150": {"set": {RATE: "150/s"}, "of": "response_mean"},
}
WAVES = {"points": 8, "most": 1}


def _line(workload: str, **figures: float) -> MeasuredLine:
    return MeasuredLine(array_label="ours", workload=workload, tool="fio", source_file="r.json", **figures)  # type: ignore[arg-type]


LINES = [
    _line("at-50", response_mean_us=5123.4, throughput_iops=195.0),
    _line("other", response_mean_us=1.0),
    _line("other", throughput_iops=390.0),
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write_set(tmp_path, "ours", LINES)
    return tmp_path


def _write(**changes: object) -> str:
    """Return the study with other fields of its calibration."""
    return small_calibration(
        "jobs", {}, **{"figures": FIGURES, "waves": WAVES, "measured": "ours", **changes}
    )  # type: ignore[arg-type]


def _parse(**changes: object) -> sweeps.Study:
    return parse_study(_write(**changes))


def _find_issues(study: sweeps.Study, store: Path) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        sweeps.plan(study, store)
    return [(issue.code, issue.place) for issue in caught.value.issues]


def test_values_come_from_the_lines_of_the_set(store: Path) -> None:
    outcome = sweeps.run(_parse(), store, executor="inline", workers=2)
    predictive = {row["figure"]: row for row in open_sweep(outcome.path).analyses()["predictive"].to_pylist()}
    found = {name: (row["of"], row["published"], row["is_fitted"]) for name, row in predictive.items()}
    assert found == {
        "at-50": ("response_mean", 5123.4, True),
        "at-100": ("throughput_iops", 390.0, True),
        "at-150": ("response_mean", None, False),
    }


def test_the_sweep_keeps_the_values_it_was_fitted_on(store: Path) -> None:
    """A set that is deleted or replaced later does not change a sweep that is resumed."""
    first = sweeps.run(_parse(), store, executor="inline", workers=2)
    before = open_sweep(first.path).analyses()
    delete_set(store, "ours")
    again = sweeps.resume(first.path, executor="inline", workers=2)
    assert (again.executed, again.path) == (0, first.path)
    assert {name: repr(table) for name, table in open_sweep(again.path).analyses().items()} == {
        name: repr(table) for name, table in before.items()
    }


def test_a_stated_tolerance_and_value_win(store: Path) -> None:
    figures = copy.deepcopy(FIGURES)
    figures["at-50"] |= {"of": "response_mean", "value": "6ms", "tolerance": "10%"}
    bound = bind_figures(_parse(figures=figures), store).adding
    assert isinstance(bound, Calibration)
    found = {name: (figure.value, figure.tolerance) for name, figure in bound.figures.items()}
    assert found == {"at-50": (6000, 600), "at-100": (390, pytest.approx(7.8)), "at-150": (None, 0)}


@pytest.mark.parametrize(
    ("name", "figure", "issue"),
    [
        ("at-50", {"line": "at-60"}, ("study.unknown-name", "calibrate.figures.at-50.line")),
        ("at-50", {"line": 4}, ("study.unknown-name", "calibrate.figures.at-50.line")),
        ("at-50", {"line": "other"}, ("study.ambiguous-line", "calibrate.figures.at-50.line")),
        ("at-60", {"set": {RATE: "60/s"}}, ("study.missing-key", "calibrate.figures.at-60.of")),
        ("at-50", {"of": "response_p99"}, ("study.no-measured-value", "calibrate.figures.at-50.of")),
    ],
)
def test_a_line_that_does_not_fit_is_named(
    store: Path, name: str, figure: dict[str, object], issue: tuple[str, str]
) -> None:
    figures = copy.deepcopy(FIGURES)
    figures[name] = figures.get(name, {}) | figure
    assert _find_issues(_parse(figures=figures), store) == [issue]


def test_an_unknown_set_is_named_with_its_place(store: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        sweeps.plan(_parse(measured="our"), store)
    (issue,) = caught.value.issues
    assert (issue.code, issue.place) == ("store.unknown-measured-set", "calibrate.measured")
    assert "did you mean 'ours'" in issue.message


def test_a_fitted_figure_needs_a_line(store: Path) -> None:
    assert _find_issues(_parse(fits={"all": ["at-50", "at-150"]}), store) == [
        ("study.missing-key", "calibrate.figures.at-150")
    ]


def test_a_set_without_any_line_of_a_figure_is_named(tmp_path: Path) -> None:
    write_set(tmp_path, "ours", [_line("write-d1", response_mean_us=1.0)])
    figures = {"at-150": FIGURES["at-150"]}
    assert _find_issues(_parse(figures=figures), tmp_path) == [("study.unknown-name", "calibrate.measured")]


def test_a_line_without_a_set_has_no_effect() -> None:
    now = {"set": {RATE: "50/s"}, "of": "response_mean", "value": "5ms", "tolerance": "5%", "line": 1}
    with pytest.raises(ConfigError) as caught:
        parse_study(small_calibration("jobs", {}, {"now": now}, WAVES))
    assert [(issue.code, issue.place) for issue in caught.value.issues] == [
        ("study.no-effect", "calibrate.figures.now.line")
    ]


def test_an_answer_is_not_measured() -> None:
    document = yaml.safe_load(_write(figures={"now": {"set": {"array.disks": 3}, "line": 1}}))
    document["seek"] = {"maximize": "workload.users", "subject_to": ["response_p95 <= 20ms"]}
    with pytest.raises(ConfigError) as caught:
        parse_study(yaml.safe_dump(document))
    assert ("study.no-effect", "calibrate.measured") in [
        (issue.code, issue.place) for issue in caught.value.issues
    ]
