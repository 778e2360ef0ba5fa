"""Points of conditional axes as rows in which each axis has a value."""

import numpy as np
import pyarrow as pa

from destage.sensitivity.analysis import analyse
from destage.sensitivity.point_values import PointValues, write_out
from destage.store.schemas.axis_codes import AxisCodes


def test_a_listed_axis_has_a_row_for_each_value() -> None:
    axes = {
        "a": AxisCodes(np.array([0, 1, 1]), (1, 2), is_ordered=True),
        "b": AxisCodes(np.array([-1, 0, 1]), (5, 6), is_ordered=True),
    }
    rows, found = write_out(axes, ())
    assert rows.tolist() == [0, 0, 1, 2]
    assert found["a"].codes.tolist() == [0, 0, 1, 1]
    assert found["b"].codes.tolist() == [0, 1, 0, 1]


def test_a_sampled_axis_without_effect_has_its_own_share_only() -> None:
    """The result is x where `on`, 10 elsewhere: x has little of the variance, and none of that of `on`."""
    random = np.random.default_rng(5)
    count = 2000
    on, x = np.arange(count) % 2, random.random(count)
    result = np.where(on == 1, x, 10.0)
    points = pa.table(
        {
            "point_id": [f"p{at}" for at in range(count)],
            "label": pa.nulls(count, pa.string()),
            "on": on,
            "x": pa.array(x, mask=on == 0),
        }
    )
    measured = result[:, None]
    found = PointValues("y", points, measured, np.zeros(measured.shape, bool), np.arange(count))
    rows = {
        row["axis"]: row for row in analyse(found, ["on", "x"], None, ["x"], ["x"])["sensitivity"].to_pylist()
    }
    # E(y | x) = (x + 10) / 2 has the variance 1/48.
    assert abs(rows["x"]["first_order"] - 1 / 48 / result.var()) < 0.01
    assert rows["on"]["first_order"] > 0.99
