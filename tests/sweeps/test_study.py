"""Parsing studies: valid studies, and every mistake of an invalid one at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from destage.errors import ConfigError, Issue
from destage.sweeps import Study, load_fields, load_study, parse_study, studies
from destage.sweeps.study.reader import study_schema

MakeStudy = Callable[..., Study]

CAPACITY = "controller.cache.capacity"


def _mistakes(make_study: MakeStudy, **keys: object) -> dict[str, str]:
    """Return the code of each mistake by its place."""
    return {place: issue.code for place, issue in _issues(make_study, **keys).items()}


def _issues(make_study: MakeStudy, **keys: object) -> dict[str, Issue]:
    with pytest.raises(ConfigError) as caught:
        make_study(**keys)
    return {issue.place: issue for issue in caught.value.issues}


@pytest.mark.parametrize(
    ("path", "written", "values"),
    [
        (CAPACITY, ["64MiB", 0, "64MiB"], (64 * 2**20, 0)),
        (CAPACITY, {"range": ["64MiB", "192MiB", "64MiB"]}, (64 * 2**20, 128 * 2**20, 192 * 2**20)),
        (CAPACITY, {"logspace": ["64MiB", "256MiB", 3]}, (64 * 2**20, 128 * 2**20, 256 * 2**20)),
        ("controller.cache.write_fraction", {"linspace": [0, 1, 5]}, (0.0, 0.25, 0.5, 0.75, 1.0)),
        ("controller.cache.write_fraction", {"range": [0, 0.3, 0.1]}, (0.0, 0.1, 0.2, 0.3)),
        ("array.disks", {"range": [4, 9, 2]}, (4, 6, 8)),
        ("array.disks", {"range": [6, 4, -1]}, (6, 5, 4)),
        ("array.raid", ["10", "5"], ("10", "5")),
    ],
)
def test_axes(make_study: MakeStudy, path: str, written: object, values: tuple[object, ...]) -> None:
    assert make_study(axes={path: written}).axes == {path: values}


def test_every_mistake_is_reported_at_once(make_study: MakeStudy) -> None:
    issues = _issues(
        make_study,
        axes={
            "controller.cache.capcity": [0],
            CAPACITY: ["64 elephants"],
            "array.disks": {"range": [4, 2, 1]},
        },
        points=[{"array.rade": "5"}],
        seek={"maximize": "workload.user", "subject_to": ["response_p95 <= 30ms"]},
        budget={"wall": "2 fortnights"},
    )
    assert {place: (issue.code, issue.value) for place, issue in issues.items()} == {
        "axes.controller.cache.capcity": ("study.unknown-key", None),
        f"axes.{CAPACITY}": ("study.bad-quantity", "64 elephants"),
        "axes.array.disks": ("study.bad-axis", {"range": [4, 2, 1]}),
        "points.0.array.rade": ("study.unknown-key", None),
        "seek.maximize": ("study.unknown-name", "workload.user"),
        "budget.wall": ("study.bad-quantity", "2 fortnights"),
    }


@pytest.mark.parametrize(
    ("path", "suggestion"), [("controller.cache.capcity", "capacity"), ("array.rade", "raid")]
)
def test_an_unknown_parameter_suggests_the_nearest(make_study: MakeStudy, path: str, suggestion: str) -> None:
    issue = _issues(make_study, axes={path: [0]})[f"axes.{path}"]
    assert f"did you mean {suggestion!r}?" in issue.message


def test_an_axis_with_too_many_values_is_rejected_early(make_study: MakeStudy) -> None:
    assert _mistakes(
        make_study,
        axes={
            "workload.users": {"range": [1, 100_000_000, 1]},
            "controller.cache.write_fraction": {"linspace": [0, 1, 100_000_000]},
        },
    ) == {
        "axes.workload.users": "study.too-many-values",
        "axes.controller.cache.write_fraction": "study.too-many-values",
    }


def test_the_schema_finds_mistakes_in_the_studys_own_keys(make_study: MakeStudy) -> None:
    seek = {"maximise": "workload.users"}
    assert _mistakes(make_study, ax={}, replicates={"mim": 2}, seek=seek, name="A b") == {
        "ax": "study.unknown-key",
        "name": "study.bad-form",
        "replicates.mim": "study.unknown-key",
        "replicates.min": "study.missing-key",
        "seek.maximise": "study.unknown-key",
        "seek.subject_to": "study.missing-key",
    }


def test_an_axis_has_one_form_with_three_numbers(make_study: MakeStudy) -> None:
    forms = {"range": [1, 2], "linspace": [1, 2, 3, 4]}
    axes = {"array.disks": forms, "workload.users": [], "run.seed": {}}
    assert _mistakes(make_study, axes=axes) == {
        "axes.array.disks": "study.out-of-range",
        "axes.array.disks.range": "study.too-few",
        "axes.array.disks.linspace": "study.out-of-range",
        "axes.workload.users": "study.too-few",
        "axes.run.seed": "study.too-few",
    }


def test_objectives_name_columns_and_carry_units(make_study: MakeStudy) -> None:
    assert _mistakes(
        make_study,
        seek={
            "maximize": "workload.users",
            "subject_to": [
                "respnse_p95 <= 30ms",
                "response_p95 <= 30",
                "response_p95 = 30ms",
                "requests <= many",
                "response_p95 <= 30 parsecs",
            ],
        },
    ) == {
        "seek.subject_to.0": "study.unknown-name",
        "seek.subject_to.1": "study.bad-quantity",
        "seek.subject_to.2": "study.bad-objective",
        "seek.subject_to.3": "study.bad-quantity",
        "seek.subject_to.4": "study.bad-quantity",
    }


def test_charts_name_axes_and_columns_of_the_study(make_study: MakeStudy) -> None:
    assert _mistakes(
        make_study,
        axes={"workload.users": [1, 2], CAPACITY: ["64MiB"]},
        charts=[
            {"title": "A", "x": "workload.user", "y": "response_p95", "by": "controller.cache.capcity"},
            {"title": "A", "x": "workload.users", "y": "users_supported", "by": "label"},
            {"title": "B", "x": "requests", "y": "requests", "where": "usres > 1"},
            {"title": "C", "x": "workload.users", "y": "status", "by": "workload.users", "where": "1; DROP"},
        ],
    ) == {
        "charts.0.x": "study.unknown-name",
        "charts.0.y": "study.unknown-name",
        "charts.0.by": "study.unknown-name",
        "charts.1.title": "study.duplicate-name",
        "charts.1.y": "study.unknown-name",
        "charts.1.by": "study.unknown-name",
        "charts.2.y": "study.repeated-chart-axis",
        "charts.2.where": "study.bad-sql",
        "charts.3.by": "study.repeated-chart-axis",
        "charts.3.y": "study.unknown-name",
        "charts.3.where": "study.bad-sql",
    }


def test_the_schema_finds_mistakes_in_a_charts_keys(make_study: MakeStudy) -> None:
    assert _mistakes(make_study, charts=[{"titel": "A", "x": "label", "y_log": "yes"}]) == {
        "charts.0.titel": "study.unknown-key",
        "charts.0.title": "study.missing-key",
        "charts.0.y": "study.missing-key",
        "charts.0.y_log": "study.wrong-type",
    }


def test_charts_may_name_labels_points_axes_and_answers(make_study: MakeStudy) -> None:
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"]}
    points = [{"label": "six", "array.disks": 6}, {"label": "small", CAPACITY: "64MiB"}]
    entry = {"title": "A", "x": "array.disks", "y": "users_supported", "by": "label"}
    where = "capacity > 1000 AND disks < 9 AND users_supported_low > 3 AND label = 'six'"
    charts = [{**entry, "where": where}, {"title": "B", "x": "users_supported", "y": "response_p95_us"}]
    assert make_study(seek=seek, points=points, charts=charts).document["charts"] == charts
    mistakes = _mistakes(
        make_study, seek=seek, charts=[{**entry, "x": "workload.users", "by": "array.disks"}]
    )
    assert mistakes == {"charts.0.x": "study.unknown-name", "charts.0.by": "study.unknown-name"}


def test_a_seek_is_read(make_study: MakeStudy) -> None:
    objectives = ["response_p95 <= 30ms", "disk_busy_mean < 90%"]
    seek = make_study(seek={"maximize": "workload.users", "subject_to": objectives, "max": 20}).seek
    assert seek is not None
    assert (seek.start, seek.least, seek.most, seek.metric) == (20, 1, 20, "users_supported")
    assert [(one.column, one.bound) for one in seek.objectives] == [
        ("response_p95_us", 30_000.0),
        ("disk_busy_mean_fraction", 0.9),
    ]
    assert seek.objectives[0].is_met(30_000)
    assert not seek.objectives[1].is_met(0.9)


def test_a_labelled_point_may_have_limits_of_its_own(make_study: MakeStudy) -> None:
    seek = {
        "maximize": "workload.users",
        "subject_to": ["response_p95 <= 30ms"],
        "limits": {"busy": ["disk_busy_max <= 0.8"]},
    }
    found = make_study(seek=seek, points=[{"label": "busy", "array.disks": 4}]).seek
    assert found is not None
    columns = [[one.column for one in found.objectives_of(label)] for label in ("busy", "other", None)]
    assert columns == [["disk_busy_max_fraction"], ["response_p95_us"], ["response_p95_us"]]
    seek["limits"] = {"bussy": ["disk_busy_max <= 0.8"], "busy": ["disk_busy <= 0.8"]}
    with pytest.raises(ConfigError) as caught:
        make_study(seek=seek, points=[{"label": "busy", "array.disks": 4}])
    assert {issue.place: issue.code for issue in caught.value.issues} == {
        "seek.limits.bussy": "study.unknown-name",
        "seek.limits.busy.0": "study.unknown-name",
    }


def test_the_sought_parameter_is_an_integer_and_not_an_axis(make_study: MakeStudy) -> None:
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"]}
    axis = _mistakes(make_study, seek=seek, axes={"workload.users": [1, 2]})
    assert axis == {"seek.maximize": "study.axis-is-sought"}
    fraction = {**seek, "maximize": "controller.cache.write_fraction"}
    assert _mistakes(make_study, seek=fraction) == {"seek.maximize": "study.seek-not-integer"}


def test_the_bounds_of_a_search_are_valid_values(make_study: MakeStudy) -> None:
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"], "max": 2_000_000}
    assert _mistakes(make_study, seek=seek) == {"seek.max": "study.out-of-range"}
    disks = {"maximize": "array.disks", "subject_to": ["response_p95 <= 30ms"]}
    bounded = make_study(seek=disks).seek
    assert bounded is not None
    assert bounded.most == 1024


def test_replication_targets_name_results_of_the_study(make_study: MakeStudy) -> None:
    until = {"interval_of": "user_supported", "relative": 0.05}
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"]}
    mistakes = _mistakes(make_study, seek=seek, replicates={"min": 5, "max": 3, "until": until})
    assert mistakes == {
        "replicates.until.interval_of": "study.unknown-name",
        "replicates.min": "study.bounds-reversed",
    }


def test_whole_numbers_may_be_written_as_floats(make_study: MakeStudy) -> None:
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"], "max": 100.0, "start": 8.0}
    study = make_study(seek=seek, replicates=5.0)
    assert study.replicates == make_study(replicates={"min": 5.0, "max": 5.0}).replicates
    assert study.seek is not None
    assert all(isinstance(value, int) for value in (study.seek.start, study.seek.most))
    assert all(isinstance(value, int) for value in (study.replicates.least, study.replicates.most))


def test_the_replicate_is_not_an_axis(make_study: MakeStudy) -> None:
    axes, points = {"run.replicate": [0, 1]}, [{"run.replicate": 1}]
    assert _mistakes(make_study, axes=axes, points=points) == {
        "axes.run.replicate": "study.replicate-axis",
        "points.0.run.replicate": "study.replicate-axis",
    }


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("name: x\nscenario: ]\n", "study.bad-syntax", 2, 11),
        ("name: x\nname: y\n", "study.duplicate-key", 2, 1),
        ("- 1\n", "study.wrong-type", 1, 1),
    ],
)
def test_invalid_yaml_has_a_line_and_a_column(text: str, code: str, line: int, column: int) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_study(text, name="s.yaml")
    (issue,) = caught.value.issues
    assert (issue.code, issue.place, issue.line, issue.column) == (code, "", line, column)
    assert caught.value.source == "s.yaml"


def test_the_id_depends_on_the_scenario_but_not_on_axes(
    make_study: MakeStudy, document: dict[str, object]
) -> None:
    identity = make_study(axes={CAPACITY: [0]}).id
    assert make_study(axes={CAPACITY: [0, "64MiB"]}, replicates=9, question="Why?").id == identity
    assert make_study(scenario={**document["scenario"], "run": {"seed": 2}}).id != identity  # type: ignore[dict-item]
    assert make_study(name="other").id != identity


def test_the_schema_embeds_the_engines() -> None:
    schema = study_schema()
    assert schema["properties"]["scenario"]["properties"].keys() >= {"workload", "controller", "run"}
    assert {"axes", "seek", "replicates"} <= schema["properties"].keys()


def test_a_bundled_study_finds_its_trace_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (arrival,) = (
        stream["arrival"] for stream in load_study("create_drop_trace").scenario["workload"]["streams"]
    )
    assert arrival["digest"]
    assert Path(arrival["file"]).is_file()


def test_studies_load_by_name_and_by_file(tmp_path: Path) -> None:
    assert "call_center" in studies.names()
    study = load_study("call_center")
    assert study.seek is not None
    path = tmp_path / "mine.yaml"
    path.write_text(studies.text("call_center"))
    assert load_study(path).id == study.id
    for load in (studies.load, load_study, load_fields):
        with pytest.raises(ConfigError) as caught:
            load("call_centre")
        assert (caught.value.code, caught.value.place) == ("study.not-found", "call_centre")
        assert (
            "did you mean 'call_center', 'call_center_curve' or 'call_center_calibrated'?"
            in caught.value.message
        )
