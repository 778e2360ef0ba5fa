"""A study of what a calibration has left: draws of its posterior as points to sweep from."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from destage.errors import QueryError
from destage.queries.session import Session
from destage.spec import quantities
from destage.spec.validation import suggest

_LEFT_OUT = ("calibrate", "where", "charts", "answer", "published", "paper", "assumptions", "question")
_LIMIT = "limit"
Row = Mapping[str, Any]


def write_drawn_study(session: Session, count: int, fit: str | None = None) -> str:
    """Return a study whose points are draws of the posterior, each as likely as the others.

    Draws are chosen systematically: one at each of as many equal steps of the weight. A draw with much
    weight is chosen several times and is one point, whose label has its share.

    Args:
        count: The number of draws.
        fit: The name of the fit (default: the last one, which has seen most figures).

    Raises:
        QueryError: The calibration has no such fit, or the fit is ruled out.
    """
    fits = [row["fit"] for row in session.query("calibration").to_pylist()]
    if fit is not None and fit not in fits:
        message = f"no fit has this name{suggest(fit, fits)}"
        raise QueryError("query.unknown-fit", message, fit)
    chosen = fits[-1] if fit is None else fit
    rows = [row for row in session.query("posterior").to_pylist() if row["fit"] == chosen]
    drawn = _choose([row["weight"] for row in rows], count)
    if not drawn:
        raise QueryError(
            "query.no-rows", "nothing in the prior explains the figures: there is no draw", chosen
        )
    unknowns = {row["unknown"]: row for row in session.query("unknowns").to_pylist()}
    points = [_make_point(rows[at], times, count, unknowns) for at, times in drawn.items()]
    study = {key: value for key, value in session.spec.items() if key not in _LEFT_OUT}
    study["name"] = f"{study['name']}_drawn"
    labels = {point["label"] for point in points}
    if _LIMIT in unknowns:
        limits = {name: texts for name, texts in study["seek"]["limits"].items() if name in labels}
        study["seek"] = {**study["seek"], "limits": limits}
    study["points"] = points
    text = yaml.safe_dump(study, sort_keys=False, allow_unicode=True, width=120)
    notes = [f"{count} draws of the posterior of {session.sweep.name}, fitted on {chosen}."]
    others = [name for name in unknowns if "." not in name and name != _LIMIT]
    if others:
        notes.append(f"Not assigned, as they are no parameters of every configuration: {', '.join(others)}.")
    return "".join(f"# {note}\n" for note in notes) + text


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


def _make_point(row: Row, times: int, count: int, unknowns: Mapping[str, Row]) -> dict[str, object]:
    share = f"draw {row['draw']}, {times} of {count}"
    point: dict[str, object] = {"label": row[_LIMIT] if _LIMIT in unknowns else share}
    for unknown, described in unknowns.items():
        if "." not in unknown:
            continue
        value, unit = row[described["column"]], described["unit"]
        is_quantity = unit in quantities.UNITS and isinstance(value, int | float)
        point[unknown] = quantities.render(value, unit) if is_quantity else value
    return point
