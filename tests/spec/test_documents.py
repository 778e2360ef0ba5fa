"""YAML documents: one parser is fast, the other explains mistakes; both read the same."""

import math
import random
from pathlib import Path

import pytest
import yaml

from destage.errors import ConfigError
from destage.spec import documents
from destage.spec.documents import parse_document

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
LETTERS = "[]{}:,-?&*!|>'\"%@`# \t\n~_.0aeé\ud83d\U0001f600\x85\u2028\x07"


def read_with(loader: type, text: str) -> object:
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - both are safe
    except (yaml.YAMLError, UnicodeEncodeError, RecursionError, ValueError):
        return yaml.YAMLError


@pytest.mark.parametrize("seed", range(20))
def test_what_the_fast_parser_reads_the_other_one_reads_alike(seed: int) -> None:
    """Of changed files; what only the other one reads is left to it.

    A question mark within a key in braces is an error of the other one.
    """
    draw = random.Random(seed)  # noqa: S311 - no secret
    whole = draw.choice(EXAMPLES).read_text().splitlines(keepends=True)
    for _ in range(30):
        start = draw.randrange(len(whole))
        text = "".join(whole[start : start + draw.randrange(1, 12)])
        for _ in range(draw.randrange(4)):
            place = draw.randrange(len(text) + 1)
            text = text[:place] + draw.choice(LETTERS) + text[place + draw.randrange(2) :]
        fast, other = (read_with(loader, text) for loader in (documents._FastLoader, documents._Loader))
        is_like = documents._UNLIKE.search(text) is None and fast is not yaml.YAMLError
        if is_like and not (other is yaml.YAMLError and "?" in text):
            assert repr(fast) == repr(other), text


def test_all_examples_are_read_by_the_fast_parser() -> None:
    for file in EXAMPLES:
        text = file.read_text()
        assert read_with(documents._FastLoader, text) == parse_document(text, file.name) != {}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [1,2", "1:8"),
        ("a: b: c", "1:5"),
        ("é: \x07", "position 3"),
        ("a: 1\na: 2", "2:1"),
        ("a: *x", "1:4"),
    ],
)
def test_a_mistake_has_the_place_of_the_letters(text: str, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_document(text, "study.yaml")
    (issue,) = caught.value.issues
    assert place in {issue.place, f"{issue.line}:{issue.column}"}


@pytest.mark.parametrize("text", ["[" * 1_000_000, "{a: " * 300_000, "- " * 1_000_000, "? " * 1_000_000])
def test_deep_nesting_is_a_mistake(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_document(text, "study.yaml")
    assert caught.value.code == "scenario.bad-syntax"


def test_values_are_those_of_json() -> None:
    text = "on: 2020-01-01\nyes: no\nn: 0x10\nt: true\nf: .inf\ns: '\\ud83d\\ude00'"
    for loader in (documents._Loader, documents._FastLoader):
        read = read_with(loader, text)
        assert read == {
            "on": "2020-01-01",
            "yes": "no",
            "n": 16,
            "t": True,
            "f": math.inf,
            "s": "\\ud83d\\ude00",
        }
