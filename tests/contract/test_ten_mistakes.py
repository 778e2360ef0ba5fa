"""Ten mistakes in one document, three of them in unions, give ten messages with code and place."""

import subprocess
import sys
from typing import Any

import pytest

from destage.engine import normalise, validate
from destage.errors import ConfigError

TEN: dict[str, Any] = {
    "workload": {
        "users": 0,
        "streams": [
            {
                "name": "orders",
                "arrival": {"kind": "closed", "think_time": {"kind": "exponential", "meen": "10s"}},
                "operations": {"read_fraction": "150%", "size": {"kind": "constant", "value": "8KiBs"}},
                "address": {"kind": "zipff", "exponent": 0.9},
            }
        ],
    },
    "controler": {"cache": {"capacity": "64MiB"}},
    "array": {
        "raid": 7,
        "disks": "four",
        "disk": {"use": "u320_10k_36gb", "queue": {"policy": "sptff"}},
    },
    "run": {"warm_up": {"request": 1000}},
}

# place: (code, value as written)
EXPECTED: dict[str, tuple[str, object]] = {
    "workload.users": ("scenario.out-of-range", 0),
    "workload.streams.0.arrival.think_time.meen": ("scenario.unknown-key", "10s"),
    "workload.streams.0.arrival.think_time.mean": ("scenario.missing-key", None),
    "workload.streams.0.operations.read_fraction": ("scenario.out-of-range", "150%"),
    "workload.streams.0.operations.size.value": ("scenario.bad-quantity", "8KiBs"),
    "workload.streams.0.address.kind": ("scenario.unknown-name", "zipff"),
    "controler": ("scenario.unknown-key", TEN["controler"]),
    "array.raid": ("scenario.unknown-name", 7),
    "array.disks": ("scenario.wrong-type", "four"),
    "array.disk.queue.policy": ("scenario.unknown-name", "sptff"),
    "run.warm_up": ("scenario.unknown-name", {"request": 1000}),
}


SUGGESTIONS = {
    "workload.streams.0.arrival.think_time.meen": "mean",
    "workload.streams.0.address.kind": "zipf",
    "controler": "controller",
    "array.disk.queue.policy": "sptf",
    "run.warm_up": "requests",
}


def test_each_mistake_has_its_code_and_place() -> None:
    """The misspelt `mean` is two mistakes: an unknown key and a missing one."""
    issues = {issue.place: issue for issue in validate(TEN)}
    assert {place: (issue.code, issue.value) for place, issue in issues.items()} == EXPECTED
    for place, name in SUGGESTIONS.items():
        assert f"did you mean {name!r}" in issues[place].message


def test_one_error_has_a_line_per_mistake() -> None:
    with pytest.raises(ConfigError) as caught:
        normalise(TEN)
    lines = [line.split(":")[0] for line in str(caught.value).splitlines()]
    assert lines == [f"{EXPECTED[place][0]} at {place}" for place in sorted(EXPECTED)]


def test_no_message_uses_terms_of_the_validator() -> None:
    for issue in validate(TEN):
        for phrase in ("is not valid under any", "$ref", "Additional properties", "is not of type"):
            assert phrase not in issue.message


SOUND: dict[str, Any] = {
    "workload": {"use": "call_center"},
    "controller": {"use": "smart_array_5i_plus"},
    "array": {"raid": "5", "disks": 4, "disk": {"use": "u320_10k_36gb"}},
}


def test_rules_between_fields_have_path_and_value() -> None:
    three_mirrored = {**SOUND, "array": {**SOUND["array"], "raid": "10", "disks": 3}}
    (issue,) = validate(three_mirrored)
    assert issue.place == "array.disks"
    assert issue.value == 3
    wide = {
        **SOUND,
        "workload": {"use": "call_center", "streams": [{"name": "call_center", "array": "nowhere"}]},
    }
    (issue,) = validate(wide)
    assert issue.place == "workload.streams.0.array"
    assert issue.value == "nowhere"


def test_a_valid_configuration_has_no_mistake() -> None:
    assert validate(SOUND) == []


def test_a_misspelt_key_does_not_hide_rules_between_fields() -> None:
    array = {**SOUND["array"], "raid": "10", "disks": 3, "stripe": "64KiB"}
    assert [issue.place for issue in validate({**SOUND, "array": array})] == ["array.stripe", "array.disks"]


def test_an_unknown_name_hides_no_other_mistake() -> None:
    issues = validate({**SOUND, "controller": {"use": "no_such"}, "run": {"sede": 1}})
    assert [issue.place for issue in issues] == ["controller.use", "run.sede"]


def test_the_engine_is_light() -> None:
    """Importing the engine loads neither the executor's nor the database's package."""
    program = "import sys, destage.engine; print(sorted({'ray', 'duckdb', 'kubernetes'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
