"""Elementary effects of a Morris design: how much the result changes over a step of one axis.

An effect is the difference of the result divided by that of the axis in the unit cube, so that it is the
change over the whole range of the axis at that slope. `mu` is their mean [1], `mu_star` the mean of their
absolute values, which does not cancel where the effect changes its sign [2], and `sigma` their standard
deviation: large where the axis acts together with others or not in proportion.

[1] M. D. Morris, Factorial sampling plans for preliminary computational experiments, Technometrics 33 (1991)
    161-174.
[2] F. Campolongo, J. Cariboni, A. Saltelli, An effective screening design for sensitivity analysis of large
    models, Environmental Modelling & Software 22 (2007) 1509-1518.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Effects:
    """Statistics of the elementary effects, by axis [unit of the result]."""

    mu: np.ndarray
    mu_star: np.ndarray
    sigma: np.ndarray


def elementary_effects(values: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return the effect of each axis by stratum and trajectory.

    Args:
        values: The result by stratum, trajectory and step.
        levels: The sample in the unit cube by trajectory, step and axis; each step changes one axis.
    """
    steps = np.diff(levels, axis=1)
    changes = np.diff(values, axis=2)
    # By trajectory and axis, the step that changes it.
    at = np.abs(steps).argmax(axis=1)
    trajectories = np.arange(len(levels))[:, None]
    sizes = steps[trajectories, at, np.arange(levels.shape[2])]
    effects: np.ndarray = changes[:, trajectories, at] / sizes
    return effects


def summarize_effects(effects: np.ndarray) -> Effects:
    """Return the statistics of effects by stratum, trajectory and axis, all strata together."""
    pooled = effects.reshape(-1, effects.shape[-1])
    sigma = pooled.std(axis=0, ddof=1) if len(pooled) > 1 else np.full(pooled.shape[1], np.nan)
    return Effects(pooled.mean(axis=0), np.abs(pooled).mean(axis=0), sigma)
