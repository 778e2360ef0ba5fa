"""A write cache that makes a mixed sequential load slower is named, with its cause."""

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


def run(folder: Path, **stream: Any) -> list[str]:
    study = yaml.safe_load(yaml.safe_dump(STUDY))
    study["scenario"]["workload"]["streams"][0] |= stream
    file = folder / "mixed.yaml"
    file.write_text(yaml.safe_dump(study))
    with open_session(sweeps.run(sweeps.load_study(file), folder, executor="inline").path) as session:
        found = list_slower_caches(session)
        assert set(found) <= set(compose_answer(session))
        return found


def test_a_second_pass_over_the_tracks_is_named(tmp_path: Path) -> None:
    (sentence,) = run(tmp_path)
    assert "1 point" in sentence
    share = int(sentence.partition(" % ")[0].rpartition(" ")[2])
    assert 15 <= share <= 60


@pytest.mark.parametrize(
    "stream",
    [
        {"address": {"kind": "uniform"}},
        {"operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": "16KiB"}}},
    ],
)
def test_other_loads_are_not(tmp_path: Path, stream: dict[str, Any]) -> None:
    assert run(tmp_path, **stream) == []
