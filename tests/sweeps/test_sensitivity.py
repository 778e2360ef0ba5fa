"""The sensitivity tables that a sweep writes when it ends, and the same computed from its rows."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_studies import small_seek

from destage import sweeps
from destage.errors import ConfigError
from destage.queries import open_session
from destage.sensitivity.analysis import DISTRIBUTIONS
from destage.store import open_sweep
from destage.store.files.digests import find_digest
from destage.store.files.layout import SweepLayout
from destage.store.state.head import read_head
from destage.sweeps import Study
from destage.sweeps.execution.analyses import analyse_sweep
from destage.sweeps.space.distributions import SCHEMAS

MakeStudy = Callable[..., Study]
AXES = {"array.disks": [1, 2], "workload.users": [5, 10, 15]}


def test_a_study_that_asks_for_it_has_its_table(make_study: MakeStudy, tmp_path: Path) -> None:
    study = make_study(axes=AXES, sensitivity={"of": ["response_p95", "throughput_iops"]})
    path = sweeps.run(study, tmp_path, executor="inline", workers=1).path
    stored = open_sweep(path).analyses()
    assert set(stored) == {"sensitivity", "interactions"}
    assert stored["sensitivity"]["metric"].unique().to_pylist() == ["response_p95_us", "throughput_iops"]
    computed = analyse_sweep(open_sweep(path), ["response_p95_us", "throughput_iops"])
    assert computed["sensitivity"].equals(stored["sensitivity"])
    with open_session(path) as session:
        rows = session.query("sensitivity").to_pylist()
        (statement,) = session.split("SELECT axis FROM sensitivity JOIN axes ON axes.path = axis")
        assert session.run(statement).num_rows == len(rows) == 4
    by_axis = {row["axis"]: row for row in rows if row["metric"] == "throughput_iops"}
    # A closed load that two disks serve about as one: its throughput is that of its users.
    assert by_axis["workload.users"]["first_order"] > 0.8


def test_a_sweep_without_the_key_has_no_table(make_study: MakeStudy, tmp_path: Path) -> None:
    path = sweeps.run(make_study(axes=AXES), tmp_path, executor="inline", workers=1).path
    assert open_sweep(path).analyses() == {}
    computed = analyse_sweep(open_sweep(path), ["response_p95_us"])["sensitivity"]
    assert computed["method"].unique().to_pylist() == ["factorial"]


@pytest.mark.parametrize(
    ("design", "method"),
    [
        ({"method": "saltelli", "points": 8}, "saltelli"),
        ({"method": "morris", "trajectories": 4}, "morris"),
    ],
)
def test_a_design_for_sensitivity_needs_no_key(
    make_study: MakeStudy, tmp_path: Path, design: dict[str, object], method: str
) -> None:
    axes = {"array.disks": {"integer": [1, 4]}, "workload.users": {"integer": [2, 20]}}
    study = make_study(axes=axes, design=design)
    path = sweeps.run(study, tmp_path, executor="inline", workers=1).path
    stored = open_sweep(path).analyses()["sensitivity"]
    assert stored["method"].unique().to_pylist() == [method]
    assert analyse_sweep(open_sweep(path), ["response_p95_us"])["sensitivity"].equals(stored)


def test_unknown_results_are_mistakes(make_study: MakeStudy) -> None:
    with pytest.raises(ConfigError) as caught:
        make_study(axes=AXES, sensitivity={"of": ["response_p95", "users_supported", "response_p59"]})
    assert [(issue.code, issue.place) for issue in caught.value.issues] == [
        ("study.unknown-name", "sensitivity.of.1"),
        ("study.unknown-name", "sensitivity.of.2"),
    ]


def _run(store: Path, study: Path, **environment: str) -> int:
    program = "import sys; from destage.cli import app; app(sys.argv[1:])"
    options = ["--executor", "inline", "--workers", "1", "--store", str(store), "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", program, "run", str(study), *options],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    return done.returncode


@pytest.mark.parametrize("point", ["before_rename:3", pytest.param("mid_head:3", marks=pytest.mark.chaos)])
def test_killed_and_resumed_it_has_the_same_bytes(tmp_path: Path, point: str) -> None:
    study = tmp_path / "seek.yaml"
    text = small_seek("sought", [1, 2], 150, requests=300)
    study.write_text(text + "sensitivity: {of: [users_supported, response_p95]}\n")
    assert _run(tmp_path / "whole", study) == 0
    assert _run(tmp_path / "killed", study, DESTAGE_FAIL_POINT=point) == -signal.SIGKILL
    assert _run(tmp_path / "killed", study) == 0
    digests = []
    for store in ("whole", "killed"):
        (sweep,) = (tmp_path / store / "sweeps").iterdir()
        head = read_head(SweepLayout(sweep))
        assert head is not None
        digests.append({name: find_digest(file) for name, file in head.analyses.items()})
        rows = open_sweep(sweep).analyses()["sensitivity"].to_pylist()
        assert {row["metric"]: row["first_order"] for row in rows}["users_supported"] == pytest.approx(1)
    assert digests[0] == digests[1]


def test_the_forms_of_sampled_axes_are_those_of_studies() -> None:
    assert set(SCHEMAS) == DISTRIBUTIONS


def test_derived_and_zipped_parameters_have_no_row_of_their_own(
    make_study: MakeStudy, tmp_path: Path
) -> None:
    study = make_study(
        axes={"workload.users": [5, 10]},
        zip=[{"array.disks": [1, 2], "array.stripe_unit": ["64KiB", "128KiB"]}],
        derived={"workload.streams.0.arrival.ios": "users"},
        sensitivity={"of": ["response_p95"]},
    )
    path = sweeps.run(study, tmp_path, executor="inline", workers=1).path
    rows = open_sweep(path).analyses()["sensitivity"].to_pylist()
    assert {row["axis"] for row in rows} == {"workload.users", "array.disks"}
    assert {row["method"] for row in rows} == {"factorial"}
