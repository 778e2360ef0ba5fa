"""Control characters are shown, not obeyed."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from destage.spec.printed_text import escape_controls


def test_a_title_and_a_cleared_screen_are_shown() -> None:
    assert escape_controls("\x1b]0;pwn\x07\x1b[2J\x9b1m\u202e") == (
        "\\u001b]0;pwn\\u0007\\u001b[2J\\u009b1m\\u202e"
    )


@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    shown = escape_controls(text)
    assert {each for each in shown if unicodedata.category(each) == "Cc"} <= {"\n", "\t"}
    assert escape_controls(shown) == shown


@given(st.text())
def test_json_stays_the_same_value(text: str) -> None:
    """JSON is printed with the characters above ASCII as they are."""
    assert json.loads(escape_controls(json.dumps(text, ensure_ascii=False))) == text
