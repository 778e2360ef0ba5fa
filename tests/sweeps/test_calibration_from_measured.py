"""A calibration made of a study of tests and of what was measured in them."""

import pytest
import yaml

from destage.errors import ConfigError
from destage.measured.line import MeasuredLine
from destage.sweeps import parse_study
from destage.sweeps.calibration.measured_figures import make_calibration
from destage.sweeps.keys.calibrate_settings import Calibration
from destage.sweeps.reading.expansion import expand

TESTS = """
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
points:
- {label: read-d1}
- {label: read-d4, workload.streams.0.arrival.depth: 4}
- {label: read-d16, workload.streams.0.arrival.depth: 16}
"""
PRIORS = ["array.disk.service.mean=log_uniform:1ms,20ms", "array.disks=integer:1,4"]


def _line(workload: str, **figures: float) -> MeasuredLine:
    return MeasuredLine(array_label="ours", workload=workload, tool="fio", source_file="r.json", **figures)  # type: ignore[arg-type]


def test_lines_become_figures_and_other_points_predictions() -> None:
    lines = [
        _line("read-d1", response_mean_us=5123.4),
        _line("read-d4", throughput_iops=390.0),
        _line("x"),
    ]
    made = make_calibration(yaml.safe_load(TESTS), lines, PRIORS)
    study = parse_study(yaml.safe_dump(made, sort_keys=False))
    found = study.adding
    assert isinstance(found, Calibration)
    first, second, third = found.figures.values()
    assert (first.column, first.value, first.tolerance) == ("response_mean_us", 5123.4, pytest.approx(256.17))
    assert (second.column, second.value) == ("throughput_iops", 390)
    assert (third.value, third.column) == (None, "response_mean_us")
    assert found.leading == ("read-d1", "read-d4")
    assert list(found.unknowns) == ["array.disk.service.mean", "array.disks"]
    assert study.replicates.least == 3
    assert expand(study).count > 0


def test_a_figure_has_the_whole_load_of_its_test() -> None:
    """A result says neither the size of the file nor the other streams, which `--on` therefore lacks."""
    tests = yaml.safe_load(TESTS)
    (stream,) = tests["scenario"]["workload"]["streams"]
    streams = [stream | {"address": {"kind": "uniform", "footprint": "1GiB"}}, stream | {"name": "other"}]
    tests["points"] = [{"label": "read-d1", "workload.streams": streams}]
    made = make_calibration(tests, [_line("read-d1", response_mean_us=5.0)], PRIORS)
    assert made["calibrate"]["figures"]["read-d1"]["set"] == {"workload.streams": streams}


@pytest.mark.parametrize("prior", ["array.disks", "array.disks=2,8", "array.disks=between:2,8"])
def test_a_malformed_prior_is_named(prior: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_calibration(yaml.safe_load(TESTS), [_line("read-d1", response_mean_us=1.0)], [prior])
    assert [(one.code, one.place, one.value) for one in caught.value.issues] == [
        ("study.bad-form", "--unknown", prior)
    ]


def test_lines_of_other_tests_are_no_figures() -> None:
    with pytest.raises(ConfigError) as caught:
        make_calibration(yaml.safe_load(TESTS), [_line("read-d2", response_mean_us=1.0)], PRIORS)
    assert [one.code for one in caught.value.issues] == ["study.unknown-name"]
    assert "read-d4" in str(caught.value)
