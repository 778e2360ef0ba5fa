"""Points of conditional axes as rows in which each axis has a value.

Where the condition of an axis is false, the axis has no effect, and one point stands for all of its values.
Taken for a value of its own, this lack would have the effect of whatever the condition depends on.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from destage.store.schemas.axis_codes import AxisCodes

_SEED = 0


def write_out(
    axes: Mapping[str, AxisCodes], sampled: Collection[str]
) -> tuple[np.ndarray, dict[str, AxisCodes]]:
    """Return rows in which each axis has a value: the place of the point of each, and the axes by row.

    A point without a value (code -1) has a row for each value of the axis, as in the grid as written. On a
    sampled axis it keeps one row: such points share the values of the axis evenly, in an order by chance, as
    if the design had drawn them.

    Args:
        sampled: The axes that were sampled at random.
    """
    count = max((len(one.codes) for one in axes.values()), default=0)
    rows = np.arange(count)
    columns = {path: one.codes for path, one in axes.items()}
    for path, one in axes.items():
        is_inert = columns[path] < 0
        if not is_inert.any() or one.count == 0:
            continue
        if path in sampled:
            filled = columns[path].copy()
            spread = np.arange(is_inert.sum()) * one.count // is_inert.sum()
            filled[is_inert] = np.random.default_rng(_SEED).permutation(spread)
            columns[path] = filled
            continue
        repeats = np.where(is_inert, one.count, 1)
        ends = np.cumsum(repeats)
        within = np.arange(ends[-1]) - np.repeat(ends - repeats, repeats)
        rows = np.repeat(rows, repeats)
        columns = {name: np.repeat(codes, repeats) for name, codes in columns.items()}
        columns[path] = np.where(columns[path] < 0, within, columns[path])
    return rows, {path: replace(one, codes=columns[path]) for path, one in axes.items()}
