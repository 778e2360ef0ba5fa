"""Sentences of a study that answer its question, with SQL in braces for what the rows fill in."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_EXPRESSION = re.compile(r"\{([^{}]+)\}")


def expressions(sentence: str | Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a sentence computes, each as a published figure's quantity is stated.

    Args:
        sentence: The sentence, or it as `say` beside the `at` and `for_each` of its expressions.
    """
    shared = {} if isinstance(sentence, str) else {key: sentence[key] for key in sentence.keys() - {"say"}}
    return [{"compute": text} | shared for text in _EXPRESSION.findall(_text(sentence))]


def filled(sentence: str | Mapping[str, Any], values: Iterable[str]) -> str:
    """Return a sentence with its expressions replaced.

    Args:
        sentence: The sentence, or it as `say`.
        values: What stands for each of its expressions.
    """
    given = iter(values)
    return _EXPRESSION.sub(lambda _: next(given), _text(sentence))


def _text(sentence: str | Mapping[str, Any]) -> str:
    return " ".join(str(sentence if isinstance(sentence, str) else sentence["say"]).split())
