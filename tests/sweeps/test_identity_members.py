"""The engine's canonical text and ids of points are those of Python's `json`, as the first were."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.plain_identities import canonical_text, point_id

from destage import engine
from destage.sweeps.points.point_blocks import AssignedValues

NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = NUMBERS | st.booleans() | st.none() | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner))


@given(VALUES)
def test_canonical_text_is_that_of_json(value: object) -> None:
    assert engine.canonical_text(value) == canonical_text(value)


@given(st.lists(st.dictionaries(st.text(), VALUES | st.integers(), max_size=4), min_size=1, max_size=4))
def test_a_point_id_digests_what_it_assigns(points: list[dict[str, object]]) -> None:
    found = AssignedValues.from_points(points).identify().to_pylist()
    assert found == [point_id(point) for point in points]


def test_values_that_no_point_has_are_left_out() -> None:
    values = {"a": list(range(100)), "b": [0.5]}
    codes = {"a": np.array([99, -1, 7]), "b": np.array([0, 0, -1])}
    found = AssignedValues(values, codes, np.arange(3)).identify().to_pylist()
    assert found == [point_id(point) for point in ({"a": 99, "b": 0.5}, {"b": 0.5}, {"a": 7})]


@given(st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_number_is_its_representation(value: float) -> None:
    assert repr(value) == json.dumps(value)
