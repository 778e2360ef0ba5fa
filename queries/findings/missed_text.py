"""What a calibration does not explain in words: missed figures, what they widen, fits that are ruled out."""

from collections.abc import Mapping, Sequence
from typing import Any

from destage.queries.findings.prediction_values import format_share, format_value
from destage.queries.text.presentation import format_number

Row = Mapping[str, Any]


def describe_ruled_out(fit: Row, missed: Sequence[Row], count: int, spec: Mapping[str, Any]) -> str:
    """Return why a fit has no posterior; `count` figures are what it is fitted on."""
    explained = f"more than {count - len(missed)} of {count} figures" if len(missed) < count else "any figure"
    text = f"ruled out. None of {fit['draws']} draws of the prior explains {explained}"
    if missed:
        text += f"; missed: {'; '.join(map(_describe_nearest, missed))}"
    if (nearest := fit["smallest_implausibility"]) is not None:
        text += f". Each misses a figure by at least {format_number(round(nearest, 1))} standard deviations"
    if fit.get("is_hopeless"):
        text += (
            ". Most figures are further away than unknowns explain, so no wave followed the first. Check "
            f"whether this array was measured: {_name_array(spec['scenario'])}"
        )
    return text


def _describe_nearest(row: Row) -> str:
    if row.get("nearest") is None:
        return str(row["figure"])
    measured, nearest = format_value(row, "measured"), format_value(row, "nearest")
    return f"{row['figure']}, measured {measured}, nearest draw {nearest}"


def _name_array(scenario: Mapping[str, Any]) -> str:
    """Return the array in a few words, with the names of its parts in the catalogue."""
    array = (scenario.get("arrays") or [scenario.get("array", {})])[0]
    disk = (array.get("disk") or {}).get("use", "disk of its own")
    controller = (scenario.get("controller") or {}).get("use")
    disks, raid = array.get("disks"), array.get("raid")
    parts = [f"{disks} x {disk}" if disks else str(disk), f"RAID {raid}" if raid is not None else ""]
    named = ", ".join(filter(None, parts))
    return f"{named}, controller {controller}" if controller else named


def list_widened(
    missed: Sequence[Row], predictions: Sequence[Row], calibrate: Mapping[str, Any]
) -> list[str]:
    """Return the classes of loads whose predictions missed figures widen; empty if it is the only class.

    It is their own class, and those of which no figure is fitted.
    """
    classes = {name: figure.get("class", "") for name, figure in calibrate["figures"].items()}
    fitted = {classes[row["figure"]] for row in predictions if row["is_fitted"]}
    of_missed = {row["class"] for row in missed}
    others = [classes[row["figure"]] for row in predictions if not row["is_fitted"]]
    named = [row["class"] for row in missed] + [
        one for one in others if one in of_missed or one not in fitted
    ]
    return [one for one in dict.fromkeys(named) if one]


def describe_missed(missed: Sequence[Row], count: int, widened: Sequence[str]) -> str:
    """Return which figures are not explained, by how much, and what follows."""
    listed = [
        f"{row['figure']}, measured {format_value(row, 'measured')}, {format_value(row, 'low_90', '')} to "
        f"{format_value(row, 'high_90')} predicted (needs a discrepancy of "
        f"{format_share(row['needed_discrepancy'] or 0.0)})"
        for row in missed
    ]
    of_classes = f" of {' and '.join(widened)}" if widened else ""
    return (
        f"{count - len(missed)} of {count} figures are explained; missed: {'; '.join(listed)}. "
        f"Predictions{of_classes} are wider for it, but may still be too narrow. If its cause acts on no "
        f"load to be predicted, {_describe_leaving_out(missed)}"
    )


def _describe_leaving_out(missed: Sequence[Row]) -> str:
    """Return how to fit without the missed figures, for a measured set and for a study."""
    names = [row["figure"].replace("'", "''") for row in missed]
    listed = ", ".join(f"'{name}'" for name in names)
    condition = f"figure <> {listed}" if len(names) == 1 else f"figure NOT IN ({listed})"
    return f'fit without it: --where "{condition}" with --on, or other fits in the study'
