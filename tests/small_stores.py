"""Sweeps on disk, written by the store's own writers without a session."""

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from destage.store.files.layout import SweepLayout
from destage.store.state.answers import write_analyses, write_answers
from destage.store.state.head import Generation, Head, claim_generation
from destage.store.state.plan import write_round


def publish(
    layout: SweepLayout,
    *rounds: pa.Table,
    study: str = "name: study\n",
    answers: tuple[pa.Table, pa.Table] | None = None,
    finished: bool = False,
    analyses: Mapping[str, pa.Table] | None = None,
) -> Generation:
    """Publish a generation of a sweep with its study, rounds, answers, certificates and analyses."""
    layout.make()
    generation = claim_generation(layout)
    names = tuple(write_round(generation, None, number, table) for number, table in enumerate(rounds))
    planned = len({run for table in rounds for run in table["run_id"].to_pylist()})
    head = Head(generation.write("study", ".yaml", study.encode()), names, planned=planned, finished=finished)
    if answers is not None:
        found, certificates = write_answers(generation, None, *answers)
        head = Head(head.study, names, found, certificates, planned, finished)
    if analyses:
        head = replace(head, analyses=write_analyses(generation, None, analyses))
    generation.publish(head)
    return generation
