"""The answer of a search for the smallest value, in the report and on stdout."""

from pathlib import Path

import yaml

from destage import sweeps
from destage.queries import open_session
from destage.queries.report import compose_answer

PRICES = {
    "currency": "EUR",
    "date": "2026-11-23",
    "controllers": {"megaraid_9540": 300},
    "disks": {"exos_x18": 300, "dc600m_960gb": 200, "s4500_1920gb": 900},
}
STUDY = {
    "name": "cheapest",
    "scenario": {
        "workload": {"use": "iometer_oltp"},
        "controller": {"use": "megaraid_9540"},
        "array": {"raid": "10"},
        "run": {"warm_up": {"requests": 500}, "window": {"requests": 2_000}},
    },
    "axes": {"array.disk.use": ["exos_x18", "dc600m_960gb", "s4500_1920gb"]},
    "seek": {"minimize": "array.disks", "subject_to": ["response_p95 <= 5ms"], "min": 2, "max": 8},
    "replicates": {"min": 3, "max": 3},
}


def answer(store: Path, **fields: object) -> list[str]:
    """Run the study with other fields, and return its answer."""
    study = sweeps.parse_study(yaml.safe_dump(STUDY | fields))
    outcome = sweeps.run(study, store, executor="inline", workers=1)
    with open_session(outcome.path) as session:
        return compose_answer(session)


def test_the_cheapest_point_comes_first(tmp_path: Path) -> None:
    seek = STUDY["seek"] | {"cheapest": 1}  # type: ignore[operator]
    first, second, third = answer(tmp_path, seek=seek, prices=PRICES)
    assert first.startswith("Cheapest: 2 disks, ")
    assert first.endswith("(EUR 700).")
    assert second.endswith("(EUR 2100).")
    assert third == "Not searched to the end, as more expensive anyway: 1 point."


def test_without_prices_the_smallest_value_comes_first(tmp_path: Path) -> None:
    """The nearline disks miss 5 ms with any number: it is the time of one access."""
    sentences = answer(tmp_path)
    assert sentences[0].startswith("Fewest: 2 disks, ")
    assert sentences[-1] == "Missing an objective even with 8: 1 point."
