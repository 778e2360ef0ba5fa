"""Suggestions for misspelt names."""

import difflib
from collections.abc import Iterable

MOST = 3
_SIMILAR = 0.6
"""The least similarity of a name, of 1."""
_SHORTEST = 3
"""Minimum characters of a word to suggest names that contain it."""


def find_near_names(word: object, known: Iterable[str]) -> list[str]:
    """Return up to three names: those that contain the word, then the most similar ones."""
    text = str(word).lower()
    by_lower = {name.lower(): name for name in known}
    similar = difflib.get_close_matches(text, by_lower, n=MOST, cutoff=_SIMILAR)
    around = sorted((name for name in by_lower if text in name), key=len) if len(text) >= _SHORTEST else []
    return [by_lower[name] for name in dict.fromkeys([*around, *similar])][:MOST]


def suggest(word: object, known: Iterable[str]) -> str:
    """Return ``; did you mean 'a', 'b' or 'c'?`` for a misspelt name, or an empty string if none is near."""
    near = [repr(name) for name in find_near_names(word, known)]
    if not near:
        return ""
    return f"; did you mean {' or '.join(filter(None, [', '.join(near[:-1]), near[-1]]))}?"
