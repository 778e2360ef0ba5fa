"""Fit of a few parameters of a disk on the first half of a measurement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from destage.errors import Issue
from destage.extras import require
from destage.tools.disksim.service_times import MeasuredTrace, compute_loss, simulate_service_ms

FITTABLE: Mapping[str, tuple[float, float]] = {
    "command_time": (0.0, 20e6),
    "bus_rate": (1e5, 1e10),
    "buffer.hit_time": (0.0, 20e6),
    "buffer.write_time": (0.0, 20e6),
    "buffer.lapse": (0.0, 0.5),
}
"""Fields that can be fitted, with minimum and maximum [ns, bytes/s, fraction]."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "buffer.read_ahead": ("segment", "segment_on_arrival", "stream", "track", "track_end", "cylinder_end")
}
"""Fields of which the fit chooses the value with the smallest loss."""

_NO_LAPSE = ("buffer.lapse", 0.0)
"""Ends on its minimum where no read-ahead is abandoned, which is not a sign of a bad fit."""

_STEPS: Mapping[str, float] = {"bus_rate": 0.5e6, "buffer.lapse": 0.03}
_STEP_NS = 0.1e6
_EVALUATIONS = 60
"""Maximum replays of a fit, per parameter."""
_TRIAL_EVALUATIONS = 10
"""The same for each behaviour before one is chosen."""


@dataclass(frozen=True)
class Fit:
    """The result of a fit.

    Attributes:
        warnings: Fitted values that ended on a bound.
    """

    values: Mapping[str, float]
    chosen: Mapping[str, str]
    warnings: Sequence[Issue]


def fit_disk(trace: MeasuredTrace, disk: dict[str, Any], names: Sequence[str], phases: int) -> Fit:
    """Fit a disk on the first half of a measurement; changes `disk`.

    Args:
        names: Fields to fit, of `FITTABLE` and `CHOICES`.

    Raises:
        UsageError: scipy is missing.
    """
    first = trace.first_half()
    numbers = [name for name in names if name in FITTABLE]
    start = {name: _get(disk, name) for name in numbers}
    chosen: dict[str, str] = {}
    for name in (name for name in names if name in CHOICES and _get(disk, name) != "off"):
        # The given behaviour is first, so that it is kept where others are only as good.
        given = str(_get(disk, name))
        losses = {}
        for value in dict.fromkeys((given, *CHOICES[name])):
            _put_all(disk, start)
            _put(disk, name, value)
            losses[value] = _minimise(first, disk, numbers, phases, _TRIAL_EVALUATIONS)[1]
        chosen[name] = min(losses, key=lambda value: losses[value])
        _put_all(disk, start)
        _put(disk, name, chosen[name])
    values, _ = _minimise(first, disk, numbers, phases, _EVALUATIONS)
    _put_all(disk, values)
    return Fit(values, chosen, warn_of_bounds(values))


def warn_of_bounds(values: Mapping[str, float]) -> list[Issue]:
    """Return a warning for each fitted value that ended on its minimum or maximum."""
    warnings = []
    for name, value in values.items():
        low, high = FITTABLE[name]
        if not low < value < high and (name, value) != _NO_LAPSE:
            side = "minimum" if value <= low else "maximum"
            message = f"the fit ended on the {side}; the disk may differ in another parameter"
            warnings.append(Issue("disk.fit-at-bound", name, message, value))
    return warnings


def _minimise(
    trace: MeasuredTrace, disk: dict[str, Any], names: Sequence[str], phases: int, evaluations: int
) -> tuple[dict[str, float], float]:
    """Return the values that minimise the loss (Nelder, Mead 1965), and the loss; changes `disk`."""
    if not names:
        return {}, compute_loss(trace, simulate_service_ms(trace, disk, phases))
    minimize = require("scipy.optimize").minimize
    scale = np.array([_STEPS.get(name, _STEP_NS) for name in names])
    low, high = (np.array([FITTABLE[name][side] for name in names]) for side in (0, 1))

    def values(point: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(np.clip(point * scale, low, high), dtype=np.float64)

    def loss_at(point: npt.NDArray[np.float64]) -> float:
        _put_all(disk, dict(zip(names, map(float, values(point)), strict=True)))
        return compute_loss(trace, simulate_service_ms(trace, disk, phases))

    start = np.array([_get(disk, name) for name in names], dtype=np.float64) / scale
    simplex = np.vstack([start, start + np.eye(len(names))])
    options: Any = {
        "initial_simplex": simplex,
        "maxfev": evaluations * len(names),
        "xatol": 0.02,
        "fatol": 1e-6,
    }
    search: Any = minimize
    result = search(loss_at, start, method="Nelder-Mead", options=options)
    return dict(zip(names, map(float, values(result.x)), strict=True)), float(result.fun)


def _holder(disk: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
    part, _, key = name.rpartition(".")
    return (disk[part] if part else disk), key


def _get(disk: dict[str, Any], name: str) -> Any:
    holder, key = _holder(disk, name)
    # The times of the buffer are null where they equal the command's.
    return disk["command_time"] if holder[key] is None and key.endswith("_time") else holder[key]


def _put(disk: dict[str, Any], name: str, value: float | str) -> None:
    holder, key = _holder(disk, name)
    is_exact = isinstance(value, str) or name == "buffer.lapse"
    holder[key] = value if is_exact else round(float(value))


def _put_all(disk: dict[str, Any], values: Mapping[str, float]) -> None:
    for name, value in values.items():
        _put(disk, name, value)
