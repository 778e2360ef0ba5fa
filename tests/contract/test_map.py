"""The pictures of docs/architecture.md: boxes stand apart, arrows are true, and a path follows calls."""

from itertools import pairwise

import pytest
from architecture.core import SIMULATION, Call, find_function, follow
from architecture.imports import drop_implied
from architecture.layout import place_boxes
from import_measures import count_floors, find_circles

FLOORS = (("cli",), ("plan", "report"), ("rows",), ("errors",))
ARROWS = {
    "cli": {"plan", "report", "rows", "errors"},
    "plan": {"rows", "errors"},
    "report": {"errors"},
    "rows": {"errors"},
    "errors": set[str](),
}


def test_an_arrow_that_a_longer_way_implies_is_left_out() -> None:
    assert drop_implied(ARROWS) == {
        "cli": {"plan", "report"},
        "plan": {"rows"},
        "report": {"errors"},
        "rows": {"errors"},
        "errors": set(),
    }


def test_boxes_of_a_floor_stand_apart_within_the_picture() -> None:
    widths = dict.fromkeys(ARROWS, 100.0)
    layout = place_boxes(FLOORS, drop_implied(ARROWS), widths, 400)
    for floor, names in enumerate(FLOORS):
        middles = sorted(middle for middle, at in layout.boxes.values() if at == floor)
        assert len(middles) == len(names)
        assert all(right - left > 100 for left, right in pairwise(middles))
        assert all(50 <= middle <= 350 for middle in middles)


def test_an_arrow_passes_each_floor_between_its_boxes() -> None:
    layout = place_boxes(FLOORS, drop_implied(ARROWS), dict.fromkeys(ARROWS, 100.0), 400)
    (arrow,) = (arrow for arrow in layout.arrows if arrow.source == "report")
    assert [floor for _, floor in arrow.places] == [1, 2, 3]
    passage = arrow.places[1][0]
    assert abs(passage - layout.boxes["rows"][0]) > 50


def test_floors_are_the_longest_path_of_imports() -> None:
    assert count_floors(ARROWS) == 4


def test_each_circle_of_imports_is_found() -> None:
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"e", "a"}, "e": {"d"}}
    circles = find_circles(arrows)
    assert sorted(sorted(set(circle)) for circle in circles) == [["a", "b", "c"], ["d", "e"]]
    for circle in circles:
        assert circle[0] == circle[-1]
        assert all(target in arrows[importer] for importer, target in pairwise(circle))


def test_a_path_whose_step_is_not_called_is_rejected() -> None:
    with pytest.raises(LookupError, match=r"start does not lead to cross_link"):
        follow((Call("front_end.rs", "start"), Call("front_end.rs", "cross_link")))


def test_a_path_follows_events_to_their_handlers() -> None:
    steps = follow((Call("front_end.rs", "cross_link"), Call("request_path.rs", "on_link")))
    assert [step.function for step, _ in steps] == ["cross_link()", "on_link()"]


def test_a_function_has_its_own_body_and_description() -> None:
    body, description = find_function((SIMULATION / "request_path.rs").read_text(), "on_link")
    assert description == "The link has moved the data of a request"
    assert "self.write(request)" in body
    assert "fn " not in body
