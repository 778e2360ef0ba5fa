"""Help shows placeholders for values instead of Python types."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from destage.cli import app

INTERNAL = re.compile(
    r"<[a-z]|\brange\b.*\]|x[<>]=|\b(?:INTEGER|FLOAT|TEXT|BOOLEAN|PATH RANGE)\b|\b(?:int|str|Path|bool)\b"
)


def list_commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and group."""
    command = app.build_command()
    for name, one in command.commands.items():
        yield (name,)
        yield from ((name, inner) for inner in getattr(one, "commands", {}))


def list_groups() -> Iterator[tuple[str, ...]]:
    """Yield the words of every group, first those of the whole program."""
    yield ()
    yield from ((name,) for name, one in app.build_command().commands.items() if hasattr(one, "commands"))


@pytest.mark.parametrize("group", list(list_groups()))
def test_a_summary_is_a_sentence_in_one_line(
    destage: Any, monkeypatch: pytest.MonkeyPatch, group: tuple[str, ...]
) -> None:
    """At 80 columns, as in most terminals."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = destage(*group, "--help").out.partition("\n  --help ")[2].splitlines()[1:]
    lines = [line for line in shown if line.startswith("  ")]
    whole = app.build_command()
    commands = (whole.commands[group[0]] if group else whole).commands
    names = [name for name, command in commands.items() if not command.hidden]
    assert [line.split()[0] for line in lines] == names
    for line in lines:
        summary = line.split(maxsplit=1)[1]
        assert summary[0].isupper()
        assert summary.endswith(".")
        assert not summary.endswith("..")
        assert len(line) <= 80


def test_the_first_screen_has_four_groups(destage: Any) -> None:
    """Sixteen entries at most, of which the last one, for maintenance, stands alone."""
    shown = destage("--help").out.partition("\n  --help ")[2].split("\n\n")[1:]
    headings = [section.splitlines()[0] for section in shown]
    assert headings[:-1] == ["Run a study:", "Ask:", "Decide:", "Bring:"]
    assert headings[-1].split()[0] == "admin"


@pytest.mark.parametrize("words", list(list_commands()))
def test_help_names_no_type(destage: Any, words: tuple[str, ...]) -> None:
    found = INTERNAL.findall(destage(*words, "--help").out)
    assert found == []


def test_bounds_are_words(destage: Any) -> None:
    shown = " ".join(destage("admin", "validate", "--help").out.split())
    assert "--phases N" in shown
    assert "[default: 4; 1 to 64]" in shown
    shown = " ".join(destage("run", "--help").out.split())
    assert "--workers N Maximum concurrent runs (default: one per processor). [at least 1]" in shown
    assert "--executor auto|ray|inline" in shown
    assert " run [OPTIONS] TARGET" in shown


def test_a_bound_of_the_representation_is_not_shown(destage: Any) -> None:
    assert "18446744073709551615" not in destage("trace", "mrc", "--help").out


def test_the_overview_is_that_of_all_commands() -> None:
    """The help text of the whole program is made without the parameters of the commands."""
    short, full = app.build_command(is_overview=True), app.build_command()
    assert list(short.commands) == list(full.commands)
    texts = [command.get_help(typer.Context(command, info_name="destage")) for command in (short, full)]
    assert texts[0] == texts[1]
    assert "Run sweeps on a Kubernetes cluster" in texts[0]
