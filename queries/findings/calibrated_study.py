"""A study of what a calibration has left: draws of its posterior as points to sweep from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from destage.errors import QueryError
from destage.queries.findings.calibration_answer import list_missed
from destage.queries.opening.session import Session
from destage.spec import quantities
from destage.spec.near_names import suggest

_LEFT_OUT = ("calibrate", "where", "charts", "answer", "published", "paper", "assumptions", "question")
_LIMIT, _CEILING = "limit", "ceiling"
_UNASSIGNABLE = "query.unassignable-unknown"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value that a figure gives to a parameter, as written."""

    value: object


def write_drawn_study(session: Session, count: int, fit: str | None = None, figure: str | None = None) -> str:
    """Return a study whose points are draws of the posterior, each as likely as the others.

    Draws are chosen systematically: one at each of as many equal steps of the weight. A draw with much
    weight is chosen several times and is one point, whose label has its share.

    Args:
        count: The number of draws.
        fit: The name of the fit (default: the last one, which has seen most figures).
        figure: The figure whose configuration the points have (default: that of the scenario).

    Raises:
        QueryError: The calibration has no such fit or figure, the fit is ruled out, or an unknown is not a
            parameter of the points.
    """
    fits = [row["fit"] for row in session.query("calibration").to_pylist()]
    if fit is not None and fit not in fits:
        message = f"no fit has this name{suggest(fit, fits)}"
        raise QueryError("query.unknown-fit", message, fit)
    unknowns = {row["unknown"]: row for row in session.query("unknowns").to_pylist()}
    check_drawable(session.spec["calibrate"], figure)
    assigned = _find_assignments(session.spec["calibrate"], figure)
    chosen = fits[-1] if fit is None else fit
    rows = [row for row in session.query("posterior").to_pylist() if row["fit"] == chosen]
    drawn = _choose([row["weight"] for row in rows], count)
    if not drawn:
        raise QueryError(
            "query.no-rows", "nothing in the prior explains the figures: there is no draw", chosen
        )
    points = [
        {"label": _name_point(rows[index], times, count, unknowns)} | _assign(rows[index], unknowns, assigned)
        for index, times in drawn.items()
    ]
    study = {key: value for key, value in session.spec.items() if key not in _LEFT_OUT}
    study["name"] = f"{study['name']}_drawn"
    labels = {point["label"] for point in points}
    if _LIMIT in unknowns:
        limits = {name: texts for name, texts in study["seek"]["limits"].items() if name in labels}
        study["seek"] = {**study["seek"], "limits": limits}
    study["fitted"] = [
        {
            "parameter": path,
            "value": f"{count} draws of the posterior",
            "on": f"the figures of {session.sweep.name}",
        }
        for path, value in assigned.items()
        if isinstance(value, str)
    ]
    study["points"] = points
    text = yaml.safe_dump(study, sort_keys=False, allow_unicode=True, width=120)
    where = "" if figure is None else f", in the configuration of {figure}"
    missed = ", ".join(missed for fitted, missed in sorted(list_missed(session)) if fitted == chosen)
    without = f", without {missed}, which no draw explains" if missed else ""
    head = f"# {count} draws of the posterior of {session.sweep.name}, fitted on {chosen}{without}{where}."
    return f"{head}\n{text}"


def check_drawable(calibrate: Mapping[str, Any], figure: str | None) -> None:
    """Check that points can have every unknown of a calibration.

    Args:
        calibrate: The calibration as written.
        figure: The figure whose configuration the points have, if any.

    Raises:
        QueryError: There is no such figure, or an unknown is not a parameter of the points.
    """
    unknowns, figures = calibrate["unknowns"], calibrate["figures"]
    if figure is not None and figure not in figures:
        raise QueryError("query.unknown-figure", f"no figure has this name{suggest(figure, figures)}", figure)
    if _CEILING in unknowns:
        message = "not a parameter of a configuration; add what is to be predicted to the figures instead"
        raise QueryError(_UNASSIGNABLE, message, _CEILING)
    named = [name for name in unknowns if "." not in name and name != _LIMIT]
    if named and figure is None:
        message = f"unknown in some figures only; choose one with --figure: {', '.join(map(repr, figures))}"
        raise QueryError(_UNASSIGNABLE, message, ", ".join(named))


def _find_assignments(calibrate: Mapping[str, Any], figure: str | None) -> dict[str, str | Fixed]:
    """Return what each parameter of a point is: the name of an unknown, or a value of the figure."""
    assigned: dict[str, str | Fixed] = {name: name for name in calibrate["unknowns"] if "." in name}
    for path, value in (calibrate["figures"][figure]["set"] if figure is not None else {}).items():
        is_unknown = isinstance(value, Mapping) and "unknown" in value
        assigned[path] = str(value["unknown"]) if is_unknown else Fixed(value)
    return assigned


def _choose(weights: Sequence[float], count: int) -> dict[int, int]:
    """Return how often each position is chosen, by equal steps of the weight."""
    chosen: dict[int, int] = {}
    reached, step = 0.0, 0
    total = sum(weights)
    for position, weight in enumerate(weights):
        reached += weight / total if total else 0.0
        while step < count and (step + 0.5) / count < reached:
            chosen[position] = chosen.get(position, 0) + 1
            step += 1
    return chosen


def _name_point(row: Row, times: int, count: int, unknowns: Collection[str]) -> str:
    return str(row[_LIMIT]) if _LIMIT in unknowns else f"draw {row['draw']}, {times} of {count}"


def _assign(row: Row, unknowns: Mapping[str, Row], assigned: Mapping[str, str | Fixed]) -> dict[str, object]:
    """Return the value of each parameter in a draw, with its unit."""
    settings: dict[str, object] = {}
    for path, source in assigned.items():
        if isinstance(source, Fixed):
            settings[path] = source.value
            continue
        described = unknowns[source]
        value, unit = row[described["column"]], described["unit"]
        is_quantity = unit in quantities.UNITS and isinstance(value, int | float)
        settings[path] = quantities.render(value, unit) if is_quantity else value
    return settings
