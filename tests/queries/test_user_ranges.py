"""The users at another speed than the simulated one: a closed form, and simulations at that speed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from small_studies import small_seek, small_study

from destage import sweeps
from destage.queries import open_session
from destage.queries.report.reported_kinds import compose_answer
from destage.queries.report.sentences.model_ranges import Trial, find_users, list_user_ranges, read_trials

THINK, SERVICE = 10.0, 0.005


def respond(users: float, speed: float = 1.0) -> float:
    """Return the mean response time of M/M/1 with the users' rate, whose responses are short."""
    return 1 / (speed / SERVICE - users / THINK)


@given(bound=st.floats(0.01, 0.1), speed=st.floats(0.7, 1.4), seen=st.sampled_from([0.9, 0.99]))
def test_a_queue_at_another_speed(bound: float, speed: float, seen: float) -> None:
    """Exact beyond the loads that were run; between two that are 10 % apart, within 2 %."""
    answer = THINK * (1 / SERVICE - 1 / bound)
    trials = [Trial(users, respond(users), 1.0) for users in (seen * answer, answer, answer * (1 + 1e-3))]
    expected = THINK * (speed / SERVICE - 1 / bound)
    found = find_users(trials, answer, speed, is_time=True)
    # The simulated load has the response of the bound times the speed.
    simulated = expected / speed
    if found is None:
        assert simulated < trials[0].users / 1.99 or simulated > trials[-1].users * 1.99
    else:
        assert found == pytest.approx(expected, rel=2e-2)


def test_a_utilisation_scales_with_the_speed() -> None:
    trials = [Trial(users, users / 2000, 1.0) for users in (100, 500, 1000, 1900)]
    assert find_users(trials, 1400, 0.8, is_time=False) == pytest.approx(0.8 * 1400)


def test_users_who_never_think_are_outstanding_requests() -> None:
    trials = [Trial(users, users * SERVICE, 0.0) for users in (1, 10, 100)]
    assert find_users(trials, 20, 0.5, is_time=True) == pytest.approx(10)


def test_an_end_that_no_run_shows_is_unknown() -> None:
    trials = [Trial(users, respond(users), 1.0) for users in (1000, 1500)]
    assert find_users(trials, 1200, 0.4, is_time=True) is None
    assert find_users(trials, 900, 1.1, is_time=True) is None
    assert find_users([], 1, 1.1, is_time=True) is None


def read_answer(spec: dict[str, Any], folder: Path) -> tuple[float, list[Trial]]:
    study = sweeps.parse_study(json.dumps(spec))
    with open_session(sweeps.run(study, folder, executor="inline").path) as session:
        (answer,) = session.sql("SELECT point_id, users_supported FROM answers").to_pylist()
        return answer["users_supported"], read_trials(session, answer["point_id"], "response_p95_us")


@pytest.mark.parametrize("speed", [0.7, 1.3])
def test_a_simulation_at_that_speed_supports_as_many(speed: float, tmp_path: Path) -> None:
    spec = yaml.safe_load(small_seek("normal", [1], 4096, requests=20_000))
    answer, trials = read_answer(spec, tmp_path)
    disk = spec["scenario"]["array"]["disk"]
    disk["service"]["mean"] = f"{round(5000 / speed)}us"
    other, _ = read_answer({**spec, "name": "other"}, tmp_path)
    found = find_users(trials, answer, speed, is_time=True)
    assert found is not None
    assert found == pytest.approx(other, rel=0.12)
    assert abs(other / answer - 1) > 0.2


def test_the_range_of_an_answer_holds_it(tmp_path: Path) -> None:
    """The class of the array has measured systems that were slower and faster than simulated."""
    spec = yaml.safe_load(small_study("disks", "array.disks: [4]", requests=3000, replicates=2))
    spec["seek"] = {"maximize": "workload.users", "subject_to": ["response_p95 <= 60ms"], "max": 4096}
    sweep = sweeps.run(sweeps.parse_study(json.dumps(spec)), tmp_path, executor="inline").path
    with open_session(sweep) as session:
        (sentence,) = list_user_ranges(session)
        assert sentence in compose_answer(session)
        (answer,) = session.sql("SELECT users_supported AS users FROM answers").to_pylist()
    found = re.search(r": (\d+) to (\d+) users \(simulated: (\d+)\)", sentence)
    assert found is not None
    low, high, simulated = map(float, found.groups())
    assert low < simulated < high
    assert simulated == pytest.approx(answer["users"], abs=0.6)
    fit = {"parameter": "p", "value": 1, "on": "x"}
    for stage in ({"answer": ["Calibrated on our array."]}, {"fitted": [fit]}):
        own = sweeps.parse_study(json.dumps({**spec, "name": "own", **stage}))
        with open_session(sweeps.run(own, tmp_path, executor="inline").path) as session:
            assert list_user_ranges(session) == []
