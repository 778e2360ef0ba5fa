"""Control characters of texts from studies and files, which would command the terminal that shows them."""

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""All but newline and tab, with those that change the direction of the text beside them."""


def escape_controls(text: str) -> str:
    r"""Return a text with control characters as JSON has them, `\u001b`; newlines and tabs stay."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
