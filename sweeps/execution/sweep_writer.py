"""What a session writes of its sweep beside rows: study, rounds of the plan, answers, and the head."""

from dataclasses import replace

import pyarrow as pa

from destage.store.files.layout import SweepLayout
from destage.store.state.answers import write_analyses, write_answers
from destage.store.state.head import Head, claim_generation, find_head
from destage.store.state.plan import add_study, write_round
from destage.store.state.removal import remove_exports
from destage.sweeps.execution.analyses import analyse_study
from destage.sweeps.rounds.planner import Planner
from destage.sweeps.study.valid_study import Study


class SweepWriter:
    """Writes a sweep anew, and keeps each stored file that comes out the same.

    Attributes:
        generation: The generation of the files that are written.
        head: The head so far.
    """

    def __init__(self, study: Study, layout: SweepLayout) -> None:
        self._study = study
        self._layout = layout
        self.generation = claim_generation(layout)
        earlier = find_head(layout, past_damage=True)
        self._kept = None if earlier is None else earlier[1]
        self._may_have_exports = earlier is not None
        text = study.stored_text.encode()
        kept = None if self._kept is None else self._kept.study
        self.head = Head(self.generation.keep_or_write(kept, "study", ".yaml", text))

    @property
    def is_replay(self) -> bool:
        """Whether the rounds so far are the first ones of the stored plan of the same study."""
        rounds = self.head.rounds
        return (
            self._kept is not None
            and self._kept.study == self.head.study
            and self._kept.rounds[: len(rounds)] == rounds
        )

    def write_round(self, table: pa.Table, planned: int) -> None:
        """Write the next round; publish it, unless the stored plan begins with the same rounds.

        Args:
            planned: The runs of all rounds so far.
        """
        number = len(self.head.rounds)
        before = () if self._kept is None else self._kept.rounds
        kept = before[number] if number < len(before) else None
        stored = table if number else add_study(table, self._study.stored_text)
        name = write_round(self.generation, kept, number, stored)
        self.head = replace(self.head, rounds=(*self.head.rounds, name), planned=planned)
        if not self.is_replay:
            self.generation.publish(self.head)
        elif number == 0 and self._kept is not None:
            # All of the stored plan, so that no reader sees less of it while it is replayed.
            self.generation.publish(self._kept)

    def remove_exports(self, *, has_new_runs: bool) -> None:
        """Remove the exports of the stored sweep, unless the session has not changed it so far."""
        if self._may_have_exports and (has_new_runs or not self.is_replay):
            remove_exports(self._layout)
            self._may_have_exports = False

    def finish(self, planner: Planner) -> None:
        """Write the answers and analyses after the last round, and publish the finished sweep."""
        names: tuple[str | None, str | None] = (None, None)
        certificates = None
        if (tables := planner.tabulate_answers()) is not None:
            names = write_answers(self.generation, self._kept, *tables)
            certificates = tables[1]
        analyses = dict[str, pa.Table]()
        if self._study.has_sensitivity:
            analyses |= analyse_study(self._study, self._layout, self.head, certificates)
        analyses |= planner.tabulate_analyses()
        self.head = replace(
            self.head,
            answers=names[0],
            certificates=names[1],
            analyses=write_analyses(self.generation, self._kept, analyses),
            finished=True,
        )
        self.generation.publish(self.head)
        self.generation.drop_earlier(self.head)
