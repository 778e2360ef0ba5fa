"""Scales of axes: the place of a value between two ends, and the ticks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_MOST_X_TICKS = 9
_DOUBLING = 4.0
_FEW_DECADES = 2


@dataclass(frozen=True, slots=True)
class Scale:
    """A mapping from values to the unit interval, with its ticks.

    Attributes:
        low: The value at 0; on a logarithmic scale its logarithm.
        high: The value at 1; on a logarithmic scale its logarithm.
        zero_at: The logarithm in whose place zero is, if it is on a logarithmic scale.
    """

    low: float
    high: float
    is_log: bool
    ticks: tuple[float, ...]
    zero_at: float | None = None

    def place(self, value: float) -> float:
        """Return the place of a value, 0 to 1."""
        position = value
        if self.is_log:
            position = (
                self.zero_at if value <= 0 and self.zero_at is not None else math.log2(max(value, 1e-300))
            )
        return (position - self.low) / (self.high - self.low)


def choose_y_scale(
    values: Sequence[float], *, is_log: bool, most: float | None = None, steps: int = 5
) -> Scale:
    """Return a y axis that includes all values: from zero, or over decades or 1-2-5 steps of them.

    A logarithmic axis ignores values that are not above zero.

    Args:
        most: The largest possible value.
        steps: The number of steps to aim at.
    """
    positive = [value for value in values if value > 0]
    if is_log and positive:
        ticks = _log_ticks(min(positive), max(positive))
        return Scale(math.log2(ticks[0]), math.log2(ticks[-1]), is_log=True, ticks=ticks)
    top = max(positive, default=1.0)
    step = _nice_step(top / steps)
    count = math.ceil(top * 1.02 / step)
    if most is not None and top <= most:
        count = min(count, round(most / step))
    return Scale(0.0, count * step, is_log=False, ticks=tuple(index * step for index in range(count + 1)))


def choose_x_scale(values: Sequence[float], *, is_log: bool | None = None, at_values: bool = True) -> Scale:
    """Return an x axis: logarithmic where the values spread far, with zero one step to the left, or linear.

    Args:
        is_log: Whether the axis is logarithmic; None decides by the values.
        at_values: Whether the ticks are at the values rather than at round numbers.
    """
    distinct = sorted(set(values))
    positive = [value for value in distinct if value > 0]
    spreads = len(positive) > 1 and positive[-1] / positive[0] >= _DOUBLING
    if positive and (spreads if is_log is None else is_log):
        low, high = math.log2(positive[0]), math.log2(positive[-1])
        zero_at = low - max(1.0, (high - low) / 6) if distinct[0] <= 0 else None
        margin = (high - low) * 0.06 or 0.5
        left = (low if zero_at is None else zero_at) - margin
        ticks = _thinned(distinct) if at_values else _within(_log_ticks(positive[0], positive[-1]), distinct)
        return Scale(left, high + margin, is_log=True, ticks=ticks, zero_at=zero_at)
    low, high = distinct[0], distinct[-1]
    margin = (high - low) * 0.06 or max(abs(high) * 0.5, 1.0)
    left = 0.0 if 0 <= low < (high - low) / 3 and not at_values else low - margin
    ticks = _thinned(distinct) if at_values else _round_ticks(left, high + margin)
    return Scale(left, high + margin, is_log=False, ticks=ticks)


def _round_ticks(low: float, high: float) -> tuple[float, ...]:
    step = _nice_step((high - low) / 6)
    return tuple(index * step for index in range(math.ceil(low / step), math.floor(high / step) + 1))


def _within(ticks: Sequence[float], values: Sequence[float]) -> tuple[float, ...]:
    """Return the ticks among the values, or the values themselves where there are fewer than two."""
    inside = tuple(tick for tick in ticks if values[0] <= tick <= values[-1])
    return inside if len(inside) > 1 else tuple(values)


def _thinned(values: Sequence[float]) -> tuple[float, ...]:
    step = math.ceil(len(values) / _MOST_X_TICKS)
    return tuple(values[::step])


def _nice_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in _STEPS if step * power >= rough * 0.999)


def _log_ticks(low: float, high: float) -> tuple[float, ...]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors = (1.0, 2.0, 5.0) if high / low <= 10**_FEW_DECADES else (1.0,)
    ticks = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
    start = max((index for index, tick in enumerate(ticks) if tick <= low), default=0)
    stop = min((index for index, tick in enumerate(ticks) if tick >= high), default=len(ticks) - 1)
    stop = max(stop, start + 1)
    return tuple(ticks[start : stop + 1])
