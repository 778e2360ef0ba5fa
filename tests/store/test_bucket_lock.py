"""The lock admits one writer in every order of the contenders' steps."""

from collections.abc import Callable, Generator, Iterator
from collections.abc import Set as AbstractSet

import pytest

from destage.store.locks.object_lease import Step, contend

Contender = Generator[Step, AbstractSet[str], bool]


class Run:
    """Contenders for one store, advanced one step at a time."""

    def __init__(self, make: Callable[[str], Contender], names: str) -> None:
        self.flags: set[str] = set()
        self.writers: set[str] = set()
        self.contenders = {name: make(name) for name in names}
        self.steps = {name: next(each) for name, each in self.contenders.items()}

    def advance(self, name: str) -> None:
        """Execute the pending step of one contender."""
        step, seen = self.steps.pop(name), set()
        if step is Step.PUT:
            self.flags.add(name)
        elif step is Step.TAKE_DOWN:
            self.flags.discard(name)
        elif step is Step.LOOK:
            seen = self.flags - {name}
        try:
            self.steps[name] = self.contenders[name].send(seen)
        except StopIteration as end:
            if end.value:
                self.writers.add(name)  # a writer keeps its flag


def explore_orders(make: Callable[[str], Contender], names: str) -> Iterator[Run]:
    """Yield the final state of every order of steps, leaving out pauses, which have no effect."""
    waiting = [""]
    while waiting:
        order = waiting.pop()
        run = Run(make, names)
        for name in order:
            run.advance(name)
            while run.steps.get(name) is Step.PAUSE:
                run.advance(name)
        waiting += [order + name for name in run.steps]
        if not run.steps:
            yield run


@pytest.mark.parametrize(("names", "looks"), [("ab", 2), ("abc", 1)])
def test_no_order_of_steps_admits_two_writers(names: str, looks: int) -> None:
    outcomes = {
        "".join(sorted(run.writers)) for run in explore_orders(lambda name: contend(name, looks), names)
    }
    assert max(map(len, outcomes)) == 1
    assert outcomes >= set(names)  # each contender is admitted in some order


def test_a_rejected_contender_leaves_no_flag() -> None:
    for run in explore_orders(lambda name: contend(name, 1), "abc"):
        assert run.flags == run.writers


def test_the_search_finds_a_contender_that_looks_first() -> None:
    def hasty(name: str) -> Contender:
        others = yield Step.LOOK
        yield Step.PUT
        return not others and bool(name)

    assert any(len(run.writers) == 2 for run in explore_orders(hasty, "ab"))


def test_one_of_several_contenders_is_admitted() -> None:
    run = Run(lambda name: contend(name, 5), "cab")
    while run.steps:
        for name in list(run.steps):
            run.advance(name)
    assert run.writers == {"a"}
