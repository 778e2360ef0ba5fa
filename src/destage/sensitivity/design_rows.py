"""The rows of a sample for sensitivity analyses, and the points that they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MORRIS, SALTELLI = "morris", "saltelli"


@dataclass(frozen=True, slots=True)
class DesignRows:
    """The sample of a design, once for each combination of the axes that it is crossed with (stratum).

    Attributes:
        method: `MORRIS` or `SALTELLI`.
        axes: The sampled axes, in the order of the columns of `levels`.
        levels: The sample in the unit cube, a row each.
        rows_per_unit: The rows of a trajectory (Morris) or of a base sample (Saltelli).
        points: `stratum`, `row` and `point_id`, stratum by stratum.
    """

    method: str
    axes: Sequence[str]
    levels: np.ndarray
    rows_per_unit: int
    points: pa.Table

    def place(self, point_ids: pa.Array, is_usable: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of the point of each row, by stratum, unit and row of the unit, and the units.

        Units with a point that is not usable are left out, as are strata without a usable point.

        Args:
            point_ids: The ids of all points.
            is_usable: Whether each has the values that are needed.
        """
        places = pc.fill_null(pc.index_in(self.points["point_id"], point_ids), -1).to_numpy()
        places = places.reshape(-1, len(self.levels) // self.rows_per_unit, self.rows_per_unit)
        is_there = (places >= 0) & is_usable[places]
        strata = is_there.any(axis=(1, 2))
        units = np.flatnonzero(is_there[strata].all(axis=(0, 2)))
        return places[strata][:, units], units
