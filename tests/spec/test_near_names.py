"""A misspelt name suggests up to three: those that contain it, then the most similar ones."""

import pytest

from destage.spec.near_names import find_near_names, suggest

KNOWN = ["call_center", "call_center_curve", "backups", "smart_array_p410_256", "smart_array_p410_1gb", "vdi"]


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("call_centre", ["call_center", "call_center_curve"]),
        ("CALL_CENTER", ["call_center", "call_center_curve"]),
        ("p410", ["smart_array_p410_256", "smart_array_p410_1gb"]),
        ("vdii", ["vdi"]),
        ("zzz", []),
        ("a", []),
        (7, []),
    ],
)
def test_near_names(word: object, near: list[str]) -> None:
    assert sorted(find_near_names(word, KNOWN)) == sorted(near)


def test_at_most_three_are_suggested() -> None:
    assert len(find_near_names("name", [f"name_{at}" for at in range(9)])) == 3


def test_suggestions_are_a_question() -> None:
    assert suggest("x1", []) == ""
    assert suggest("vdii", ["vdi"]) == "; did you mean 'vdi'?"
    assert suggest("aaa", ["aaa1", "aaa2", "aaa3"]) == "; did you mean 'aaa1', 'aaa2' or 'aaa3'?"
