"""Equal questions have equal bytes as answers: no figure depends on the order in which numbers are added."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import destage.queries
from destage.queries import Session
from destage.queries.tables import views

ANY_ORDER = re.compile(
    r"(?<!list_)\b(avg|mean|stddev\w*|var_\w+|variance|fsum|corr|covar\w*|regr_\w+)\s*\(", re.IGNORECASE
)
"""Aggregates that add floating-point numbers as threads come by them."""


RESULT = "response_p95_us"


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    """Give a sweep of one point, with quantiles for two values."""
    return make_session([{"point_id": "p", "replicate": 0, "run_id": "r", "response_p95_us": 1.0}])


def test_the_order_of_values_changes_no_digit(session: Session) -> None:
    random = np.random.default_rng(1)
    values = random.lognormal(sigma=4, size=9)
    statement = (
        "SELECT mean_of(x) AS mean, sum_of(x) AS sum, standard_error(x) AS error, avg(x) AS plain "
        "FROM (SELECT unnest($values::DOUBLE[]) AS x)"
    )
    rows = [
        session.sql(statement, {"values": [*random.permutation(values).tolist(), None]}).to_pylist()[0]
        for _ in range(50)
    ]
    assert rows[0]["mean"] == pytest.approx(values.mean())
    assert rows[0]["sum"] == pytest.approx(values.sum())
    assert rows[0]["error"] == pytest.approx(values.std(ddof=1) / 3)
    assert len({row["plain"] for row in rows}) > 1
    assert len({(row["mean"], row["sum"], row["error"]) for row in rows}) == 1


def test_the_half_width_is_that_of_the_t_interval(session: Session) -> None:
    statement = "SELECT half_width(x) AS found FROM (SELECT unnest($values::DOUBLE[]) AS x)"
    found = session.sql(statement, {"values": [1.0, 3.0, None]}).to_pylist()[0]["found"]
    assert found == pytest.approx(12.7062, rel=1e-5)


def test_threads_change_no_digit(session: Session) -> None:
    statement = (
        "SELECT mean_of(x) AS mean, standard_error(x) AS error "
        "FROM (SELECT i % 3 AS point, sin(i) * exp(i % 40) AS x FROM range(1000000) t(i)) "
        "GROUP BY point ORDER BY point"
    )
    first = session.sql(statement)
    assert all(session.sql(statement).equals(first) for _ in range(5))


def test_points_have_the_digits_of_the_sorted_values(make_session: Callable[..., Session]) -> None:
    """Also where the number of rows of a point is known, so that they need not be sorted as a list."""
    random = np.random.default_rng(2)
    values = random.lognormal(sigma=4, size=(20, 7)).astype(object)
    values[3, 2] = values[4, 0] = None
    values[6, :] = None
    runs = [
        {"point_id": f"p{at:02}", "replicate": replicate, "run_id": f"{at}-{replicate}", RESULT: value}
        for at, row in enumerate(values)
        for replicate, value in enumerate(row)
    ]
    session = make_session(runs)
    assert session.relations.facts.rows_per_point == 7
    statements = [
        views.build_points_view([], [], [RESULT], repeats_replicates=False, rows_per_point=rows)
        for rows in (None, 7)
    ]
    plain, sized = (session.sql(f"FROM ({text}) ORDER BY plan_row").to_pylist() for text in statements)
    assert plain == sized
    for row, written in zip(sized, values.tolist(), strict=True):
        known = [value for value in written if value is not None]
        assert row[RESULT] == (pytest.approx(math.fsum(known) / len(known)) if known else None)


def test_no_statement_adds_in_any_order() -> None:
    folder = Path(destage.queries.__file__).parent / "sql"
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.sql")} | views.MACROS
    for repeats, rows in ((False, None), (True, None), (False, 5)):
        texts[f"points {repeats} {rows}"] = views.build_points_view(
            [], [], ["response_p95_us"], repeats_replicates=repeats, rows_per_point=rows
        )
    assert "knee.sql" in texts
    for name, text in texts.items():
        assert not ANY_ORDER.search(re.sub(r"--.*", "", text)), name
