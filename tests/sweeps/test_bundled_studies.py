"""Arithmetic of the papers, computed from their own figures: exact or contradictory, as each study states."""

import pytest

from destage.queries.measurement import Measurement
from destage.queries.verdicts import judge
from destage.sql import Database, find_qualifiers, join_statement
from destage.store.published_figures import read_figures
from destage.sweeps import studies

EXPECTED = {
    "exact": "exact",
    "inconsistent": "paper inconsistent",
    "ordering": "ordering holds",
    "predicted": "not predicted",
    "input": "input",
}
EXCEPTIONS = {"a pack is fully charged after three hours": "ordering does not hold"}


@pytest.mark.parametrize("name", studies.names())
def test_arithmetic_has_the_verdict_of_its_kind(name: str) -> None:
    with Database({}) as database:
        for figure in read_figures(studies.load_fields(name)):
            quantity = figure.quantity
            if quantity is None or find_qualifiers(quantity.expression, quantity.places):
                continue
            (row,) = database.query(join_statement(quantity.expression, {})).to_pylist()
            found = judge(figure, Measurement(row["value"], None, None, 1))
            assert found == EXCEPTIONS.get(figure.name, EXPECTED[figure.kind]), figure.name
