"""Reading studies: what is allowed, and all that is not, at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from destage.errors import ConfigError
from destage.sweeps import Study, load_study, parse_study, studies, study_schema

MakeStudy = Callable[..., Study]

CAPACITY = "controller.cache.capacity"


def _mistakes(make_study: MakeStudy, **keys: object) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        make_study(**keys)
    return {issue.path: issue.message for issue in caught.value.issues}


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


def test_every_mistake_is_reported_at_once_with_place_value_and_what_is_allowed(
    make_study: MakeStudy,
) -> None:
    mistakes = _mistakes(
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
    assert "did you mean 'capacity'?" in mistakes["axes.controller.cache.capcity"]
    assert "elephants" in mistakes[f"axes.{CAPACITY}"]
    assert "step" in mistakes["axes.array.disks"]
    assert "did you mean 'raid'?" in mistakes["points.0.array.rade"]
    assert "did you mean 'users'?" in mistakes["seek.maximize"]
    assert "fortnights" in mistakes["budget.wall"]


def test_an_axis_of_a_hundred_million_values_is_refused_before_it_is_made(make_study: MakeStudy) -> None:
    mistakes = _mistakes(
        make_study,
        axes={
            "workload.users": {"range": [1, 100_000_000, 1]},
            "controller.cache.write_fraction": {"linspace": [0, 1, 100_000_000]},
        },
    )
    assert "100,000,000 values; at most 100,000" in mistakes["axes.workload.users"]
    assert "at most 100,000" in mistakes["axes.controller.cache.write_fraction"]


def test_mistakes_in_the_studys_own_keys(make_study: MakeStudy) -> None:
    seek = {"maximise": "workload.users"}
    mistakes = _mistakes(make_study, ax={}, replicates={"mim": 2}, seek=seek, name="A b")
    assert set(mistakes) == {
        "ax",
        "name",
        "replicates.mim",
        "replicates.min",
        "seek.maximise",
        "seek.maximize",
        "seek.subject_to",
    }
    assert "did you mean 'maximize'?" in mistakes["seek.maximise"]


def test_objectives_name_columns_and_carry_units(make_study: MakeStudy) -> None:
    mistakes = _mistakes(
        make_study,
        seek={
            "maximize": "workload.users",
            "subject_to": [
                "respnse_p95 <= 30ms",
                "response_p95 <= 30",
                "response_p95 = 30ms",
                "requests <= many",
            ],
        },
    )
    assert "did you mean 'response_p95'?" in mistakes["seek.subject_to.0"]
    assert "wants a unit" in mistakes["seek.subject_to.1"]
    assert "reads like" in mistakes["seek.subject_to.2"]
    assert "not a number" in mistakes["seek.subject_to.3"]


def test_charts_name_axes_and_columns_of_the_study(make_study: MakeStudy) -> None:
    mistakes = _mistakes(
        make_study,
        axes={"workload.users": [1, 2], CAPACITY: ["64MiB"]},
        charts=[
            {"title": "A", "x": "workload.user", "y": "response_p95", "by": "controller.cache.capcity"},
            {"title": "A", "x": "workload.users", "y": "users_supported", "by": "label"},
            {"title": "B", "x": "requests", "y": "requests", "where": "usres > 1"},
            {"title": "C", "x": "workload.users", "y": "status", "by": "workload.users", "where": "1; DROP"},
        ],
    )
    assert "did you mean 'workload.users'?" in mistakes["charts.0.x"]
    assert "did you mean 'response_p95_us'?" in mistakes["charts.0.y"]
    assert f"did you mean '{CAPACITY}'?" in mistakes["charts.0.by"]
    assert mistakes["charts.1.title"] == "is the title of an earlier chart"
    assert "this study seeks nothing" in mistakes["charts.1.y"]
    assert mistakes["charts.1.by"] == "no point of this study has a label"
    assert mistakes["charts.2.y"] == mistakes["charts.3.by"] == "is the chart's x already"
    assert "usres" in mistakes["charts.2.where"]
    assert "no result column with a number" in mistakes["charts.3.y"]
    assert "charts.3.where" in mistakes


def test_a_charts_own_keys_are_checked_by_the_schema(make_study: MakeStudy) -> None:
    mistakes = _mistakes(make_study, charts=[{"titel": "A", "x": "label", "y_log": "yes"}])
    assert set(mistakes) == {"charts.0.titel", "charts.0.title", "charts.0.y", "charts.0.y_log"}


def test_a_chart_may_name_what_only_explicit_points_set_and_what_is_sought(make_study: MakeStudy) -> None:
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"]}
    points = [{"label": "six", "array.disks": 6}, {"label": "small", CAPACITY: "64MiB"}]
    entry = {"title": "A", "x": "array.disks", "y": "users_supported", "by": "label"}
    where = "capacity > 1000 AND disks < 9 AND users_supported_low > 3 AND label = 'six'"
    charts = [{**entry, "where": where}, {"title": "B", "x": "users_supported", "y": "response_p95_us"}]
    assert make_study(seek=seek, points=points, charts=charts).document["charts"] == charts
    mistakes = _mistakes(
        make_study, seek=seek, charts=[{**entry, "x": "workload.users", "by": "array.disks"}]
    )
    assert "its answers are called users_supported" in mistakes["charts.0.x"]
    assert "no axis of this study" in mistakes["charts.0.by"]


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


def test_what_is_sought_must_be_a_whole_number_and_no_axis(make_study: MakeStudy) -> None:
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"]}
    assert "axis" in _mistakes(make_study, seek=seek, axes={"workload.users": [1, 2]})["seek.maximize"]
    fraction = {**seek, "maximize": "controller.cache.write_fraction"}
    assert "whole numbers" in _mistakes(make_study, seek=fraction)["seek.maximize"]


def test_bounds_of_a_search_are_values_the_parameter_may_have(make_study: MakeStudy) -> None:
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"], "max": 2_000_000}
    assert "at most 1000000" in _mistakes(make_study, seek=seek)["seek.max"]
    disks = {"maximize": "array.disks", "subject_to": ["response_p95 <= 30ms"]}
    bounded = make_study(seek=disks).seek
    assert bounded is not None
    assert bounded.most == 1024


def test_targets_name_what_the_study_measures(make_study: MakeStudy) -> None:
    until = {"interval_of": "user_supported", "relative": 0.05}
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"]}
    mistakes = _mistakes(make_study, seek=seek, replicates={"min": 5, "max": 3, "until": until})
    assert "did you mean 'users_supported'?" in mistakes["replicates.until.interval_of"]
    assert "not be above" in mistakes["replicates.min"]


def test_whole_numbers_may_be_written_with_a_point(make_study: MakeStudy) -> None:
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"], "max": 100.0, "start": 8.0}
    study = make_study(seek=seek, replicates=5.0)
    assert study.replicates == make_study(replicates={"min": 5.0, "max": 5.0}).replicates
    assert study.seek is not None
    assert all(isinstance(value, int) for value in (study.seek.start, study.seek.most))
    assert all(isinstance(value, int) for value in (study.replicates.least, study.replicates.most))


def test_the_replicate_is_no_axis(make_study: MakeStudy) -> None:
    assert "replicates" in _mistakes(make_study, axes={"run.replicate": [0, 1]})["axes.run.replicate"]
    assert "replicates" in _mistakes(make_study, points=[{"run.replicate": 1}])["points.0.run.replicate"]


def test_yaml_that_is_none_names_line_and_column() -> None:
    with pytest.raises(ConfigError, match=r"s\.yaml:2:11: not YAML"):
        parse_study("name: x\nscenario: ]\n", name="s.yaml")
    with pytest.raises(ConfigError, match=r"s\.yaml:2:1: not YAML: the key 'name' is written twice"):
        parse_study("name: x\nname: y\n", name="s.yaml")
    with pytest.raises(ConfigError, match="table of fields"):
        parse_study("- 1\n", name="s.yaml")


def test_the_id_stays_when_axes_or_replicates_are_added_and_changes_with_the_scenario(
    make_study: MakeStudy, document: dict[str, object]
) -> None:
    identity = make_study(axes={CAPACITY: [0]}).id
    assert make_study(axes={CAPACITY: [0, "64MiB"]}, replicates=9, question="Why?").id == identity
    assert make_study(scenario={**document["scenario"], "run": {"seed": 2}}).id != identity  # type: ignore[dict-item]
    assert make_study(name="other").id != identity


def test_the_schema_embeds_the_engines_and_knows_the_units() -> None:
    schema = study_schema()
    assert schema["properties"]["scenario"]["properties"].keys() >= {"workload", "controller", "run"}
    assert {"axes", "seek", "replicates"} <= schema["properties"].keys()


def test_a_bundled_study_finds_its_trace_wherever_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (arrival,) = (
        stream["arrival"] for stream in load_study("create_drop_trace").scenario["workload"]["streams"]
    )
    assert arrival["digest"]
    assert Path(arrival["file"]).is_file()


def test_bundled_studies_are_read(tmp_path: Path) -> None:
    assert "call_center" in studies.names()
    study = load_study("call_center")
    assert study.seek is not None
    path = tmp_path / "mine.yaml"
    path.write_text(studies.text("call_center"))
    assert load_study(path).id == study.id
    with pytest.raises(ConfigError, match="did you mean 'call_center'"):
        studies.load("call_centre")
    with pytest.raises(ConfigError, match="neither a file nor a bundled study"):
        load_study("call_centre.yaml")
