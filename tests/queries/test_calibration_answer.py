"""The answer of a calibration in words, its charts, and the study of its draws."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from destage import sweeps
from destage.errors import QueryError
from destage.queries import open_session
from destage.queries.calibrated_study import write_drawn_study
from destage.queries.calibration_answer import (
    format_share,
    name_odds,
    tabulate_predictions,
    tabulate_unknowns,
)
from destage.queries.report import compose_answer, render_page
from destage.queries.report.figures import build_figures
from destage.queries.session import Session
from destage.sweeps import parse_study
from destage.sweeps.points import expand

STUDY = """
name: queue
scenario:
  workload:
    streams:
    - name: orders
      arrival: {kind: poisson, rate: 100/s}
      operations: {read_fraction: 0.5, size: {kind: constant, value: 8KiB}}
      address: {kind: uniform}
  controller: {cache: {capacity: 0B}}
  array:
    raid: "0"
    disks: 2
    disk: {kind: server, servers: 1, service: {kind: exponential, mean: 5ms}, capacity: 10GB}
  run: {warm_up: {requests: 100}, window: {requests: 1000}}
replicates: 2
calibrate:
  unknowns:
    array.disk.service.mean: {log_uniform: [1ms, 15ms]}
    array.raid: {choice: ["0", "10"]}
  figures:
    now: {set: {workload.streams.0.arrival.rate: 100/s}, of: response_mean, value: VALUE, tolerance: 5%}
    then:
      set: {workload.streams.0.arrival.rate: 150/s}
      of: response_mean
      value: 9ms
      against: [6ms, 20ms]
      odds: ["response_mean <= 30ms"]
  fits: {light load: [now]}
  waves: {points: 32, most: 2}
"""


def _run(folder: Path, value: str) -> Iterator[Session]:
    study = parse_study(STUDY.replace("VALUE", value))
    outcome = sweeps.run(study, folder, executor="inline", workers=2)
    with open_session(outcome.path) as session:
        yield session


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from _run(tmp_path_factory.mktemp("queue"), "6.7ms")


@pytest.fixture(scope="module")
def impossible(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from _run(tmp_path_factory.mktemp("impossible"), "0.1ms")


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
    assert answer[0].startswith("Fitted on light load, the odds of then: response_mean <= 30ms are ")
    assert "published: 9 ms" in answer[1]
    assert "of the plain rule" in answer[1]
    unknowns = tabulate_unknowns(queue)
    assert unknowns[0] == ("unknown", "prior", "fitted on light load")
    assert [row[0] for row in unknowns[1:]] == [
        "array.disk.service.mean",
        "array.raid = 0",
        "array.raid = 10",
    ]
    assert all("ms" in cell for cell in unknowns[1][1:])
    assert [row[0] for row in tabulate_predictions(queue)] == ["figure", "now", "then"]


def test_what_nothing_explains_is_said_to_be_ruled_out(impossible: Session) -> None:
    (sentence,) = compose_answer(impossible)
    assert sentence.startswith("Fitted on light load: ruled out.")
    assert "misses now" in sentence
    assert build_figures(impossible) == []
    with pytest.raises(QueryError) as caught:
        write_drawn_study(impossible, 5)
    assert [issue.code for issue in caught.value.issues] == ["query.no-rows"]


def test_the_report_draws_predictions_and_unknowns(queue: Session) -> None:
    assert [figure.name for figure in build_figures(queue)] == ["predictions", "prior_and_posterior"]
    page = render_page(queue)
    assert "published 9" in page
    assert "fitted on light load" in page


def test_draws_become_a_study_that_runs(queue: Session) -> None:
    study = parse_study(write_drawn_study(queue, 8))
    assert study.calibration is None
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
