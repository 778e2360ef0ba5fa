"""A write cache or read-ahead that makes a mixed sequential load slower is named, with its cause."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from destage import sweeps
from destage.queries import open_session
from destage.queries.findings.caveats import list_slower_caches
from destage.queries.report.reported_kinds import compose_answer

STUDY = {
    "name": "mixed",
    "scenario": {
        "workload": {
            "streams": [
                {
                    "name": "s",
                    "arrival": {"kind": "fixed_outstanding", "depth": 16},
                    "operations": {"read_fraction": 0.3, "size": {"kind": "constant", "value": "16KiB"}},
                    "address": {"kind": "sequential"},
                }
            ]
        },
        "controller": {"cache": {"write_fraction": 1.0}, "battery": {"state": "present"}},
        "array": {"raid": "1", "disks": 2, "disk": {"use": "u320_10k_36gb"}, "stripe_unit": "64KiB"},
        "run": {"max_requests": 20_000},
    },
    "axes": {"controller.cache.capacity": [0, "16MiB"]},
    "replicates": 1,
}


READ_ONLY = {"controller.cache.write_fraction": [0.0]}


def run(folder: Path, axes: dict[str, Any] | None = None, disk: str = "", **stream: Any) -> list[str]:
    """Return the sentences of the study; `axes` are added to its own, and an array replaces a value."""
    study = yaml.safe_load(yaml.safe_dump(STUDY))
    study["scenario"]["workload"]["streams"][0] |= stream
    study["axes"] |= axes or {}
    if disk:
        study["scenario"]["array"]["disk"] = {"use": disk}
    file = folder / "mixed.yaml"
    file.write_text(yaml.safe_dump(study))
    with open_session(sweeps.run(sweeps.load_study(file), folder, executor="inline").path) as session:
        found = list_slower_caches(session)
        assert set(found) <= set(compose_answer(session))
        return found


def read_shares(sentence: str) -> list[int]:
    """Return the percentages of a sentence."""
    return [int(share) for share in re.findall(r"(\d+) %", sentence)]


def test_a_second_pass_over_the_tracks_is_named(tmp_path: Path) -> None:
    (sentence,) = run(tmp_path)
    assert sentence.startswith("With a write cache, 1 point")
    (share,) = read_shares(sentence)
    assert 15 <= share <= 60


def test_read_ahead_of_what_is_written_is_named(tmp_path: Path) -> None:
    """Seven of ten blocks that are read ahead are written before they are read, in a second pass."""
    (sentence,) = run(tmp_path, READ_ONLY)
    assert sentence.startswith("With read-ahead alone, 1 point")
    assert "second one" in sentence
    slower, unread = read_shares(sentence)
    assert 20 <= slower <= 35
    assert unread == pytest.approx(70, abs=3)


def test_a_read_cache_that_reads_nothing_ahead_is_not(tmp_path: Path) -> None:
    assert run(tmp_path, {**READ_ONLY, "controller.cache.read.read_ahead": [None]}) == []


def test_a_write_cache_is_compared_with_no_cache_where_there_is_one(tmp_path: Path) -> None:
    """Not with the slower read cache: the write cache's loss is that of the study without one."""
    (alone,) = run(tmp_path)
    second, ahead = run(tmp_path, {"controller.cache.write_fraction": [0.0, 1.0]})
    assert second == alone
    assert ahead.startswith("With read-ahead alone, 1 point")


def test_solid_state_disks_have_no_second_pass(tmp_path: Path) -> None:
    """What is read ahead and never read takes their time. A write cache has other causes, if it is slower."""
    axes = {"controller.cache.write_fraction": [0.0, 0.5]}
    stream = {"operations": {"read_fraction": 0.5, "size": {"kind": "constant", "value": "16KiB"}}}
    (sentence,) = run(tmp_path, axes, disk="d3_s4610_480gb", **stream)
    assert sentence.startswith("With read-ahead alone, 1 point")
    assert "pass" not in sentence


@pytest.mark.parametrize(
    "stream",
    [
        {"address": {"kind": "uniform"}},
        {"operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": "16KiB"}}},
    ],
)
def test_other_loads_are_not(tmp_path: Path, stream: dict[str, Any]) -> None:
    assert run(tmp_path, **stream) == []
