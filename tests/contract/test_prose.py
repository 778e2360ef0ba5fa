"""Sentences for readers: no word is an identifier after a rename, and none is inverted."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RENAMED = re.compile(
    r"\b(?:cannot|be|been|is|are|was|were|has|have) (?!not_stationary)[a-z]+(?:_[a-z]+)+\b(?!=)"
)
"""A verb before an identifier, as in `cannot be open_bucket`; an identifier in backticks is a name.

The value `not_stationary` of the column `status` has none in the meaning of columns.
"""
INVERTED = re.compile(r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|better\b|other\b|if\b)\w+")
"""An inversion, as in `is no file` in place of `is not a file`; `there is no file` is usual English."""
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")


def list_sentences(file: Path) -> Iterator[tuple[int, str]]:
    """Return lines and texts: strings of Python, comments and strings of Rust, all of other files."""
    text = file.read_text("utf-8")
    if file.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.lineno, node.value
    else:
        for number, line in enumerate(text.splitlines(), 1):
            if file.suffix == ".rs":
                yield from ((number, part) for part in re.findall(r"//.*|\"[^\"]*\"", line))
            else:
                yield number, line


def find_all(pattern: re.Pattern[str], file: Path) -> list[str]:
    """Return where the sentences of a file match a pattern, without what they quote."""
    return [
        f"{file.name}:{line}: {match[0]}"
        for line, text in list_sentences(file)
        for match in pattern.finditer(QUOTED.sub("``", text.strip('"')))
    ]


@pytest.mark.parametrize(
    ("pattern", "kinds"),
    [(RENAMED, ("*.py", "*.rs", "*.md")), (INVERTED, ("*.py", "*.md", ":!docs/decisions"))],
    ids=["renamed", "inverted"],
)
def test_no_sentence_has_it(pattern: re.Pattern[str], kinds: tuple[str, ...]) -> None:
    places = [*kinds, "src/destage/error_codes/*.toml", ":!tests", ":!docs/reference"]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *places]
    files = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert [
        where for file in files if (ROOT / file).is_file() for where in find_all(pattern, ROOT / file)
    ] == []


@pytest.mark.parametrize(
    ("pattern", "name", "text", "found"),
    [
        (RENAMED, "a.py", 'raise Error(f"the bucket cannot be open_bucket: {why}")', ["be open_bucket"]),
        (RENAMED, "a.py", 'x = "the column is `response_mean`"\nassert x is other_name', []),
        (
            RENAMED,
            "a.rs",
            "/// The job is find_job.\nlet x = 1; // is some_name\n",
            ["is find_job", "is some_name"],
        ),
        (RENAMED, "a.md", "It was run_study twice, and is `run_study`.", ["was run_study"]),
        (
            INVERTED,
            "a.md",
            "The text is no JSON. There is no such file, and it is no longer read.",
            ["is no JSON"],
        ),
    ],
)
def test_a_sentence_with_it_is_found(
    tmp_path: Path, pattern: re.Pattern[str], name: str, text: str, found: list[str]
) -> None:
    (tmp_path / name).write_text(text)
    assert [where.partition(": ")[2] for where in find_all(pattern, tmp_path / name)] == found
