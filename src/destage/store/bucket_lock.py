"""Who may write, where nothing can be locked: contenders that can only put up a flag, look, and take it down.

Each contender has a flag of its own. Whoever looks *after* putting up his own and sees no other's may write:
of two, the one who put up his flag later must see the other's. Whoever sees a lower flag takes his own down,
so that of several at once the lowest goes ahead (L. Lamport, "A New Solution of Dijkstra's Concurrent
Programming Problem", CACM 17(8), 1974, breaks ties in the same way).
"""

from collections.abc import Generator
from collections.abc import Set as AbstractSet
from enum import Enum, auto


class Step(Enum):
    """What a contender does next."""

    PUT = auto()
    LOOK = auto()
    TAKE_DOWN = auto()
    PAUSE = auto()


def contend(mine: str, looks: int) -> Generator[Step, AbstractSet[str], bool]:
    """Yield a contender's steps; each LOOK is answered with the live flags of others.

    Returns:
        Whether the contender may write; if not, his flag is down.
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
