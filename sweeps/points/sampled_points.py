"""The points of a design's rows: which point each row of the sample is, in each combination of the grid."""

import numpy as np
import pyarrow as pa

from destage.sweeps.points.grid import Grid
from destage.sweeps.study.valid_study import Study

SCHEMA = pa.schema(
    [pa.field("stratum", pa.int64()), pa.field("row", pa.int64()), pa.field("point_id", pa.string())]
)


def tabulate_design(study: Study) -> pa.Table:
    """Return the point of every row of a study's design, stratum by stratum.

    A pure function of the study. A sample of few values comes to a point more than once, and a plan has the
    point once: the rows name it each time.

    Returns:
        `stratum`: the combination of the axes that the design is crossed with, from 0; `row`: the row of the
        sample, from 0, as in `Design.sample_levels`; `point_id`: null where `where` leaves the point out. No
        rows if the study has no design.

    Raises:
        UsageError: scipy is not installed.
        ConfigError: The condition or a derived parameter is invalid.
    """
    if study.design is None:
        return SCHEMA.empty_table()
    grid = Grid(study)
    steps = grid.rows
    ids = np.full(grid.count, None, object)
    for block in grid.list_blocks(repeats=True):
        ids[block.positions] = grid.identify(block).to_numpy(zero_copy_only=False)
    # The design is the outermost dimension: the strata of one of its steps are neighbours.
    found = ids.reshape(-1, grid.count // len(np.unique(steps)))[steps].T
    strata, rows = found.shape
    return pa.table(
        {
            "stratum": np.repeat(np.arange(strata), rows),
            "row": np.tile(np.arange(rows), strata),
            "point_id": pa.array(found.ravel(), pa.string()),
        },
        schema=SCHEMA,
    )
