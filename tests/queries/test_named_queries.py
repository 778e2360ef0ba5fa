"""Named queries: their headers, their parameters, which study each is for."""

import re
from pathlib import Path

import pytest

from destage.errors import QueryError
from destage.queries import Session, list_queries
from destage.queries.named.named_queries import NamedQuery, Parameter, find_query
from destage.queries.named.study_kinds import KINDS

FILES = sorted((Path(__file__).parents[2] / "queries" / "sql").glob("*.sql"))


def test_every_file_is_a_query_with_a_complete_header() -> None:
    queries = list_queries()
    assert len(queries) == len(FILES)
    for query in queries:
        assert query.studies in {"seek", "minimum", "replay", "fixed", "any"}
        assert query.purpose.endswith(".")
        assert "one per" in query.row
        assert {parameter.name for parameter in query.parameters} == set(re.findall(r"\$(\w+)", query.sql))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_has_the_name_of_its_query(path: Path) -> None:
    text = path.read_text()
    name = re.search(r"-- name: (\w+)", text)
    assert name is not None
    assert path.stem in {name[1], *(f"{name[1]}_{kind}" for kind in KINDS)}


def test_each_kind_of_study_has_a_design_space() -> None:
    assert {name: find_query("design_space", kind).studies for name, kind in KINDS.items()} == {
        "seek": "seek",
        "minimum": "seek",
        "replay": "replay",
        "fixed": "fixed",
    }


def test_an_unknown_query_is_an_error_with_the_available_ones() -> None:
    with pytest.raises(QueryError) as caught:
        find_query("nope", KINDS["seek"])
    assert caught.value.code == "query.unknown-query"
    assert {"design_space", "runs_summary"} <= set(caught.value.data["available"])


def test_a_query_for_another_kind_of_study_is_an_error() -> None:
    with pytest.raises(QueryError) as caught:
        find_query("users_against_cache", KINDS["fixed"])
    assert (caught.value.code, caught.value.place) == ("query.wrong-study-kind", "users_against_cache")
    assert caught.value.data == {"studies": ("seek",), "kind": "fixed"}


def test_parameters_have_defaults_types_and_units() -> None:
    users = Parameter("users", "users", 39.0, "how many to carry")
    query = NamedQuery("q", "any", "p.", (users,), "one per point", "SELECT $users")
    assert query.values({}) == {"users": 39.0}
    assert query.values({"users": "60"}) == {"users": 60.0}
    with pytest.raises(QueryError) as caught:
        query.values({"users": "many"})
    assert (caught.value.code, caught.value.place) == ("query.bad-parameter", "q.users")
    with pytest.raises(QueryError) as caught:
        query.values({"user": "1"})
    assert (caught.value.code, caught.value.place) == ("query.unknown-parameter", "q")
    assert caught.value.data["allowed"] == ("users",)


def test_the_answer_column_has_the_name_of_the_sought_value(seek_session: Session) -> None:
    rows = seek_session.query("design_space").to_pylist()
    assert [row["users_supported"] for row in rows] == [32.0, 42.0]
    assert [(row["users_supported_low"], row["users_supported_high"]) for row in rows] == [(27, 37), (37, 47)]
    assert [row["limiting"] for row in rows] == ["disk", "disk"]
    assert [row["write_hit_ratio"] for row in rows] == pytest.approx([0.2, 0.3])
    assert "workload.users" not in rows[0]
