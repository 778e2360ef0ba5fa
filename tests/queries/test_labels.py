"""Labels of charts never overlap each other, a mark, or the line of another label to its mark."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from destage.queries.report.drawing.chart_labels import Box, Label, place_label

BOUNDS = Box(40, 20, 500, 220)
PLACES = st.tuples(st.floats(45, 535), st.floats(25, 235))
TEXTS = st.text("abcdefgMW019 %≥", min_size=1, max_size=30)


def place(wanted: list[tuple[tuple[float, float], str]]) -> list[Label]:
    """Place the labels of marks one after the other, as a chart does."""
    marks = [Box(x - 7, y - 7, 14, 14) for (x, y), _ in wanted]
    placed: list[Label] = []
    for (x, y), text in wanted:
        label = place_label(text, x, y, marks, BOUNDS, labels=placed)
        if label is not None:
            placed.append(label)
    return placed


@given(st.lists(st.tuples(PLACES, TEXTS), max_size=25))
def test_no_two_labels_overlap(wanted: list[tuple[tuple[float, float], str]]) -> None:
    placed = place(wanted)
    for one, other in combinations(placed, 2):
        assert one.box.overlap(other.box) == 0
        assert not any(piece.overlap(other.box) for piece in one.list_pieces())
        assert not any(piece.overlap(one.box) for piece in other.list_pieces())
    marks = [Box(x - 7, y - 7, 14, 14) for (x, y), _ in wanted]
    for label in placed:
        assert not any(label.box.overlap(mark) for mark in marks)
        assert BOUNDS.contains(label.box)


def test_a_label_is_nearest_to_its_own_mark() -> None:
    """As of the published 39 and 51 at one cache size, whose labels were beside one another's diamonds."""
    places = {"published 39": (200.0, 131.0), "published 51": (200.0, 120.0)}
    marks = [Box(x - 7, y - 7, 14, 14) for x, y in places.values()]
    line = [Box(x, 129.0, 4, 4) for x in range(40, 540, 4)]
    placed: list[Label] = []
    for text, (x, y) in places.items():
        label = place_label(text, x, y, marks, BOUNDS, labels=placed, lines=line)
        assert label is not None
        placed.append(label)
        middle = label.box.top + label.box.height / 2
        gaps = {at: abs(middle - at) for _, at in places.values()}
        assert min(gaps, key=gaps.__getitem__) == y


def test_labels_of_one_place_are_around_it_and_then_farther() -> None:
    placed = place([((200.0, 120.0), f"label {at}") for at in range(9)])
    assert len(placed) == 9
    assert [label.leader is None for label in placed] == [True] * 6 + [False] * 3


def test_a_label_without_a_free_place_is_left_out() -> None:
    crowd = [Box(x, y, 20, 20) for x in range(0, 600, 15) for y in range(0, 300, 15)]
    assert place_label("a label", 200, 120, crowd, BOUNDS) is None


def test_a_label_beside_its_mark_needs_no_line() -> None:
    label = place_label("a label", 200, 120, [Box(193, 113, 14, 14)], BOUNDS)
    assert label is not None
    assert label.leader is None
