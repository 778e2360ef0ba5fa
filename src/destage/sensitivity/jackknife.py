"""Errors of statistics of a sample, from leaving out a part of it at a time.

Jackknife by groups: J. Shao, D. Tu, The Jackknife and Bootstrap, Springer 1995, section 2.3.
"""

from collections.abc import Callable

import numpy as np

MOST_GROUPS = 50


def jackknife_error(
    statistic: Callable[[np.ndarray], np.ndarray], rows: int, units: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """Return the standard errors of statistics of independent rows, and the number of groups.

    Args:
        statistic: Returns the statistics of the rows with these numbers.
        rows: The number of rows, at least 2.
        units: By row, the number of its unit, where only units are independent: at least 2, from 0 (default:
            each row is one).
    """
    units = np.arange(rows) if units is None else units
    groups = min(int(units.max()) + 1, MOST_GROUPS)
    # Every group is spread over the sample: neighbours in a sequence balance each other.
    group = units % groups
    without = np.stack([statistic(np.flatnonzero(group != one)) for one in range(groups)])
    spread = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return np.sqrt(spread * (groups - 1) / groups), groups
