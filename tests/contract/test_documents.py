"""Links, make targets and commands in the documents exist."""

import re
import subprocess
from pathlib import Path

import pytest

from destage.cli import app

ROOT = Path(__file__).parents[2]
ERROR_CODES = ROOT / "src" / "destage" / "error_codes"
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`([\w./-]+/[\w.-]+\.(?:py|rs|sql|sh|toml|yaml))`")
COMMAND = re.compile(r"(?:`|\$ )destage ([a-z]+)(?: ([a-z]+))?")


def documents(*patterns: str) -> list[str]:
    """Return the paths of the files that git tracks, by default of those in Markdown."""
    command = ["git", "ls-files", *(patterns or ("*.md",))]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("document", documents())
def test_every_link_within_the_repository_has_a_target(document: str) -> None:
    page = ROOT / document
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    dead = [link for link in links if not (page.parent / link).exists()]
    assert not dead


def test_every_file_named_in_the_texts_exists() -> None:
    """A path in backticks, from the repository or from a folder of a package, is that of a tracked file."""
    files = documents("*")
    # The changelog names files as they were.
    texts = [name for name in files if name.endswith((".md", ".py")) and name != "CHANGELOG.md"]
    linked = [f"/src/destage/engine/{name.removeprefix('engine/python/')}" for name in files]
    tracked = [*(f"/{name}" for name in files), *linked]
    ends = {name[place:] for name in tracked for place, letter in enumerate(name) if letter == "/"}
    missing = [
        (text, path)
        for text in texts
        for path in PATH.findall((ROOT / text).read_text())
        if f"/{path}" not in ends
    ]
    assert not missing


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_in_the_text_exists(document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", (ROOT / document).read_text(), re.MULTILINE))
    assert named
    assert named <= targets


def test_every_command_in_the_texts_exists() -> None:
    """In the documents and in the error catalogue: `destage NAME`, and for a group `destage NAME NAME`."""
    texts = [*documents(), *(str(file.relative_to(ROOT)) for file in ERROR_CODES.glob("*.toml"))]
    known = app.build_command().commands
    unknown = []
    for text in texts:
        for name, after in COMMAND.findall((ROOT / text).read_text()):
            group = getattr(known.get(name), "commands", None)
            if name not in known or (group is not None and after and after not in group):
                unknown.append((text, name, after))
    assert not unknown
