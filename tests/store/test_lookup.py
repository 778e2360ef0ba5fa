"""A misspelt sweep: a store with few sweeps lists them, another suggests the nearest three."""

from pathlib import Path

import pytest

from destage.errors import StoreError
from destage.store.state import lookup


def find_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, names: list[str], word: str) -> str:
    monkeypatch.setattr(lookup, "list_sweeps", lambda _: [tmp_path / name for name in names])
    with pytest.raises(StoreError) as caught:
        lookup.find_sweep(word, tmp_path)
    assert (caught.value.code, caught.value.place) == ("store.unknown-sweep", word)
    return caught.value.message


def test_few_sweeps_are_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert find_message(monkeypatch, tmp_path, [], "x").endswith("sweeps there: none yet")
    assert find_message(monkeypatch, tmp_path, ["a-1", "b-2"], "x").endswith("sweeps there: a-1, b-2")


def test_of_many_sweeps_the_nearest_are_suggested(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = [f"sweep{at}-0{at}" for at in range(9)] + ["call_center-abcd"]
    message = find_message(monkeypatch, tmp_path, names, "call_centre-abcd")
    assert message.endswith("; did you mean 'call_center-abcd'?; `destage status` lists all 10")
    assert find_message(monkeypatch, tmp_path, names, "sweeps7").count("'sweep") == 3
