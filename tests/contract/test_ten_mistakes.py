"""The contract on messages: ten mistakes at once, three of them inside unions, give ten good messages."""

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
        "raid": 5,
        "disks": "four",
        "disk": {"use": "u320_10k_36gb", "queue": {"policy": "sptff"}},
    },
    "run": {"warm_up": {"request": 1000}},
}

# path: (the value as written, words that the message must have)
EXPECTED: dict[str, tuple[object, tuple[str, ...]]] = {
    "workload.users": (0, ("between 1 and 1000000",)),
    "workload.streams.0.arrival.think_time.meen": ("10s", ("not known", "did you mean 'mean'?")),
    "workload.streams.0.arrival.think_time.mean": (None, ("missing", "Mean time")),
    "workload.streams.0.operations.read_fraction": ("150%", ("between 0 and 1",)),
    "workload.streams.0.operations.size.value": ("8KiBs", ("unknown unit 'KiBs'", "KiB, MiB")),
    "workload.streams.0.address.kind": ("zipff", ("uniform, zipf, ", "did you mean 'zipf'?")),
    "controler": (TEN["controler"], ("not known", "did you mean 'controller'?")),
    "array.raid": (5, ("0, 1, 10, 5, 6", "in quotes: '5'")),
    "array.disks": ("four", ("a whole number",)),
    "array.disk.queue.policy": ("sptff", ("sptf, sstf, look, c_look, fcfs", "did you mean 'sptf'?")),
    "run.warm_up": (
        {"request": 1000},
        ("auto, none, {requests: ...}, {duration: ...}", "did you mean 'requests'?"),
    ),
}


def test_each_mistake_has_its_message_and_nothing_else_has() -> None:
    """The misspelt `mean` is one mistake with two faces: an unknown key, and a missing one."""
    issues = {issue.path: issue for issue in validate(TEN)}
    assert issues.keys() == EXPECTED.keys()
    for path, (value, words) in EXPECTED.items():
        assert issues[path].value == value, path
        for word in words:
            assert word in issues[path].message, (path, issues[path].message)


def test_all_come_in_one_error_whose_text_has_a_line_for_each() -> None:
    with pytest.raises(ConfigError) as caught:
        normalise(TEN)
    assert len(caught.value.issues) == len(EXPECTED)
    lines = str(caught.value).splitlines()[1:]
    assert all(any(path in line for line in lines) for path in EXPECTED)


def test_no_message_speaks_the_validators_own_language() -> None:
    for issue in validate(TEN):
        for phrase in ("is not valid under any", "$ref", "Additional properties", "is not of type"):
            assert phrase not in issue.message


SOUND: dict[str, Any] = {
    "workload": {"use": "call_center"},
    "controller": {"use": "smart_array_5i_plus"},
    "array": {"raid": "5", "disks": 4, "disk": {"use": "u320_10k_36gb"}},
}


def test_rules_across_fields_are_judged_by_the_engine_with_path_and_value() -> None:
    three_mirrored = {**SOUND, "array": {**SOUND["array"], "raid": "10", "disks": 3}}
    (issue,) = validate(three_mirrored)
    assert issue.path == "array.disks"
    assert issue.value == 3
    wide = {
        **SOUND,
        "workload": {"use": "call_center", "streams": [{"name": "call_center", "array": "nowhere"}]},
    }
    (issue,) = validate(wide)
    assert issue.path == "workload.streams.0.array"
    assert issue.value == "nowhere"


def test_a_sound_configuration_has_no_mistake() -> None:
    assert validate(SOUND) == []


def test_a_misspelt_key_does_not_hide_what_is_wrong_between_fields() -> None:
    array = {**SOUND["array"], "raid": "10", "disks": 3, "stripe": "64KiB"}
    assert [issue.path for issue in validate({**SOUND, "array": array})] == ["array.stripe", "array.disks"]


def test_an_unknown_name_hides_no_other_mistake() -> None:
    issues = validate({**SOUND, "controller": {"use": "no_such"}, "run": {"sede": 1}})
    assert [issue.path for issue in issues] == ["controller.use", "run.sede"]


def test_the_engine_is_light() -> None:
    """Importing the engine loads neither the executor's nor the database's package."""
    program = "import sys, destage.engine; print(sorted({'ray', 'duckdb', 'kubernetes'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
