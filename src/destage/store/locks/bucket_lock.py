"""Mutual exclusion without locks: contenders that can only put, list and delete a flag each.

A contender that lists the flags *after* putting its own and sees no other may write: of two contenders, the
later one sees the flag of the earlier one. A contender that sees a lower flag deletes its own, so that of
several at once the lowest wins (L. Lamport, "A New Solution of Dijkstra's Concurrent Programming Problem",
CACM 17(8), 1974, breaks ties in the same way).
"""

from collections.abc import Generator
from collections.abc import Set as AbstractSet
from enum import Enum, auto


class Step(Enum):
    """The next action of a contender."""

    PUT = auto()
    LOOK = auto()
    TAKE_DOWN = auto()
    PAUSE = auto()


def contend(mine: str, looks: int) -> Generator[Step, AbstractSet[str], bool]:
    """Yield a contender's steps; each LOOK is answered with the live flags of others.

    Returns:
        Whether the contender may write; if not, its flag is deleted.
    """
    is_up = False
    for _ in range(looks):
        if not is_up:
            yield Step.PUT
            is_up = True
        others = yield Step.LOOK
        if not others:
            return True
        if min(others) < mine:
            yield Step.TAKE_DOWN
            is_up = False
        yield Step.PAUSE
    if is_up:
        yield Step.TAKE_DOWN
    return False
