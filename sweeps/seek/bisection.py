"""The search of a single replicate by verdicts alone: the rungs around a bracket, then a bisection.

It is used where no line can be fitted: at the bounds of the search, and where runs above the answer measure
nothing, such as an overloaded array.
"""

from collections.abc import Sequence

from destage.sweeps.seek.ladder import Bracket
from destage.sweeps.seek.probes import BrokenRun, Look, ProbeVerdict, ReplicateResult, SearchState, read_probe


def bisect(ladder: Sequence[int], look: Look, bracket: Bracket) -> ReplicateResult:
    """Return the largest passing value of a replicate.

    Args:
        ladder: The rungs; the first and the last are the bounds of the search.
        bracket: Where another replicate starts to fail.

    Raises:
        MissingRun: The next value has not been run.
    """
    try:
        return _bisect(ladder, look, bracket)
    except BrokenRun:
        return ReplicateResult(SearchState.FAILED, None)


def _bisect(ladder: Sequence[int], look: Look, bracket: Bracket) -> ReplicateResult:
    lower, upper = bracket.lower, bracket.upper
    while lower >= 0 and not read_probe(look, ladder[lower]).passes:
        lower, upper = lower - 1, lower
    while upper < len(ladder) and read_probe(look, ladder[upper]).passes:
        lower, upper = upper, upper + 1
    if upper == len(ladder):
        return ReplicateResult(SearchState.AT_LEAST, ladder[-1], passing=ladder[-1])
    failing = ladder[upper]
    if lower < 0:
        return ReplicateResult(_end(look, failing, SearchState.BELOW), failing - 1, failing=failing)
    passing = ladder[lower]
    while failing - passing > 1:
        middle = (passing + failing) // 2
        if read_probe(look, middle).passes:
            passing = middle
        else:
            failing = middle
    return ReplicateResult(_end(look, failing, SearchState.CERTIFIED), passing, passing, failing)


def _end(look: Look, failing: int, state: SearchState) -> SearchState:
    """Return the state of a search that ends below a value that does not pass."""
    is_undecided = read_probe(look, failing).verdict is ProbeVerdict.UNDECIDED
    return SearchState.UNDECIDED if is_undecided else state
