"""Links and make targets in the documents exist."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def documents() -> list[str]:
    """Return the paths of the Markdown files that git tracks."""
    command = ["git", "ls-files", "*.md"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("document", documents())
def test_every_link_within_the_repository_has_a_target(document: str) -> None:
    page = ROOT / document
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    dead = [link for link in links if not (page.parent / link).exists()]
    assert not dead


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_in_the_text_exists(document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", (ROOT / document).read_text(), re.MULTILINE))
    assert named
    assert named <= targets
