"""Each option of each command stands beside its command in a test.

The commands and options are read from the application, the tests as source text: a test counts with the
constants and helpers of its module, and with the fixtures that it names.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from destage.cli import app

TESTS = Path(__file__).parents[1]
NOT_OURS = {"--help"}


def list_commands() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the words of each command with the names of each of its options."""
    command = app.build_command()
    for name, one in command.commands.items():
        for words, leaf in [((name, sub), each) for sub, each in getattr(one, "commands", {}).items()] or [
            ((name,), one)
        ]:
            for parameter in leaf.params:
                named = [name for name in parameter.opts if name.startswith("--")]
                if named and not leaf.hidden and not NOT_OURS & set(named):
                    yield words, (*named, *parameter.secondary_opts)


class _Module:
    """The texts in each definition at the top of a module, and the names that it uses."""

    def __init__(self, file: Path) -> None:
        self._own: dict[str, set[str]] = {}
        self._names: dict[str, set[str]] = {}
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            for name in _defined(node):
                self._own.setdefault(name, set()).update(_constants(node))
                self._names.setdefault(name, set()).update(_names(node))

    @property
    def names(self) -> list[str]:
        return list(self._own)

    def collect(self, name: str, outer: "list[_Module]") -> set[str]:
        """Return the constants that a definition leads to."""
        found: set[str] = set()
        open_names, seen = [name], {name}
        while open_names:
            here = open_names.pop()
            for module in (self, *outer):
                if here in module._own:
                    found |= module._own[here]
                    further = module._names[here] - seen
                    seen |= further
                    open_names += further
                    break
        return found


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
    return []


def _constants(node: ast.AST) -> set[str]:
    words: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            words |= {each.value, *(word.partition("=")[0] for word in each.value.split())}
    return words


def _names(node: ast.AST) -> set[str]:
    named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return named | {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}


@cache
def read_tests() -> list[set[str]]:
    """Return the constants of each test."""
    shared = [_Module(file) for file in TESTS.rglob("conftest.py")]
    found = []
    for file in TESTS.rglob("test_*.py"):
        module = _Module(file)
        found += [module.collect(name, shared) for name in module.names if name.startswith("test_")]
    return found


OPTIONS = list(list_commands())


@pytest.mark.parametrize(
    ("words", "names"), OPTIONS, ids=[f"{' '.join(words)} {names[0]}" for words, names in OPTIONS]
)
def test_an_option_has_a_test(words: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert any(constants & set(names) and constants >= set(words) for constants in read_tests())
