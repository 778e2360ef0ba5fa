"""Saltelli's sample for Sobol indices: two independent samples A and B, and A with single columns of B.

Saltelli et al. 2010, "Variance based sensitivity analysis of model output". Base sample i has the rows i w to
i w + w - 1, where w is `count_rows`: A_i, then A_i with column k of B_i for each axis k, then B_i, and for
second-order indices B_i with column k of A_i for each axis k.
"""

import numpy as np


def count_rows(dimensions: int, *, second_order: bool) -> int:
    """Return the number of rows of one base sample."""
    return 2 * dimensions + 2 if second_order else dimensions + 2


def combine_samples(base: np.ndarray, *, second_order: bool) -> np.ndarray:
    """Return the rows for base samples.

    Args:
        base: A and B side by side, one base sample a row.
    """
    dimensions = base.shape[1] // 2
    first, second = base[:, :dimensions], base[:, dimensions:]
    rows = np.repeat(first[:, None, :], count_rows(dimensions, second_order=second_order), axis=1)
    rows[:, dimensions + 1 :] = second[:, None, :]
    for axis in range(dimensions):
        rows[:, 1 + axis, axis] = second[:, axis]
        if second_order:
            rows[:, dimensions + 2 + axis, axis] = first[:, axis]
    return rows.reshape(-1, dimensions)
