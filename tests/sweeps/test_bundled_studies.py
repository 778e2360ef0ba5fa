"""The bundled studies' figures: arithmetic is as stated, and the headlines fit one screen."""

import pytest

from destage.queries.published.measurement import Measurement
from destage.queries.published.verdicts import CONTRADICTS, FOLLOWS, judge
from destage.sql import Database, find_qualifiers, join_statement
from destage.store.schemas.published_figures import read_figures
from destage.sweeps import studies

EXPECTED = {"arithmetic": FOLLOWS, "inconsistent": CONTRADICTS}


@pytest.mark.parametrize("name", studies.names())
def test_arithmetic_has_the_verdict_of_its_kind(name: str) -> None:
    with Database({}) as database:
        for figure in read_figures(studies.load_fields(name)):
            quantity = figure.quantity
            if quantity is None or find_qualifiers(quantity.expression, quantity.places):
                continue
            (row,) = database.query(join_statement(quantity.expression, {})).to_pylist()
            value = row["value"]
            verdict = judge(figure, Measurement(value, None, None, 1, (value, value)))
            assert verdict.why.startswith(EXPECTED[figure.kind]), figure.name


def test_headlines_fit_one_screen_and_cover_each_document() -> None:
    headlines: dict[str, int] = {}
    for name in studies.names():
        study = studies.load_fields(name)
        if study.get("published"):
            page = study["paper"]["page"]
            headlines[page] = headlines.get(page, 0) + sum("headline" in row for row in study["published"])
    assert len(headlines) == 5
    assert 25 <= sum(headlines.values()) <= 30
    assert min(headlines.values()) >= 2
