"""Which point of a seek starts from the answer of which other one.

Every few points in the order of the axes one, the leader, starts from the study's own value. The others wait
for the answer of the leader that differs from them in the fewest axes. An answer does not depend on the start
of its search (`seek_ladder`), so that added axis values, which change the leaders, change no answer.
"""

from collections.abc import Mapping, Sequence

from destage.sweeps.points import Point

SHARE = 4
"""One leader among so many points."""
_NEAREST = 3
"""Leaders compared with a point, before and after it each."""


def find_leaders(points: Sequence[Point]) -> Mapping[str, Point]:
    """Return the leader of each point that has one, by the point's id."""
    leaders = points[::SHARE]
    found = {}
    for index, point in enumerate(points):
        if index % SHARE == 0:
            continue
        middle = index // SHARE
        near = leaders[max(middle - _NEAREST + 1, 0) : middle + _NEAREST + 1]
        axes = point.axes
        found[point.id] = min(near, key=lambda leader: _count_differences(axes, leader.axes))
    return found


def _count_differences(axes: Mapping[str, object], others: Mapping[str, object]) -> int:
    return sum(others[path] != value for path, value in axes.items())
