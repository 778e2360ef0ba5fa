"""The places of boxes on floors, and of arrows between them of which few cross (Sugiyama's method)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from architecture.imports import Arrows

GAP = 18.0
_PASSAGE = 10.0
"""The width of an arrow that passes a floor."""
_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one box to another, over the floors between them."""

    source: str
    target: str
    places: tuple[tuple[float, int], ...]
    """The middle on each floor [px] and the floor."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes by name, each with its middle [px] and floor, and the arrows."""

    boxes: Mapping[str, tuple[float, int]]
    arrows: Sequence[Arrow]


class _Stop(tuple[str, ...]):
    """A box (its name), or the passage of an arrow through a floor (source, target, floor)."""

    __slots__ = ()


def place_boxes(
    floors: Sequence[Sequence[str]], arrows: Arrows, widths: Mapping[str, float], room: float
) -> Layout:
    """Place the boxes of all floors within `room` pixels."""
    rows, ways = _add_passages(floors, arrows)
    above, below = _list_neighbours(ways)

    def width(stop: _Stop) -> float:
        return widths[stop[0]] if len(stop) == 1 else _PASSAGE

    rows = _order(rows, above, below)
    middles = _spread(rows, (above, below), width, room)
    boxes = {stop[0]: (middles[stop], at) for at, row in enumerate(rows) for stop in row if len(stop) == 1}
    floor_of = {stop: at for at, row in enumerate(rows) for stop in row}
    return Layout(
        boxes,
        [
            Arrow(way[0][0], way[-1][0], tuple((middles[stop], floor_of[stop]) for stop in way))
            for way in ways
        ],
    )


def _add_passages(
    floors: Sequence[Sequence[str]], arrows: Arrows
) -> tuple[list[list[_Stop]], list[list[_Stop]]]:
    """Return all stops of each floor, and the stops of each arrow."""
    floor_of = {name: at for at, floor in enumerate(floors) for name in floor}
    rows = [[_Stop((name,)) for name in floor] for floor in floors]
    ways = []
    for source in sorted(arrows):
        for target in sorted(arrows[source]):
            between = range(floor_of[source] + 1, floor_of[target])
            passages = [_Stop((source, target, str(floor))) for floor in between]
            for floor, passage in zip(between, passages, strict=True):
                rows[floor].append(passage)
            ways.append([_Stop((source,)), *passages, _Stop((target,))])
    return rows, ways


Neighbours = dict[_Stop, list[_Stop]]


def _list_neighbours(ways: Sequence[Sequence[_Stop]]) -> tuple[Neighbours, Neighbours]:
    above: Neighbours = {}
    below: Neighbours = {}
    for way in ways:
        for upper, lower in pairwise(way):
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
    return above, below


def _order(rows: list[list[_Stop]], above: Neighbours, below: Neighbours) -> list[list[_Stop]]:
    """Return the floors in the order with the fewest crossings that sorting by means finds."""
    best, fewest = rows, _count_crossings(rows, below)
    for turn in range(_ROUNDS):
        rows = [list(row) for row in rows]
        down = turn % 2 == 0
        for at in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            fixed = {stop: place for place, stop in enumerate(rows[at - 1 if down else at + 1])}
            neighbours = above if down else below
            scale = len(fixed) / max(len(rows[at]), 1)
            keys = {
                stop: _mean([fixed[other] for other in neighbours.get(stop, ())], place * scale)
                for place, stop in enumerate(rows[at])
            }
            rows[at].sort(key=keys.__getitem__)
        _swap_neighbours(rows, above, below)
        crossings = _count_crossings(rows, below)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _swap_neighbours(rows: list[list[_Stop]], above: Neighbours, below: Neighbours) -> None:
    """Exchange neighbours on a floor as long as that saves crossings."""
    for at, row in enumerate(rows):
        places = [
            {stop: place for place, stop in enumerate(rows[other])} if 0 <= other < len(rows) else {}
            for other in (at - 1, at + 1)
        ]

        def cross(left: _Stop, right: _Stop, places: list[dict[_Stop, int]] = places) -> int:
            return sum(
                fixed[one] > fixed[two]
                for fixed, neighbours in zip(places, (above, below), strict=True)
                for one in neighbours.get(left, ())
                for two in neighbours.get(right, ())
            )

        for place in range(len(row) - 1):
            if cross(row[place], row[place + 1]) > cross(row[place + 1], row[place]):
                row[place], row[place + 1] = row[place + 1], row[place]


def _count_crossings(rows: Sequence[Sequence[_Stop]], below: Neighbours) -> int:
    count = 0
    for upper, lower in pairwise(rows):
        places = {stop: place for place, stop in enumerate(lower)}
        ends = [sorted(places[other] for other in below.get(stop, ())) for stop in upper]
        for at, mine in enumerate(ends):
            for others in ends[at + 1 :]:
                count += sum(one > two for one in mine for two in others)
    return count


def _spread(
    rows: Sequence[Sequence[_Stop]],
    neighbours: tuple[Neighbours, Neighbours],
    width: Callable[[_Stop], float],
    room: float,
) -> dict[_Stop, float]:
    """Return the middle of each stop, near those of its neighbours."""
    middles: dict[_Stop, float] = {}
    for row in rows:
        for place, stop in enumerate(row):
            middles[stop] = (place + 0.5) * room / len(row)
    for turn in range(_ROUNDS):
        for row in rows if turn % 2 == 0 else rows[::-1]:
            wishes = [
                _mean([middles[other] for side in neighbours for other in side.get(stop, ())], middles[stop])
                for stop in row
            ]
            middles.update(zip(row, _keep_apart(row, wishes, width, room), strict=True))
    return middles


def _keep_apart(
    row: Sequence[_Stop], wishes: Sequence[float], width: Callable[[_Stop], float], room: float
) -> list[float]:
    """Return middles near the wishes, in order, without overlap and within the room."""
    distances = [0.0]
    for left, right in pairwise(row):
        distances.append(distances[-1] + (width(left) + width(right)) / 2 + GAP)
    # Isotonic regression of the wishes less the distances: groups that would overlap share their mean.
    groups: list[tuple[float, int]] = []
    for wish, distance in zip(wishes, distances, strict=True):
        total, count = wish - distance, 1
        while groups and groups[-1][0] / groups[-1][1] > total / count:
            total, count = total + groups[-1][0], count + groups[-1][1]
            groups.pop()
        groups.append((total, count))
    least = width(row[0]) / 2
    most = max(least, room - distances[-1] - width(row[-1]) / 2)
    offsets = [min(max(total / count, least), most) for total, count in groups for _ in range(count)]
    return [offset + distance for offset, distance in zip(offsets, distances, strict=True)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
