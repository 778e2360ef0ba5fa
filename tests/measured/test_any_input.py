"""Damaged files: lines or mistakes with their lines, whatever is cut, changed or exchanged."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from destage.errors import ConfigError
from destage.tools.results import read_results

FILES = sorted((Path(__file__).parent / "data").iterdir())
PARTS = {"{size}": "8192", "{per_thread}": "", "{mib}": "MB", "{rates}": "MBps", "{all}": "1"}
"""What stands for the versions of a tool in a template."""
Damage = Callable[[bytearray, random.Random], bytes]


def cut(data: bytearray, draw: random.Random) -> bytes:
    return bytes(data[: draw.randrange(len(data))])


def change(data: bytearray, draw: random.Random) -> bytes:
    for _ in range(draw.randrange(1, 6)):
        data[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(data)


def remove(data: bytearray, draw: random.Random) -> bytes:
    start = draw.randrange(len(data))
    del data[start : start + draw.randrange(1, 60)]
    return bytes(data)


def exchange(data: bytearray, draw: random.Random) -> bytes:
    lines = bytes(data).split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


@pytest.mark.parametrize("damage", [cut, change, remove, exchange], ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_damaged_file_is_read_or_refused(file: Path, damage: Damage) -> None:
    text = file.read_text()
    for name, value in PARTS.items() if file.suffix == ".template" else ():
        text = text.replace(name, value)
    draw = random.Random(file.name)  # noqa: S311 - the same files in every run
    for _ in range(60):
        try:
            found = read_results("x", damage(bytearray(text.encode()), draw))
        except ConfigError as error:
            places = [issue.line for issue in error.issues]
        else:
            places = [line.source_line for line in found.lines]
        assert places
        assert None not in places
