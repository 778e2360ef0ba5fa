"""Whatever stands in a study, its mistakes have codes: no value causes an internal error."""

import copy
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.small_studies import small_study

from destage.errors import ConfigError, DestageError
from destage.sweeps import parse_study, plan

ODD = (
    *("2026-01-01", "2026-01-01 10:00:00", "!!binary aGVsbG8=", "!!set {a, b}", "!!timestamp 2026-01-01"),
    *("null", ".inf", "-.inf", ".nan", "1" + "0" * 30, "-1", "1" + "0" * 5000, "1e400", "true", "0x10"),
    *("[]", "{}", "[null]", "{null: 1}", "{1: 2}", "{2026-01-01: 3}", "[[[]]]", "''", '"\\0"', '"\\ud800"'),
    *("é€", "!!python/object:os.system x", "!foo bar", "&a [*a]", "[1, .inf]", "[.nan, .nan]"),
    *(
        "{linspace: [0, .inf, 3]}",
        "{range: [0, 1, .nan]}",
        "{range: [null, 1, 1]}",
        "{linspace: [0, 1, 1e9]}",
    ),
    *("{logspace: [1, 1e400, 3]}", "{range: [2026-01-01, 2026-02-01, 1]}", "[99999999999999999999, 1]"),
    *("[true, 1, x]", "[{a: 1}, {b: [1]}]", "{min: 1, max: 1e30}", "{wall: true}", "{wall: .nan}"),
    *("{wall: 1e400h}", "{timeout: -1s}", "{timeout: .inf}", "'1'' OR 1=1'", "'x' * 3"),
)
_MARK = "ODDVALUE"


def _document() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(small_study("odd", "array.disks: [4, 5]", requests=100))
    points = [{"label": "a", "array.disks": 6}]
    return document | {
        "where": "disks > 1",
        "budget": {"wall": "2h"},
        "run": {"timeout": "3s"},
        "points": points,
    }


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, inner in items for found in _paths(inner, (*path, key)))]


def _replace(document: dict[str, Any], path: tuple[Any, ...], *, key: bool) -> object:
    """Return the text of a document with a mark in place of one of its values, or of its name."""
    changed: Any = copy.deepcopy(document)
    if not path:
        return _MARK
    home = changed
    for segment in path[:-1]:
        home = home[segment]
    if key and isinstance(home, dict):
        home[_MARK] = home.pop(path[-1])
    else:
        home[path[-1]] = _MARK
    return changed


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))])
def test_odd_values_are_mistakes_with_codes(tmp_path: Path, seed: int) -> None:
    document = _document()
    draw = random.Random(seed)  # noqa: S311 - values, no secrets
    places = _paths(document)
    for _ in range(300):
        written = _replace(document, draw.choice(places), key=draw.random() < 0.25)
        text = yaml.safe_dump(written, sort_keys=False).replace(_MARK, draw.choice(ODD))
        with suppress(DestageError):
            plan(parse_study(text, name="odd.yaml", folder=tmp_path), tmp_path)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("name: !!binary aGVsbG8=", "study.bad-syntax"),
        ("name: 2026-01-01", "study.missing-key"),
        ("null: 1", "study.bad-syntax"),
        (f"name: 1{'0' * 5000}", "study.bad-syntax"),
        ('name: "\\ud800"', "study.bad-syntax"),
        ("run: {timeout: 0s}\nname: a\nscenario: {}", "study.out-of-range"),
    ],
)
def test_values_without_a_place_in_json_are_refused(text: str, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_study(text)
    assert code in [issue.code for issue in caught.value.issues]
