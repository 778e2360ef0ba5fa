"""A resume with nothing to do, which writes nothing: its plan is that of a settled sweep."""

import time

import pyarrow.compute as pc

from destage.store.files.digests import digest_of, find_digest
from destage.store.files.layout import SweepLayout
from destage.store.files.parquet import as_parquet
from destage.store.opened.recorded_progress import find_settled_head
from destage.store.state.plan import add_study
from destage.sweeps.execution.outcomes import Outcome
from destage.sweeps.points.point import Expansion
from destage.sweeps.rounds.planner import Planner
from destage.sweeps.study.valid_study import Study


def find_unchanged(study: Study, expansion: Expansion, layout: SweepLayout) -> Outcome | None:
    """Return the outcome of a session if it would change nothing; None if that takes a session to know.

    Studies whose later rounds, answers or analyses follow from results always take one.

    Raises:
        StoreError: The bucket cannot be read.
    """
    began = time.monotonic()
    if study.is_adaptive or (head := find_settled_head(layout)) is None:
        return None
    text = study.stored_text
    if find_digest(head.study) != digest_of(text.encode()) or len(head.rounds) != 1 or head.analyses:
        return None
    plan = Planner(study, expansion).next_round({})
    if plan is None or find_digest(head.rounds[0]) != digest_of(as_parquet(add_study(plan, text))):
        return None
    runs = len(pc.unique(plan["run_id"]))
    return Outcome(
        path=layout.root,
        runs=runs,
        executed=0,
        reused=runs,
        shared=0,
        failed=0,
        seconds=time.monotonic() - began,
        executor="none",
        state="finished",
        messages=(),
    )
