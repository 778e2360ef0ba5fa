"""The answer of a calibration in words, its charts, and the study of its draws."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from small_studies import RATE, SERVICE, small_calibration

from destage import sweeps
from destage.errors import QueryError
from destage.queries import open_session
from destage.queries.findings.calibrated_study import check_drawable, write_drawn_study
from destage.queries.findings.calibration_answer import (
    describe_next,
    describe_poor_fit,
    format_prediction,
    format_prior,
    name_odds,
    name_stage,
    name_undetermined,
    tabulate_predictions,
    tabulate_unknowns,
)
from destage.queries.findings.missed_text import list_widened
from destage.queries.findings.prediction_values import format_share
from destage.queries.opening.session import Session
from destage.queries.report import reported_kinds
from destage.queries.report.figures import build_figures
from destage.queries.report.page import render_page
from destage.queries.report.reported_kinds import compose_answer, compose_summary
from destage.sweeps import parse_study, studies
from destage.sweeps.reading.expansion import expand

NOW = {"set": {RATE: "100/s"}, "of": "response_mean", "tolerance": "5%"}
UNVALIDATED = (
    "calibrated on this system; no measured figure was held back to validate it, as --where with --on or "
    "other fits in the study do"
)
THEN = {
    "set": {RATE: "150/s"},
    "of": "response_mean",
    "value": "9ms",
    "against": ["6ms", "20ms"],
    "odds": ["response_mean <= 30ms"],
}


def _run(folder: Path, value: str) -> Iterator[Session]:
    text = small_calibration(
        "queue",
        {"array.raid": {"choice": ["0", "10"]}},
        {"now": NOW | {"value": value}, "then": THEN},
        {"points": 32, "most": 2},
        fits={"light load": ["now"]},
    )
    outcome = sweeps.run(parse_study(text), folder, executor="inline", workers=2)
    with open_session(outcome.path) as session:
        yield session


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from _run(tmp_path_factory.mktemp("queue"), "6.7ms")


@pytest.fixture(scope="module")
def impossible(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from _run(tmp_path_factory.mktemp("impossible"), "0.1ms")


@pytest.fixture(scope="module")
def partly(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Open a calibration on three figures, of which no queue has the last one."""
    idle = NOW | {"set": {RATE: "20/s"}, "class": "reads"}
    text = small_calibration(
        "partly",
        {},
        {"now": NOW | {"value": "6.7ms"}, "idle": idle | {"value": "5.3ms"}, "odd": idle | {"value": "90ms"}},
        {"points": 16, "most": 1},
    )
    outcome = sweeps.run(parse_study(text), tmp_path_factory.mktemp("partly"), executor="inline", workers=2)
    with open_session(outcome.path) as session:
        yield session


@pytest.mark.parametrize(
    ("probability", "odds"),
    [
        (0.0, "less than 1 in 1000"),
        (0.004, "1 in 250"),
        (0.11, "1 in 9"),
        (0.5, "1 in 2"),
        (0.667, "2 in 3"),
        (0.95, "19 in 20"),
        (0.9999, "more than 999 in 1000"),
    ],
)
def test_odds_are_small_fractions(probability: float, odds: str) -> None:
    assert name_odds(probability) == odds


def test_small_shares_keep_two_digits() -> None:
    assert [format_share(share) for share in (0.0123, 0.4567, 1.0)] == ["1.2 %", "46 %", "100 %"]


def test_the_answer_names_odds_predictions_and_scores(queue: Session) -> None:
    answer = compose_answer(queue)
    assert answer[0].startswith("Fitted on light load, the rest is preliminary: ")
    assert answer[1].startswith("Fitted on light load, the odds of then: response_mean <= 30ms are ")
    assert "measured: 9 ms" in answer[2]
    assert ", baseline " in answer[2]
    assert answer[3].startswith("Fitted on light load: ")
    assert "of 1 held figures" in answer[3]
    unknowns = tabulate_unknowns(queue)
    assert unknowns[0] == ("unknown", "prior", "fitted on light load")
    assert [row[0] for row in unknowns[1:]] == [
        "array.disk.service.mean",
        "array.raid = 0",
        "array.raid = 10",
    ]
    assert all("ms" in cell for cell in unknowns[1][1:])
    assert [row[0] for row in tabulate_predictions(queue)] == ["figure", "now", "then"]
    assert tabulate_predictions(queue)[0][-2:] == ("score", "baseline")
    assert "CRPS" in reported_kinds.find_reported(queue).summarize([]).tables[1]


@pytest.mark.parametrize(
    ("prior", "unit", "text"),
    [
        ({"log_uniform": ["7391304ns", "9775us"]}, "ns", "log-uniform, 7.39 to 9.78 ms"),
        ({"log_uniform": ["5us", "1ms"]}, "ns", "log-uniform, 5 us to 1 ms"),
        ({"uniform": [0.05, 1.0]}, None, "uniform, 0.05 to 1.0"),
        ({"integer": [2, 16, 2]}, None, "integer, 2 to 16 in steps of 2"),
        ({"choice": ["10", True]}, None, "one of 10, true"),
    ],
)
def test_a_prior_is_shown_in_words(prior: dict[str, object], unit: str | None, text: str) -> None:
    assert format_prior(prior, unit) == text


@pytest.mark.parametrize(
    ("inside", "stage"),
    [
        ([], UNVALIDATED),
        ([True] * 4 + [False], "validated: 4 of 5 held figures are within their 90 % intervals"),
        ([True, False], "calibrated, not validated: 1 of 2 held figures are within their 90 % intervals"),
    ],
)
def test_held_figures_validate_a_fit(inside: list[bool], stage: str) -> None:
    seen = {"is_fitted": True, "inside_90": True}
    unmeasured = {"is_fitted": False, "inside_90": None}
    held = [{"is_fitted": False, "inside_90": one} for one in inside]
    assert name_stage([seen, unmeasured, *held]) == stage


def test_a_poor_fit_names_the_figures_and_how_far_they_are_off() -> None:
    """Simulated 1.4 and 1.2 times what was measured; a figure that is missed is described elsewhere."""
    near = {"figure": "near", "is_fitted": True, "inside_90": True, "median": 1.0, "published": 1.0}
    high = near | {"figure": "high", "inside_90": False, "median": 1.4}
    above = near | {"figure": "above", "inside_90": False, "median": 2.4, "published": 2.0}
    held = high | {"figure": "held", "is_fitted": False}
    assert describe_poor_fit([near] * 4 + [high, held]) == ""
    assert describe_poor_fit([near, high], [high]) == ""
    assert describe_poor_fit([near, high, above]) == (
        "the fit is poor: 2 of 3 fitted figures are outside of their own 90 % intervals (high, above), of "
        "which the medians are 1.2 to 1.4 times what was measured; predictions may be as wrong"
    )


def _next(rank: int, measurement: str, after: float) -> dict[str, object]:
    removed = 1 - (after / 0.14) ** 2
    row = {"rank": rank, "measurement": measurement, "figure": "then", "deviation": 0.14}
    return row | {"deviation_after": after, "variance_removed": removed}


def test_what_to_measure_next_is_one_sentence() -> None:
    rows = [_next(2, "depth 2", 0.13), _next(1, "depth 1", 0.09)]
    assert describe_next(rows) == (
        "measure next: depth 1: it would narrow the prediction of then from ±14 % to ±9 %"
    )
    assert "noticeably: the best of 1, depth 1, " in describe_next([_next(1, "depth 1", 0.139)])
    assert describe_next([]).startswith("there is no further measurement to choose from")


def test_no_measurement_narrows_what_a_missed_figure_widens() -> None:
    sentence = describe_next([_next(1, "depth 1", 0.139)], ["write-d1"])
    assert "write-d1 is missed" in sentence
    assert "±" not in sentence
    assert describe_next([_next(1, "depth 1", 0.09)], ["write-d1"]).startswith("measure next: depth 1: ")


def test_a_class_without_a_fitted_figure_is_widened_too() -> None:
    classes = {"r": "reads", "w": "writes", "w4": "writes", "r4": "reads", "m": "mixed loads"}
    figures = {"figures": {name: {"class": load_class} for name, load_class in classes.items()}}
    predictions = [{"figure": name, "is_fitted": name in {"r", "w"}} for name in classes]
    missed = [{"figure": "w", "class": "writes"}]
    assert list_widened(missed, predictions, figures) == ["writes", "mixed loads"]
    assert (
        list_widened([{"figure": "w", "class": ""}], predictions[:2], {"figures": {"r": {}, "w": {}}}) == []
    )


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0, 1470.0, "0.2 ms (95 %: at most 1.47)"),
        (20.0, 1000.0, "0.2 ms (90 %: 0.02 to 1, unknown within a factor of 10)"),
        (150.0, 250.0, "0.2 ms (90 %: 0.15 to 0.25)"),
    ],
)
def test_an_interval_has_no_end_at_0(low: float, high: float, text: str) -> None:
    row = {"low_90": low, "median": 200.0, "high_90": high, "unit": "us", "published": None}
    assert format_prediction(row) == text


def _unknown(path: str, low: float, high: float, low_after: float, high_after: float) -> dict[str, object]:
    prior = {"prior_q05": low, "prior_q95": high}
    return (
        {"unknown": path, "value": None} | prior | {"posterior_q05": low_after, "posterior_q95": high_after}
    )


def test_unknowns_that_no_figure_determines_are_named() -> None:
    """Times are compared by ratio: from 1 to 100 and from 1 to 10 are factors of 100 and 10."""
    unknowns = [
        _unknown("narrow", 1.0, 100.0, 1.0, 10.0),
        _unknown("wide", 1.0, 100.0, 1.0, 50.0),
        _unknown("share", 0.0, 1.0, 0.1, 0.9),
        {"unknown": "cache", "value": "True", "posterior_share": 0.55},
        {"unknown": "cache", "value": "False", "posterior_share": 0.45},
        {"unknown": "raid", "value": "5", "posterior_share": 0.95},
        {"unknown": "raid", "value": "6", "posterior_share": 0.05},
    ]
    worth = [{"known": "share", "variance_removed": 0.2}, {"known": "narrow", "variance_removed": 0.5}]
    assert name_undetermined(unknowns, worth) == "share, wide, cache (True 55 %, False 45 %)"
    more = [_unknown(f"u{number}", 1.0, 2.0, 1.0, 2.0) for number in range(6)]
    assert name_undetermined(more, []) == "u0, u1, u2, u3, and 2 more"
    assert name_undetermined(unknowns[:1], []) == ""


def test_what_nothing_explains_is_said_to_be_ruled_out(impossible: Session) -> None:
    (sentence,) = compose_answer(impossible)
    assert sentence.startswith("Fitted on light load: ruled out.")
    assert "; missed: now, measured 0.1 ms, nearest draw " in sentence
    assert "array" in sentence
    assert build_figures(impossible) == []
    with pytest.raises(QueryError) as caught:
        write_drawn_study(impossible, 5)
    assert [issue.code for issue in caught.value.issues] == ["query.no-rows"]


def test_figures_that_are_missed_are_named_with_what_follows(partly: Session) -> None:
    (row,) = partly.query("missed_figures").to_pylist()
    assert (row["figure"], row["class"], row["measured"]) == ("odd", "reads", 90_000)
    assert row["low_90"] < row["high_90"] < row["measured"] / 9
    assert row["needed_discrepancy"] > 9
    first, *others = compose_answer(partly)
    assert first.startswith("Fitted on all measured figures: 2 of 3 figures are explained; missed: odd, ")
    assert "measured 90 ms" in first
    assert "Predictions of reads are wider for it, " in first
    assert "--where \"figure <> 'odd'\"" in first
    assert not any("missed" in sentence for sentence in others)
    fits = {cells[0]: cells[1].rpartition(" ")[2] for cells in tabulate_predictions(partly)[1:]}
    assert fits == {"now": "it)", "idle": "it)", "odd": "(missed)"}
    assert "odd, all measured figures, missed" in render_page(partly)
    assert "without odd" in write_drawn_study(partly, 3).partition("\n")[0]


def test_only_the_report_counts_the_draws_it_shows(queue: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("destage.queries.report.reported_kinds.MOST_DRAWN", 4)
    assert not any(" shown: " in sentence for sentence in compose_answer(queue))
    assert any(" shown: " in sentence for sentence in compose_summary(queue, []))


def test_the_report_draws_predictions_and_unknowns(queue: Session) -> None:
    assert [figure.name for figure in build_figures(queue)] == ["predictions", "prior_and_posterior"]
    with pytest.MonkeyPatch.context() as patch:
        # Its analysis of thousands of draws would take minutes, without a line of progress.
        patch.setattr("destage.queries.report.page.build_what_matters", pytest.fail)
        page = render_page(queue)
    assert "published 9" in page
    assert "fitted on light load" in page


def test_draws_become_a_study_that_runs(queue: Session) -> None:
    study = parse_study(write_drawn_study(queue, 8))
    assert study.adding is None
    points = study.points
    shares = [int(str(label).split(", ")[1].split()[0]) for label, _ in points]
    assert sum(shares) == 8
    assert expand(study).count == len(points)
    weights = {row["draw"]: row["weight"] for row in queue.query("posterior").to_pylist()}
    for label, _ in points:
        assert weights[int(str(label).split(",")[0].removeprefix("draw "))] > 0
    with pytest.raises(QueryError) as caught:
        write_drawn_study(queue, 8, "ligth load")
    assert [issue.code for issue in caught.value.issues] == ["query.unknown-fit"]
    assert yaml.safe_load(write_drawn_study(queue, 8, "light load"))["name"] == "queue_drawn"


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Open a calibration in which the disks of one figure are unknown."""
    disks = {"set": {RATE: "150/s", "array.disks": {"unknown": "disks_there"}}, "of": "response_mean"}
    text = small_calibration(
        "named",
        {"disks_there": {"integer": [3, 8]}},
        {"now": NOW | {"value": "6.7ms"}, "there": disks},
        {"points": 32, "most": 2},
    )
    outcome = sweeps.run(parse_study(text), tmp_path_factory.mktemp("named"), executor="inline", workers=2)
    with open_session(outcome.path) as session:
        yield session


def test_draws_have_the_configuration_of_a_figure(named: Session) -> None:
    """Their runs are those of the calibration, which has simulated the same draws in the same figure."""
    study = parse_study(write_drawn_study(named, 5, figure="there"))
    for _, assigned in study.points:
        assert assigned.keys() == {SERVICE, RATE, "array.disks"}
        assert 3 <= int(str(assigned["array.disks"])) <= 8
    store = named.sweep.path.parent.parent
    preview = sweeps.plan(study, store)
    assert (preview.runs, preview.shared) == (2 * len(study.points), preview.runs)


def test_unknowns_of_some_figures_need_the_figure(named: Session) -> None:
    with pytest.raises(QueryError) as caught:
        write_drawn_study(named, 5)
    assert (caught.value.code, caught.value.place) == ("query.unassignable-unknown", "disks_there")
    assert "'there'" in caught.value.message
    with pytest.raises(QueryError) as caught:
        write_drawn_study(named, 5, figure="their")
    assert (caught.value.code, caught.value.place) == ("query.unknown-figure", "their")


def test_a_ceiling_is_in_no_study_of_draws() -> None:
    calibrate = studies.load_fields("call_center_calibrated")["calibrate"]
    with pytest.raises(QueryError) as caught:
        check_drawable(calibrate, "64 MB")
    assert (caught.value.code, caught.value.place) == ("query.unassignable-unknown", "ceiling")
