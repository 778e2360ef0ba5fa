"""Studies that seek the smallest value: plans, answers, prices, and mistakes."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from priced_study import CHEAPEST, PRICES

from destage import sweeps
from destage.errors import ConfigError
from destage.queries import open_session
from destage.store.opened.sweep import open_sweep
from destage.store.state.answers import complete_answers
from destage.sweeps.reading.expansion import expand

SERVER = {
    "kind": "server",
    "servers": 1,
    "service": {"kind": "exponential", "mean": "5ms"},
    "capacity": "10GB",
}
STREAM = {
    "name": "load",
    "arrival": {"kind": "poisson", "rate": 900.0},
    "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": "4KiB"}},
    "address": {"kind": "uniform", "footprint": "1GB"},
}
STUDY: dict[str, Any] = {
    "name": "fewest",
    "scenario": {
        "workload": {"streams": [STREAM]},
        "array": {"raid": "0", "disk": SERVER},
        "run": {"warm_up": {"requests": 1_000}, "window": {"requests": 4_000}},
    },
    "seek": {"minimize": "array.disks", "subject_to": ["disk_busy_mean <= 0.75"], "min": 2, "max": 16},
    "replicates": {"min": 3, "max": 8},
}


def make(study: dict[str, Any], **fields: Any) -> sweeps.Study:
    """Return a study with other fields."""
    return sweeps.parse_study(yaml.safe_dump(study | fields))


def run(study: sweeps.Study, store: Path) -> list[dict[str, Any]]:
    """Run a study and return its answers."""
    outcome = sweeps.run(study, store, executor="inline", workers=1)
    assert outcome.state == "finished"
    return open_sweep(outcome.path).answers().to_pylist()


def mistakes(study: dict[str, Any], **fields: Any) -> set[tuple[str, str]]:
    """Return code and place of each mistake of a study."""
    with pytest.raises(ConfigError) as caught:
        make(study, **fields)
    return {(issue.code, issue.place) for issue in caught.value.issues}


def test_the_fewest_servers_are_those_of_the_utilisation_law(tmp_path: Path) -> None:
    """900 requests/s of 5 ms each keep 4.5 servers busy: 6 are busy for 75 %, up to noise; 7 for 64 %."""
    (answer,) = run(make(STUDY), tmp_path)
    assert answer["metric"] == "disks_needed"
    assert answer["answer_mean"] == answer["passing"] == 7
    assert answer["failing"] == 6
    assert answer["censored"] is None
    assert answer["binding"] == "disk_busy_mean <= 0.75"


def test_sql_has_the_answer_under_its_name(tmp_path: Path) -> None:
    outcome = sweeps.run(make(STUDY), tmp_path, executor="inline", workers=1)
    with open_session(outcome.path) as session:
        (statement,) = session.split("SELECT disks_needed, passing FROM answers")
        assert session.run(statement).to_pylist() == [{"disks_needed": 7.0, "passing": 7}]


def test_only_valid_values_are_tried(tmp_path: Path) -> None:
    """RAID 1+0 takes pairs: 7 disks are not possible, nor is the largest value considered."""
    scenario = STUDY["scenario"] | {"array": {"raid": "10", "disk": SERVER}}
    seek = STUDY["seek"] | {"max": 15}
    (answer,) = run(make(STUDY, scenario=scenario, seek=seek), tmp_path)
    assert (answer["passing"], answer["failing"]) == (8, 6)


def test_none_are_enough(tmp_path: Path) -> None:
    (answer,) = run(make(STUDY, seek=STUDY["seek"] | {"max": 4}), tmp_path)
    assert (answer["censored"], answer["answer_mean"], answer["failing"]) == ("above", 4.0, 4)


def test_a_value_near_its_bound_is_undecided(tmp_path: Path) -> None:
    """Two SSDs take about 1,133 us, 1 us less than allowed and less than they scatter: 4 are the answer."""
    seek = CHEAPEST["seek"] | {"subject_to": ["response_p95 <= 1.1345ms"]}
    axes = {"array.disk.use": ["s4500_1920gb"]}
    (answer,) = run(make(CHEAPEST, seek=seek, axes=axes, replicates={"min": 1, "max": 8}), tmp_path)
    assert (answer["passing"], answer["failing"], answer["failing_verdict"]) == (4, 2, "undecided")
    assert answer["answer_half_width"] is None


def test_an_objective_that_no_run_measures_is_named(tmp_path: Path) -> None:
    seek = CHEAPEST["seek"] | {"subject_to": ["response_p95 <= 30ms", "commit_p95 <= 10ms"]}
    outcome = sweeps.run(make(CHEAPEST, seek=seek), tmp_path, executor="inline", workers=1)
    answers = open_sweep(outcome.path).answers().to_pylist()
    assert {(row["failing_verdict"], row["binding"]) for row in answers} == {
        ("not_measured", "commit_p95 <= 10ms")
    }
    assert {row["censored"] for row in answers} == {None}
    assert outcome.state == "unanswered"
    assert all("commit_p95 <= 10ms" in issue.message for issue in outcome.messages)
    # Every point ends with its first value.
    assert outcome.runs == 9


def test_answers_of_an_earlier_version_have_every_column(tmp_path: Path) -> None:
    outcome = sweeps.run(make(STUDY), tmp_path, executor="inline", workers=1)
    answers = open_sweep(outcome.path).answers()
    older = answers.drop_columns(["failing_verdict"])
    assert set(complete_answers(older, []).column_names) == set(answers.column_names)


def test_users_are_not_sought_where_they_change_nothing() -> None:
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"], "max": 64}
    scenario = STUDY["scenario"] | {"array": {"raid": "0", "disk": SERVER, "disks": 7}}
    study = make(STUDY, seek=seek, scenario=scenario)
    with pytest.raises(ConfigError) as caught:
        expand(study)
    (issue,) = caught.value.issues
    assert (issue.code, issue.place) == ("study.no-effect", "seek.maximize")
    per_user = STREAM | {"arrival": STREAM["arrival"] | {"per_user": True}}
    scenario |= {"workload": {"streams": [per_user]}}
    assert len(expand(make(STUDY, seek=seek, scenario=scenario)).points) == 1


def test_the_cheapest_point_is_found_and_the_others_are_more_expensive(tmp_path: Path) -> None:
    """Two SSDs carry the load for 700, and two others for 2,100; nearline disks do not with two for 900."""
    answers = {row["array.disk.use"]: row for row in run(make(CHEAPEST), tmp_path)}
    assert (answers["dc600m_960gb"]["passing"], answers["dc600m_960gb"]["price"]) == (2, 700.0)
    assert (answers["s4500_1920gb"]["censored"], answers["s4500_1920gb"]["price"]) == (None, 2100.0)
    nearline = answers["exos_x18"]
    assert (nearline["censored"], nearline["price"], nearline["failing"]) == ("more_expensive", None, 2)


@pytest.mark.parametrize("rate", [60, 400])
def test_a_search_by_price_finds_what_a_full_one_finds(tmp_path: Path, rate: int) -> None:
    """A full one searches every family to its end, with all replicates of every value."""
    stream = STREAM | {"arrival": {"kind": "poisson", "rate": float(rate)}}
    stream |= {"operations": STREAM["operations"] | {"read_fraction": 0.5}}
    scenario = CHEAPEST["scenario"] | {"workload": {"streams": [stream]}}
    axes = CHEAPEST["axes"] | {"array.raid": ["10", "5"]}
    prices = PRICES | {"disks": {"exos_x18": 100, "dc600m_960gb": 450, "s4500_1920gb": 900}}
    objectives = ["response_p95 <= 30ms", "disk_busy_max <= 0.9"]
    full = {"minimize": "array.disks", "subject_to": objectives, "min": 2, "max": 10}
    found = []
    for name, seek in (("full", full), ("by-price", full | {"cheapest": 2})):
        study = make(CHEAPEST, name=name, scenario=scenario, axes=axes, prices=prices, seek=seek)
        outcome = sweeps.run(study, tmp_path / name, executor="inline", workers=1)
        answers = open_sweep(outcome.path).answers().to_pylist()
        ranked = sorted(
            (row["price"], row["array.disk.use"], row["array.raid"], row["passing"])
            for row in answers
            if row["price"] is not None
        )
        found.append(ranked[:2])
    assert len(found[0]) == 2
    assert found[0] == found[1]


def test_a_price_includes_shelves(tmp_path: Path) -> None:
    prices = PRICES | {"shelf": {"disks": 8, "price": 50}}
    answers = {row["array.disk.use"]: row for row in run(make(CHEAPEST, prices=prices), tmp_path)}
    assert answers["dc600m_960gb"]["price"] == 750.0


def test_a_resumed_search_has_the_same_plan(tmp_path: Path) -> None:
    first = sweeps.run(make(CHEAPEST), tmp_path, executor="inline", workers=1)
    again = sweeps.run(make(CHEAPEST), tmp_path, executor="inline", workers=2)
    assert (again.executed, again.runs) == (0, first.runs)


def test_mistakes_of_a_search_for_the_smallest_value() -> None:
    both = STUDY["seek"] | {"maximize": "workload.users"}
    assert mistakes(STUDY, seek=both) == {("study.one-of", "seek")}
    neither = {"subject_to": ["response_p95 <= 30ms"]}
    assert mistakes(STUDY, seek=neither) == {("study.one-of", "seek")}
    largest = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"], "step": 2, "cheapest": 1}
    assert mistakes(STUDY, seek=largest) >= {
        ("study.unknown-key", "seek.step"),
        ("study.unknown-key", "seek.cheapest"),
    }
    many = {"minimize": "controller.cache.capacity", "subject_to": ["response_p95 <= 30ms"], "max": 2**30}
    assert mistakes(STUDY, seek=many) == {("study.too-many-values", "seek.step")}
    assert mistakes(STUDY, replicates=1) == {("study.out-of-range", "replicates")}
    assert mistakes(STUDY, seek=STUDY["seek"] | {"cheapest": 2}) == {("study.missing-key", "prices")}


def test_every_part_needs_a_price() -> None:
    prices = PRICES | {"controllers": {}, "disks": {"exos_x18": 300}}
    assert mistakes(CHEAPEST, prices=prices) == {
        ("study.no-price", "prices.controllers"),
        ("study.no-price", "prices.disks"),
    }
    unnamed = CHEAPEST["scenario"] | {"controller": {}}
    assert mistakes(CHEAPEST, scenario=unnamed) == {("study.no-price", "scenario.controller.use")}
