"""The cheapest configuration for a load, in Python."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from destage import failure_sizing, sizing, sweeps
from destage.errors import ConfigError, Issue
from destage.notebook.html import render_sentences
from destage.notebook.shown_sweep import Sweep
from destage.queries.findings.candidates import Candidate
from destage.queries.findings.ranged_text import RangedCandidate, RangedSizing, compose_ranged
from destage.queries.findings.sizing_text import Sized, compose_sizing
from destage.spec.documents import MOST_BYTES, read_beginning
from destage.store import Location, locate
from destage.sweeps import Outcome, Study
from destage.sweeps.sizing.failure_states import list_failures
from destage.sweeps.sizing.price_table import check_prices, example_prices, read_prices_file
from destage.sweeps.sizing.request import (
    FEWEST,
    MOST,
    RAID_LEVELS,
    USERS,
    InputRange,
    SizingRequest,
    list_objectives,
)
from destage.sweeps.sizing.uncertain_load import describe_load


@dataclass(frozen=True, slots=True)
class SizingAnswer:
    """The cheapest configurations for a load, or those of the least regret for a range of loads.

    Attributes:
        sized: All candidates, and what rules them out; for a range, their odds and regret.
        sweep: The sweep of the search, for a range that of what each candidate carries; None if the
            objectives are out of reach without one.
    """

    sized: Sized | RangedSizing
    sweep: Sweep | None

    @property
    def best(self) -> Candidate | RangedCandidate | None:
        """The cheapest configuration, or that of the least regret; None if none meets the objectives."""
        return self._ranked[0] if self._ranked else None

    @property
    def runner_up(self) -> Candidate | RangedCandidate | None:
        """The second one."""
        return self._ranked[1] if len(self._ranked) > 1 else None

    @property
    def _ranked(self) -> list[Candidate | RangedCandidate]:
        return [*self.sized.carrying]

    @property
    def _lines(self) -> list[str]:
        sized = self.sized
        return compose_sizing(sized) if isinstance(sized, Sized) else compose_ranged(sized)

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def _repr_html_(self) -> str:
        return render_sentences(line for line in self._lines if line)


def find_configuration(
    users: int | tuple[int, int],
    workload: str | Mapping[str, Any],
    *,
    response_p95: str = "30ms",
    subject_to: Sequence[str] = (),
    during_rebuild: Sequence[str] = (),
    dead_battery: Sequence[str] = (),
    prices: Mapping[str, Any] | str | Path | None = None,
    controllers: Sequence[str] = (),
    disks: Sequence[str] = (),
    raid: Sequence[str] = RAID_LEVELS,
    fewest: int = FEWEST,
    most: int = MOST,
    budget: float | None = None,
    store: str | Location | None = None,
) -> SizingAnswer:
    """Find the cheapest configuration for a load."""
    in_failures = {"during_rebuild": during_rebuild, "dead_battery": dead_battery}
    lists = {"subject_to": subject_to, "controllers": controllers, "disks": disks, "raid": raid}
    for name, listed in (lists | in_failures).items():
        if isinstance(listed, str):
            message = f"must be a list of texts, such as [{listed!r}]"
            raise ConfigError([Issue("study.wrong-type", name, message, listed)])
    known = _read_users(users)
    described = {"use": workload} if isinstance(workload, str) else dict(workload)
    objectives, table = list_objectives(response_p95, subject_to), _read_prices(prices)
    failures = list_failures(in_failures)
    if known.has_width and failures:
        state = next(iter(failures))
        message = "states of failure are searched for one load, not for ranges"
        raise ConfigError([Issue("study.no-effect", state, message, users)])

    def request_at(values: Mapping[str, float]) -> SizingRequest:
        count = int(values[USERS])
        return SizingRequest(
            workload=described | {"users": count},
            name=f"{workload if isinstance(workload, str) else 'load'}-{count}",
            objectives=objectives,
            prices=table,
            controllers=controllers,
            disks=disks,
            raid=raid,
            fewest=fewest,
            most=most,
            max_price=budget,
            failures=failures,
        )

    outcomes: list[Outcome] = []

    def run(study: Study) -> Outcome:
        outcomes.append(sweeps.run(study, None if store is None else locate(store)))
        return outcomes[-1]

    if known.has_width:
        ranged = sizing.judge_ranges(describe_load([known], request_at), run)
        return SizingAnswer(ranged, Sweep(outcomes[-1].path, outcomes[-1]) if outcomes else None)
    request = request_at({USERS: known.low})
    if failures:
        sized = failure_sizing.find_cheapest_in_failures(request, run, sizing.find_cheapest)
    else:
        sized = sizing.find_cheapest(request, run)
    return SizingAnswer(sized, Sweep(outcomes[0].path, outcomes[0]) if outcomes else None)


def _read_users(users: int | tuple[int, int]) -> InputRange:
    low, high = users if isinstance(users, tuple) else (users, users)
    if low > high:
        message = "the low end of the range is above the high end; swap them"
        raise ConfigError([Issue("study.bounds-reversed", "users", message, users)])
    return InputRange(USERS, low, high)


def _read_prices(prices: Mapping[str, Any] | str | Path | None) -> Mapping[str, Any]:
    if prices is None:
        return read_prices_file(example_prices(), "example prices")
    if isinstance(prices, Mapping):
        return check_prices(dict(prices), "prices")
    return read_prices_file(read_beginning(Path(prices), MOST_BYTES), str(prices))
