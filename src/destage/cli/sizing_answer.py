"""The sweeps of `destage size`, and its answer on stdout."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import typer

from destage.cli.hard_stop import HardStop
from destage.cli.output import align_cells, print_data, print_note
from destage.cli.progress import ProgressDisplay
from destage.cli.session import summarize, warn_if_stopped
from destage.cli.text_bars import bar

if TYPE_CHECKING:
    from destage.queries.sizing import Candidate
    from destage.queries.sizing_text import Sized
    from destage.store import Location
    from destage.sweeps import Outcome, Study
    from destage.sweeps.sizing import SizingRequest

_LOADS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
"""The loads of the response curve, as multiples of the asked one."""
_BAR = 30
_SATURATED = 0.98
_STATES = {"above": "never enough", "more_expensive": "more"}


@dataclass(frozen=True, slots=True)
class Load:
    """A point of the response curve.

    Attributes:
        response_p95_us: The 95th percentile of response times [us]; None if the array cannot carry the load.
        is_knee: Whether users per response time is the largest here: the knee by Kleinrock's power
            (Power and deterministic rules of thumb, ICC 1979).
    """

    users: int
    response_p95_us: float | None
    disk_busy_max_fraction: float | None
    is_knee: bool


class Sizing:
    """Runs the sweeps of a request, and reads what they have found."""

    def __init__(
        self, request: "SizingRequest", store: "Location | None", workers: int | None, *, quiet: bool
    ) -> None:
        self._request = request
        self._store = store
        self._workers = workers
        self._quiet = quiet
        self.outcomes: list[Outcome] = []

    def find(self) -> "Sized":
        """Return the cheapest configurations."""
        from destage.queries import open_session
        from destage.queries.sizing import find_battery_case, list_candidates
        from destage.queries.sizing_text import Sized
        from destage.sweeps import sizing

        request = self._request
        study, impossible = sizing.make_search(request)
        bounds = _list_bounds(study)
        with open_session(self._run(study).path) as session:
            candidates = list_candidates(session, bounds)
        carrying = [one for one in candidates if one.disks is not None]
        battery = None
        if carrying:
            parts = _describe(carrying[0])
            with open_session(self._run(sizing.make_comparison(request, [parts])).path) as session:
                battery = find_battery_case(session, parts, sizing.BATTERY, [one.column for one in bounds])
        return Sized(
            candidates=candidates,
            found=sizing.FOUND,
            impossible=len(impossible),
            battery=battery,
            currency=request.prices["currency"],
        )

    def measure_curve(self, sized: "Sized", users: int) -> list[Load]:
        """Return the response of the cheapest configuration against the load."""
        from destage.queries import open_session
        from destage.sweeps import sizing

        if not sized.carrying:
            return []
        loads = sorted({max(1, round(users * share)) for share in _LOADS})
        study = sizing.make_curve(self._request, _describe(sized.carrying[0]), loads)
        with open_session(self._run(study).path) as session:
            rows = session.sql_of_named_columns(
                'SELECT "workload.users" AS users, response_p95_us, response_mean_us, n_overloaded, '
                'disk_busy_max_fraction FROM points ORDER BY "workload.users"'
            ).to_pylist()
        power = [_find_power(row) for row in rows]
        return [
            Load(
                row["users"],
                None if row["n_overloaded"] or _is_saturated(row) else row["response_p95_us"],
                row["disk_busy_max_fraction"],
                each == max(power) > 0,
            )
            for row, each in zip(rows, power, strict=True)
        ]

    def _run(self, study: "Study") -> "Outcome":
        from destage import sweeps

        with HardStop(study.name), ProgressDisplay(study.name, is_quiet=self._quiet) as display:
            outcome = sweeps.run(study, self._store, workers=self._workers, progress=display)
        self.outcomes.append(outcome)
        if warn_if_stopped(outcome) or outcome.failed:
            print_note(summarize(outcome))
            raise typer.Exit(outcome.exit_code)
        return outcome


def print_sizing(
    sized: "Sized", curve: Sequence[Load], request: "SizingRequest", outcomes: "Sequence[Outcome]", users: int
) -> None:
    """Print the answer, and on stderr what it rests on."""
    from destage.queries.sizing_text import compose_sizing

    print_data("\n".join(compose_sizing(sized)) + "\n")
    if curve:
        print_data("\n" + _draw_curve(curve, users))
    prices = request.prices
    source = f" ({prices['source']})" if "source" in prices else ""
    print_note(f"prices of {prices['date']}{source}")
    for outcome in outcomes:
        print_note(summarize(outcome))


def print_candidates(sized: "Sized") -> None:
    """Print every candidate: its price, its disks and why it is not the answer."""
    from destage.queries.sizing_text import format_price, name_configuration

    rows = [("price", "disks", "too few", "configuration")]
    for one in sized.candidates:
        price = "" if one.price is None else format_price(sized, one)
        failing = "" if one.failing is None else str(one.failing)
        disks = "" if one.disks is None else str(one.disks)
        rows.append((price or _STATES.get(one.censored or "", ""), disks, failing, name_configuration(one)))
    print_data("\n" + _align(rows))


def as_json(sized: "Sized", curve: Sequence[Load], outcomes: "Sequence[Outcome]") -> dict[str, Any]:
    """Return the answer as `--json` prints it; units are in the names, bounds in those of their columns."""
    from destage.queries.sizing_text import compose_sizing

    return {
        "answer": compose_sizing(sized),
        "currency": sized.currency,
        "carrying": [asdict(one) | {"odds": one.odds} for one in sized.carrying],
        "battery": None if sized.battery is None else asdict(sized.battery),
        "candidates": [asdict(one) for one in sized.candidates],
        "impossible": sized.impossible,
        "curve": [asdict(one) for one in curve],
        "sweeps": [str(outcome.path) for outcome in outcomes],
    }


def _find_power(row: Mapping[str, Any]) -> float:
    """Return users per response time; 0 where the array cannot carry the load."""
    is_carried = row["response_mean_us"] and not row["n_overloaded"] and not _is_saturated(row)
    return float(row["users"] / row["response_mean_us"]) if is_carried else 0.0


def _is_saturated(row: Mapping[str, Any]) -> bool:
    """Return whether the disks are always busy: the write cache then fills up, if only after the run."""
    return bool(row["disk_busy_max_fraction"] and row["disk_busy_max_fraction"] >= _SATURATED)


def _list_bounds(study: "Study") -> list[Any]:
    from destage.queries.sizing import Bound

    if study.seek is None:
        raise AssertionError("a search has objectives")
    return [
        Bound(one.text, one.column, one.bound, is_upper=one.comparison.startswith("<"))
        for one in study.seek.objectives
    ]


def _describe(one: "Candidate") -> dict[str, Any]:
    from destage.queries.sizing import DISKS

    return {**one.parts, DISKS: one.disks}


def _draw_curve(curve: Sequence[Load], users: int) -> str:
    most = max((one.response_p95_us or 0.0 for one in curve), default=0.0) or 1.0
    rows = [("users", "response p95", "busiest disk", "")]
    for one in curve:
        response = "not carried" if one.response_p95_us is None else f"{one.response_p95_us / 1000:.3g} ms"
        busy = "" if one.disk_busy_max_fraction is None else f"{one.disk_busy_max_fraction:.0%}"
        marks = [*(["asked"] if one.users == users else []), *(["knee"] if one.is_knee else [])]
        drawn = bar((one.response_p95_us or most) / most, _BAR)
        rows.append((str(one.users), response, busy, f"{drawn} {', '.join(marks)}".strip()))
    return _align(rows)


def _align(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as text with aligned columns, the last one to the left."""
    aligned = align_cells([row[:-1] for row in rows]).splitlines()
    width = max(map(len, aligned))
    return "".join(
        f"{line:<{width}}  {row[-1]}".rstrip() + "\n" for line, row in zip(aligned, rows, strict=True)
    )
