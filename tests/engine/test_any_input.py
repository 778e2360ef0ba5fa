"""Validation accepts a document or lists its mistakes, and accepted documents are configurations."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from destage.engine import canonical_json, normalise, validate
from destage.errors import ConfigError

SOUND: dict[str, Any] = {
    "workload": {
        "use": "call_center",
        "users": 3,
        "streams": [
            {
                "name": "orders",
                "arrival": {"kind": "closed", "think_time": {"kind": "exponential", "mean": "10s"}, "ios": 5},
                "operations": {"read_fraction": "30%", "size": {"kind": "constant", "value": "8KiB"}},
                "address": {"kind": "zipf", "exponent": 0.9, "footprint": "1GB"},
            },
            {"name": "replay", "arrival": {"kind": "trace", "file": "a.parquet", "mode": "open"}},
        ],
    },
    "controller": {"use": "smart_array_5i_plus", "cache": {"write": {"high_water": 0.7}}},
    "array": {"raid": "5", "disks": 4, "disk": {"use": "u320_10k_36gb", "queue": {"policy": "fcfs"}}},
    "run": {"warm_up": {"duration": "60s"}, "window": "auto"},
}
WORDS = st.sampled_from(
    ["kind", "use", "name", "auto", "present", "8KiB", "-1s", "5", "", "closed", "nan", "é"]
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Yield the paths of all values in a document."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in below for place in places(item, (*path, key)))]


@st.composite
def mutated_documents(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a valid configuration with a few values replaced, removed or added."""
    document = copy.deepcopy(SOUND)
    for _ in range(draw(st.integers(1, 4))):
        *holder, last = draw(st.sampled_from(places(document)[1:]))
        place: Any = document
        for step in holder:
            place = place[step]
        match draw(st.sampled_from(["replace", "remove", "add"])):
            case "remove":
                del place[last]
            case "add" if isinstance(place, dict):
                place[draw(WORDS)] = draw(ODD)
            case _:
                place[last] = draw(ODD)
        if not places(document)[1:]:
            break
    return document


@settings(max_examples=200)
@given(mutated_documents())
def test_a_document_is_accepted_or_its_mistakes_are_listed(document: dict[str, Any]) -> None:
    before = repr(document)
    issues = validate(document)
    assert repr(document) == before
    if issues:
        for issue in issues:
            assert issue.message
            assert "is not valid under any" not in issue.message
            assert "\n" not in str(issue)
        try:
            normalise(document)
        except ConfigError as error:
            assert error.issues == tuple(issues)  # noqa: PT017 - the error is the expected case
        else:
            raise AssertionError(issues)
    else:
        canonical = normalise(document)
        assert normalise(canonical) == canonical
        assert canonical_json(canonical) == canonical_json(document)


def test_the_valid_document_is_valid() -> None:
    assert validate(SOUND) == []
