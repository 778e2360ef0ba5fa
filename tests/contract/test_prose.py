"""Sentences for readers: a rename of identifiers has not changed words in them."""

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


def find_renamed(file: Path) -> list[str]:
    """Return where a file has an identifier in the place of a word."""
    return [
        f"{file.name}:{line}: {match[0]}"
        for line, text in list_sentences(file)
        for match in RENAMED.finditer(QUOTED.sub("``", text.strip('"')))
    ]


def test_no_rename_has_reached_a_sentence() -> None:
    patterns = ["*.py", "*.rs", "*.md", "src/destage/error_codes/*.toml", ":!tests", ":!docs/reference"]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    files = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert [where for file in files if (ROOT / file).is_file() for where in find_renamed(ROOT / file)] == []


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.py", 'raise Error(f"the bucket cannot be open_bucket: {why}")', ["be open_bucket"]),
        ("a.py", 'x = "the column is `response_mean`"\nassert x is other_name', []),
        ("a.rs", "/// The job is find_job.\nlet x = 1; // is some_name\n", ["is find_job", "is some_name"]),
        ("a.md", "It was run_study twice, and is `run_study`.", ["was run_study"]),
    ],
)
def test_an_identifier_after_a_verb_is_found(tmp_path: Path, name: str, text: str, found: list[str]) -> None:
    (tmp_path / name).write_text(text)
    assert [where.partition(": ")[2] for where in find_renamed(tmp_path / name)] == found
