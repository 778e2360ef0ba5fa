"""The answer of a search for the smallest value, in the report and on stdout."""

from pathlib import Path

import yaml
from priced_study import CHEAPEST

from destage import sweeps
from destage.queries import open_session
from destage.queries.report import compose_answer


def answer(store: Path, **fields: object) -> list[str]:
    """Run the study with other fields, and return its answer."""
    document = {key: value for key, value in (CHEAPEST | fields).items() if value is not None}
    study = sweeps.parse_study(yaml.safe_dump(document))
    outcome = sweeps.run(study, store, executor="inline", workers=1)
    with open_session(outcome.path) as session:
        return compose_answer(session)


def test_the_cheapest_point_comes_first(tmp_path: Path) -> None:
    first, second, third = answer(tmp_path)
    assert first.startswith("Cheapest: 2 disks, ")
    assert first.endswith("(EUR 700).")
    assert second.endswith("(EUR 2100).")
    assert third == "Not searched to the end, as more expensive anyway: 1 point."


def test_the_cheapest_configurations_are_rows(tmp_path: Path) -> None:
    outcome = sweeps.run(sweeps.parse_study(yaml.safe_dump(CHEAPEST)), tmp_path, executor="inline", workers=1)
    with open_session(outcome.path) as session:
        rows = session.query("cheapest").to_pylist()
    assert [(row["array.disk.use"], row["price"]) for row in rows] == [
        ("dc600m_960gb", 700.0),
        ("s4500_1920gb", 2100.0),
    ]


def test_without_prices_the_smallest_value_comes_first(tmp_path: Path) -> None:
    """The nearline disks miss 5 ms with any number: it is the time of one access."""
    everywhere = {key: value for key, value in CHEAPEST["seek"].items() if key != "cheapest"}
    sentences = answer(tmp_path, seek=everywhere, prices=None)
    assert sentences[0].startswith("Fewest: 2 disks, ")
    assert sentences[-1] == "Missing an objective even with 8: 1 point."
