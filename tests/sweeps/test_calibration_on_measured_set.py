"""A calibration whose figures have the values of a measured set of the store."""

from pathlib import Path

import pytest
import yaml

from destage import sweeps
from destage.errors import ConfigError
from destage.measured.line import MeasuredLine
from destage.measured.sets import delete_set, write_set
from destage.store import open_sweep
from destage.sweeps import parse_study

STUDY = """
name: jobs
scenario:
  workload:
    streams:
    - name: job
      arrival: {kind: fixed_outstanding, depth: 1}
      operations: {read_fraction: 1, size: {kind: constant, value: 8KiB}}
      address: {kind: uniform}
  controller: {cache: {capacity: 0B}}
  array:
    raid: "0"
    disks: 2
    disk: {kind: server, servers: 1, service: {kind: exponential, mean: 5ms}, capacity: 10GB}
  run: {warm_up: {requests: 100}, window: {requests: 500}}
replicates: 2
calibrate:
  measured: ours
  unknowns:
    array.disk.service.mean: {log_uniform: [1ms, 20ms]}
  figures:
    read-d1: {set: {workload.streams.0.arrival.depth: 1}}
    read-d4: {set: {workload.streams.0.arrival.depth: 4}, of: throughput_iops, line: 3, tolerance: 2%}
    read-d16: {set: {workload.streams.0.arrival.depth: 16}, of: response_mean}
  waves: {points: 8, most: 1}
"""


def _line(workload: str, **figures: float) -> MeasuredLine:
    return MeasuredLine(array_label="ours", workload=workload, tool="fio", source_file="r.json", **figures)  # type: ignore[arg-type]


LINES = [
    _line("read-d1", response_mean_us=5123.4, throughput_iops=195.0),
    _line("other", response_mean_us=1.0),
    _line("other", throughput_iops=390.0),
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write_set(tmp_path, "ours", LINES)
    return tmp_path


def _parse(**changes: object) -> sweeps.Study:
    """Return the study with other fields of its calibration."""
    document = yaml.safe_load(STUDY)
    document["calibrate"] |= changes
    return parse_study(yaml.safe_dump(document, sort_keys=False))


def _find_issues(study: sweeps.Study, store: Path) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        sweeps.plan(study, store)
    return [(issue.code, issue.place) for issue in caught.value.issues]


def test_values_come_from_the_lines_of_the_set(store: Path) -> None:
    outcome = sweeps.run(parse_study(STUDY), store, executor="inline", workers=2)
    predictive = {row["figure"]: row for row in open_sweep(outcome.path).analyses()["predictive"].to_pylist()}
    found = {name: (row["of"], row["published"], row["is_fitted"]) for name, row in predictive.items()}
    assert found == {
        "read-d1": ("response_mean", 5123.4, True),
        "read-d4": ("throughput_iops", 390.0, True),
        "read-d16": ("response_mean", None, False),
    }


def test_the_sweep_keeps_the_values_it_was_fitted_on(store: Path) -> None:
    """A set that is deleted or replaced later does not change a sweep that is resumed."""
    first = sweeps.run(parse_study(STUDY), store, executor="inline", workers=2)
    before = open_sweep(first.path).analyses()
    delete_set(store, "ours")
    again = sweeps.resume(first.path, executor="inline", workers=2)
    assert (again.executed, again.path) == (0, first.path)
    assert {name: repr(table) for name, table in open_sweep(again.path).analyses().items()} == {
        name: repr(table) for name, table in before.items()
    }


def test_a_stated_tolerance_and_value_win(store: Path) -> None:
    from destage.sweeps.calibration.measured_figures import bind_figures

    figures = yaml.safe_load(STUDY)["calibrate"]["figures"]
    figures["read-d1"] |= {"of": "response_mean", "value": "6ms", "tolerance": "10%"}
    bound = bind_figures(_parse(figures=figures), store).calibration
    assert bound is not None
    found = {name: (figure.value, figure.tolerance) for name, figure in bound.figures.items()}
    assert found == {"read-d1": (6000, 600), "read-d4": (390, pytest.approx(7.8)), "read-d16": (None, 0)}


@pytest.mark.parametrize(
    ("name", "figure", "issue"),
    [
        ("read-d1", {"line": "read-d2"}, ("study.unknown-name", "calibrate.figures.read-d1.line")),
        ("read-d1", {"line": 4}, ("study.unknown-name", "calibrate.figures.read-d1.line")),
        ("read-d1", {"line": "other"}, ("study.ambiguous-line", "calibrate.figures.read-d1.line")),
        ("read-d1", {"of": "response_p99"}, ("study.no-measured-value", "calibrate.figures.read-d1.of")),
    ],
)
def test_a_line_that_does_not_fit_is_named(
    store: Path, name: str, figure: dict[str, object], issue: tuple[str, str]
) -> None:
    figures = yaml.safe_load(STUDY)["calibrate"]["figures"]
    figures[name] |= figure
    assert _find_issues(_parse(figures=figures), store) == [issue]


def test_an_unknown_set_is_named_with_its_place(store: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        sweeps.plan(_parse(measured="our"), store)
    (issue,) = caught.value.issues
    assert (issue.code, issue.place) == ("store.unknown-measured-set", "calibrate.measured")
    assert "did you mean 'ours'" in issue.message


def test_a_fitted_figure_needs_a_line(store: Path) -> None:
    assert _find_issues(_parse(fits={"all": ["read-d1", "read-d16"]}), store) == [
        ("study.missing-key", "calibrate.figures.read-d16")
    ]


def test_a_set_without_any_line_of_a_figure_is_named(tmp_path: Path) -> None:
    write_set(tmp_path, "ours", [_line("write-d1", response_mean_us=1.0)])
    figures = {"read-d1": {"set": {"workload.streams.0.arrival.depth": 1}}}
    assert _find_issues(_parse(figures=figures), tmp_path) == [("study.unknown-name", "calibrate.measured")]


def test_a_line_without_a_set_has_no_effect() -> None:
    document = yaml.safe_load(STUDY)
    del document["calibrate"]["measured"]
    for figure in document["calibrate"]["figures"].values():
        figure |= {"of": "response_mean", "value": "5ms", "tolerance": "5%"}
    with pytest.raises(ConfigError) as caught:
        parse_study(yaml.safe_dump(document))
    assert [(issue.code, issue.place) for issue in caught.value.issues] == [
        ("study.no-effect", "calibrate.figures.read-d4.line")
    ]


def test_an_answer_is_not_measured() -> None:
    document = yaml.safe_load(STUDY)
    document["seek"] = {"maximize": "workload.users", "subject_to": ["response_p95 <= 20ms"]}
    document["calibrate"]["figures"] = {"now": {"set": {"array.disks": 3}, "line": 1}}
    with pytest.raises(ConfigError) as caught:
        parse_study(yaml.safe_dump(document))
    assert ("study.no-effect", "calibrate.measured") in [
        (issue.code, issue.place) for issue in caught.value.issues
    ]
