"""What becomes of a batch: a receipt once its rows are committed, a failure, or why the session must end."""

from dataclasses import dataclass

import pyarrow as pa

from destage.errors import Issue
from destage.sweeps.workers.batches import Batch


@dataclass(frozen=True, slots=True)
class Receipt:
    """A committed batch, as the driver sees it.

    Attributes:
        seconds: Engine time [s].
        facts: Per run the id, status, error kind, error and the columns that planning needs.
        fragment: The name of the fragment that has its rows, perhaps with those of other batches.
    """

    seconds: float
    facts: pa.Table
    fragment: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A batch that a worker could not execute, for reasons other than its configurations.

    Attributes:
        kind: `infrastructure`, `oom`, `stopped` if the session ended its runs, or `lost` if its worker failed
            for another batch, before this one was executed or committed.
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class FinishedBatch:
    """A batch that an executor has returned.

    Attributes:
        result: Its receipt, its failure, or why the worker must not execute runs of this sweep.
    """

    batch: Batch
    result: Receipt | Failure | Issue
