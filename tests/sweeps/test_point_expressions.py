"""Conditions and expressions of a study are functions of the point alone."""

from collections.abc import Callable

import pytest

from destage.errors import ConfigError
from destage.sql import find_dependence
from destage.sweeps import Study
from destage.sweeps.reading.expansion import expand

MakeStudy = Callable[..., Study]
DISKS, USERS = "array.disks", "workload.users"


@pytest.mark.parametrize(
    "expression",
    [
        "random() < 0.5",
        "4 + floor(RANDOM() * 2)",
        "CASE WHEN users > 1 THEN hash(uuid()) END",
        "list_transform([users], x -> x + random())[1]",
        "now() < '2030-01-01'",
        "current_timestamp IS NULL",
        "ago(INTERVAL 1 DAY) IS NULL",
        "age(TIMESTAMP '2020-01-01') IS NULL",
        "main.random()",
    ],
)
def test_values_that_change_are_found(expression: str) -> None:
    found = find_dependence(expression)
    assert found is not None
    assert found.is_random


@pytest.mark.parametrize(
    "expression",
    [
        "count(*)",
        "disks = max(disks)",
        "row_number() OVER ()",
        "sum(users) OVER (ORDER BY users)",
        "(SELECT count(*) FROM _rows)",
        "users IN (SELECT 1)",
        "4 + _position",
        "hash(_rows)",
        "hash(COLUMNS(*))",
        "geomean(users)",
    ],
)
def test_other_points_are_found(expression: str) -> None:
    found = find_dependence(expression)
    assert found is not None
    assert not found.is_random


@pytest.mark.parametrize(
    "expression",
    [
        "raid = '5'",
        "CASE WHEN raid = '10' THEN 8 ELSE 5 END",
        "round(users * 2 / 3)",
        "list_sum([users, disks])",
        "coalesce(nullif(users, 1), 3) IN (1, 2)",
        "raid = 'random()'",
        '"array.disks" % 2 = 0',
        "if(",
        "1; SELECT 2",
    ],
)
def test_functions_of_a_row_pass(expression: str) -> None:
    assert find_dependence(expression) is None


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ({"where": "random() < 0.5"}, "where"),
        ({"when": {DISKS: "random() < 0.5"}}, f"when.{DISKS}"),
        ({"derived": {USERS: "disks + floor(random() * 2)"}}, f"derived.{USERS}"),
    ],
)
def test_a_study_refuses_random_points(make_study: MakeStudy, keys: dict[str, object], place: str) -> None:
    with pytest.raises(ConfigError) as raised:
        make_study(axes={DISKS: [2, 4]}, **keys)
    assert [(issue.code, issue.place) for issue in raised.value.issues] == [("study.nondeterministic", place)]


def test_a_search_refuses_a_random_condition(make_study: MakeStudy) -> None:
    with pytest.raises(ConfigError) as raised:
        make_study(
            axes={DISKS: {"integer": [2, 8]}},
            where="random() < 0.5",
            search={"objectives": [{"minimize": DISKS}], "trials": 4},
        )
    assert [issue.code for issue in raised.value.issues] == ["study.nondeterministic"]


def test_row_numbers_are_no_axes(make_study: MakeStudy) -> None:
    for text in ("4 + _position", "4 + _point", "4 + position"):
        with pytest.raises(ConfigError) as raised:
            expand(make_study(axes={USERS: [10, 20]}, derived={DISKS: text}))
        assert [issue.code for issue in raised.value.issues] == ["study.bad-sql"]


def test_an_unknown_name_is_not_answered_with_row_numbers(make_study: MakeStudy) -> None:
    with pytest.raises(ConfigError) as raised:
        expand(make_study(axes={USERS: [10, 20]}, derived={DISKS: "point + 1"}))
    assert '"_' not in raised.value.issues[0].message
