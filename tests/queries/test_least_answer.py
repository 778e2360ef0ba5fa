"""The answer of a search for the smallest value, in the report and on stdout."""

from pathlib import Path

import yaml
from priced_study import CHEAPEST

from destage import sweeps
from destage.queries import open_session
from destage.queries.pairs.explained_kinds import SmallestValue
from destage.queries.pairs.point_choice import Choice
from destage.queries.pairs.point_pairs import Side, compare_points
from destage.queries.pairs.run_history import list_history
from destage.queries.report.reported_kinds import compose_answer
from destage.queries.report.sentences.unanswered_points import list_unanswered
from destage.recorded_objectives import list_objectives


def answer(store: Path, **fields: object) -> list[str]:
    """Run the study with other fields, and return its answer."""
    document = {key: value for key, value in (CHEAPEST | fields).items() if value is not None}
    study = sweeps.parse_study(yaml.safe_dump(document))
    outcome = sweeps.run(study, store, executor="inline", workers=1)
    with open_session(outcome.path) as session:
        return compose_answer(session)


def test_the_cheapest_point_comes_first(tmp_path: Path) -> None:
    first, second, third, *_ = answer(tmp_path)
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
    assert sentences[-2] == "Missing an objective even with 8: 1 point."


def test_a_point_without_a_verdict_has_a_cause_and_a_remedy(tmp_path: Path) -> None:
    """Two SSDs, the most that are considered, take 1,133 us: the bound is within their scatter."""
    seek = {"minimize": "array.disks", "subject_to": ["response_p95 <= 1.1345ms"], "min": 2, "max": 2}
    axes = {"array.disk.use": ["s4500_1920gb"]}
    study = sweeps.parse_study(yaml.safe_dump(CHEAPEST | {"seek": seek, "axes": axes}))
    outcome = sweeps.run(study, tmp_path, executor="inline", workers=1)
    assert outcome.state == "unanswered"
    with open_session(outcome.path) as session:
        ((point,), count) = list_unanswered(session, 5)
    assert (count, point.cause) == (1, "2 are not shown to meet response_p95 <= 1.1345ms")
    assert point.remedy == "raise replicates.max or seek.max"


def test_one_number_for_all_replicates_has_no_interval(tmp_path: Path) -> None:
    """Three points have answers after 3, 5 or 8 replicates: each counts once in a mean of points."""
    seek = {key: value for key, value in CHEAPEST["seek"].items() if key != "cheapest"}
    seek |= {"subject_to": ["response_p95 <= 1.1345ms"]}
    axes = {"array.disk.use": ["dc600m_960gb", "s4500_1920gb"]}
    study = sweeps.parse_study(yaml.safe_dump(CHEAPEST | {"seek": seek, "axes": axes}))
    outcome = sweeps.run(study, tmp_path, executor="inline", workers=1)
    with open_session(outcome.path) as session:
        answers = session.sql("SELECT * FROM answers ORDER BY plan_row").to_pylist()
        by_disk = {row["array.disk.use"]: row for row in answers}
        undecided = by_disk["s4500_1920gb"]
        assert undecided["failing_verdict"] == "undecided"
        needed = [row["disks_needed"] for row in answers]
        exposed = session.query("exposure").to_pylist()
        assert {(row["disks_needed_low"], row["disks_needed_high"]) for row in exposed} == {(None, None)}
        marginals = session.query("marginals").to_pylist()
        assert [row["disks_needed"] for row in marginals] == needed
        mean = sum(needed) / 2
        assert [row["effect_disks_needed"] for row in marginals] == [value - mean for value in needed]
        assert {(row["effect_disks_needed_low"], row["n"]) for row in marginals} == {(None, 1)}
        sides = [Side(session, Choice({}, None, [row["point_id"]], [row["point_id"]])) for row in answers]
        (pair,) = compare_points(*sides, ["disks_needed"]).pairs
        (difference,) = pair.differences
        assert (difference.low, difference.verdict) == (None, "one value each")
        assert "; 2 are not shown to meet response_p95 <= 1.1345ms" in " ".join(compose_answer(session))
        objectives = list_objectives(session.spec, None)
        history = list_history(session, undecided["point_id"])
        further = next(run for run in history if run.round > 0 and run.probe == 2)
        kind = SmallestValue(session, lambda _: objectives)
        text = kind.explain_planning(further, history, objectives)
        assert text == "a further replicate at 2: 3 had not shown whether it meets the objectives"
        larger = next(run for run in history if run.probe == 4)
        text = kind.explain_planning(larger, history, objectives)
        assert text.startswith("one of 3 replicates that try 4; before, ")
        assert text.endswith(" of 8 replicates met the objectives at 2")
