"""The cheapest configuration for a load, in Python."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from destage import sizing, sweeps
from destage.errors import ConfigError, Issue
from destage.notebook.html import render_sentences
from destage.notebook.shown_sweep import Sweep
from destage.queries.findings.candidates import Candidate
from destage.queries.findings.sizing_text import Sized, compose_sizing
from destage.spec.documents import MOST_BYTES, read_beginning
from destage.store import Location, locate
from destage.sweeps import Outcome, Study
from destage.sweeps.sizing.price_table import check_prices, example_prices, read_prices_file
from destage.sweeps.sizing.request import FEWEST, MOST, RAID_LEVELS, SizingRequest, list_objectives


@dataclass(frozen=True, slots=True)
class SizingAnswer:
    """The cheapest configurations for a load.

    Attributes:
        sized: All candidates, and what rules them out.
        sweep: The sweep of the search; None if the objectives are out of reach without one.
    """

    sized: Sized
    sweep: Sweep | None

    @property
    def best(self) -> Candidate | None:
        """The cheapest configuration; None if none meets the objectives."""
        return next(iter(self.sized.carrying), None)

    @property
    def runner_up(self) -> Candidate | None:
        """The second cheapest one."""
        return next(iter(self.sized.carrying[1:]), None)

    def __str__(self) -> str:
        return "\n".join(compose_sizing(self.sized))

    def _repr_html_(self) -> str:
        return render_sentences(line for line in compose_sizing(self.sized) if line)


def find_configuration(
    users: int,
    workload: str | Mapping[str, Any],
    *,
    response_p95: str = "30ms",
    subject_to: Sequence[str] = (),
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
    lists = {"subject_to": subject_to, "controllers": controllers, "disks": disks, "raid": raid}
    for name, listed in lists.items():
        if isinstance(listed, str):
            message = f"must be a list of texts, such as [{listed!r}]"
            raise ConfigError([Issue("study.wrong-type", name, message, listed)])
    described = {"use": workload} if isinstance(workload, str) else dict(workload)
    request = SizingRequest(
        workload=described | {"users": users},
        name=f"{workload if isinstance(workload, str) else 'load'}-{users}",
        objectives=list_objectives(response_p95, subject_to),
        prices=_read_prices(prices),
        controllers=controllers,
        disks=disks,
        raid=raid,
        fewest=fewest,
        most=most,
        max_price=budget,
    )
    outcomes: list[Outcome] = []

    def run(study: Study) -> Outcome:
        outcomes.append(sweeps.run(study, None if store is None else locate(store)))
        return outcomes[-1]

    sized = sizing.find_cheapest(request, run)
    return SizingAnswer(sized, Sweep(outcomes[0].path, outcomes[0]) if outcomes else None)


def _read_prices(prices: Mapping[str, Any] | str | Path | None) -> Mapping[str, Any]:
    if prices is None:
        return read_prices_file(example_prices(), "example prices")
    if isinstance(prices, Mapping):
        return check_prices(dict(prices), "prices")
    return read_prices_file(read_beginning(Path(prices), MOST_BYTES), str(prices))
