"""Tables of a document as classes: the schema and the object that one definition gives."""

import math
from collections.abc import Mapping
from typing import Annotated, Any

import pytest

from destage.spec.typed_tables import key, list_keys, read_table, table, table_schema
from destage.spec.validation import validate_document


@table
class Shelf:
    """A shelf of disks.

    Attributes:
        slots: Not part of the description.
    """

    slots: int = key("Its slots.", minimum=1)


@table
class Source:
    """Where the rack is from."""

    page: str = key("The page.", default="1")


@table
class Rack:
    """A rack of shelves."""

    most: float = key("The largest load.", name="max", default=math.inf)
    name: str = key("Its name.", optional=True)
    shelf: Shelf = key()
    source: Source = key(inline=True, factory=Source)
    spare: Shelf | None = key("Another shelf.", shown=7, default=None)
    height: int | str = key("Its height.", minimum=1, default=42)
    by_name: Mapping[str, Shelf] = key("Other shelves.", minProperties=1, factory=dict)
    weights: tuple[Annotated[float, {"minimum": 0}], ...] = key("The weights.", maxItems=3, default=())
    size: tuple[int, int] | None = key("Width and depth.", default=None)
    form: object = key("The form.", type="string", enum=["round"], default=None)
    computed: int = 0


SHELF = {
    "description": "A shelf of disks.",
    "type": "object",
    "additionalProperties": False,
    "required": ["slots"],
    "properties": {"slots": {"description": "Its slots.", "type": "integer", "minimum": 1}},
}


def test_a_table_has_the_schema_of_its_fields() -> None:
    assert table_schema(Rack) == {
        "description": "A rack of shelves.",
        "type": "object",
        "additionalProperties": False,
        "required": ["shelf"],
        "properties": {
            "max": {"description": "The largest load.", "type": "number"},
            "name": {"description": "Its name.", "type": "string"},
            "shelf": SHELF,
            "page": {"description": "The page.", "type": "string", "default": "1"},
            "spare": {**SHELF, "description": "Another shelf.", "default": 7},
            "height": {
                "description": "Its height.",
                "type": ["integer", "string"],
                "minimum": 1,
                "default": 42,
            },
            "by_name": {
                "description": "Other shelves.",
                "type": "object",
                "minProperties": 1,
                "additionalProperties": SHELF,
            },
            "weights": {
                "description": "The weights.",
                "type": "array",
                "maxItems": 3,
                "items": {"type": "number", "minimum": 0},
            },
            "size": {
                "description": "Width and depth.",
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": {"type": "integer"},
            },
            "form": {"description": "The form.", "type": "string", "enum": ["round"]},
        },
    }


def test_keys_stand_in_the_order_of_fields() -> None:
    assert [one.name for one in list_keys(Rack)][:4] == ["max", "name", "shelf", "source"]


def test_a_table_is_read_with_its_types_and_defaults() -> None:
    written = {
        "max": 4,
        "shelf": {"slots": 12.0},
        "page": "7",
        "by_name": {"low": {"slots": 1}},
        "weights": [1, 2.5],
        "size": [600.0, 800],
    }
    rack = read_table(Rack, written, name="r1", computed=3)
    assert rack == Rack(
        most=4.0,
        name="r1",
        shelf=Shelf(slots=12),
        source=Source(page="7"),
        by_name={"low": Shelf(slots=1)},
        weights=(1.0, 2.5),
        size=(600, 800),
        computed=3,
    )
    assert repr((rack.most, rack.shelf.slots, rack.size)) == "(4.0, 12, (600, 800))"
    assert (rack.height, rack.spare) == (42, None)


@pytest.mark.parametrize(
    ("change", "mistakes"),
    [
        ({"shelf": {}, "hight": 2}, [("x.unknown-key", "hight"), ("x.missing-key", "shelf.slots")]),
        (
            {"spare": {"slots": 0}, "form": "rund"},
            [("x.unknown-name", "form"), ("x.out-of-range", "spare.slots")],
        ),
        ({"weights": [1, 2, 3, 4], "size": [1]}, [("x.too-few", "size"), ("x.out-of-range", "weights")]),
    ],
)
def test_all_mistakes_in_a_table_are_reported(
    change: dict[str, Any], mistakes: list[tuple[str, str]]
) -> None:
    document = {"shelf": {"slots": 1}, **change}
    found = validate_document(document, table_schema(Rack), "x")
    assert [(issue.code, issue.place) for issue in found] == mistakes
