"""Names of configurations and resources in sentences."""

from collections.abc import Mapping
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.report.charts.facets import BATTERY, CAPACITY
from destage.queries.text.presentation import format_axis_value, name_value, title_axis

Row = Mapping[str, Any]

BOUNDS: Mapping[str | None, str] = {"at_least": "at least ", "below": "at most ", "above": "more than "}
"""What is said of an answer that is only a bound."""
WRITE_FRACTION = "controller.cache.write_fraction"
FAULTS = "faults"
RESOURCES: Mapping[str, str] = {"disk": "disks", "xor": "XOR engine", "cache": "write cache"}
"""Names of limiting resources, where they differ from the column's."""


def name_resource(resource: str) -> str:
    """Return a limiting resource as in `limited by the disks`."""
    return f"the {RESOURCES.get(resource, resource)}"


def name_point(row: Row, session: Session, *, without: frozenset[str] = frozenset()) -> str:
    """Return the name of a configuration: its label or the values of its axes, less some."""
    if row.get("label"):
        within = [path for path in session.axes if path.endswith(".raid")]
        where = ", ".join(f"{title_axis(path)} {format_axis_value(path, row[path], None)}" for path in within)
        return f"{row['label']} ({where})" if where else str(row["label"])
    parts = [
        format_axis_value(path, row[path], None)
        for path in session.axes
        if path.endswith(".use") and row.get(path) is not None and path not in without
    ]
    if row.get(CAPACITY) is not None:
        size = format_axis_value(CAPACITY, row[CAPACITY], "bytes")
        parts.append(f"{size} of cache" if row[CAPACITY] else "no cache")
    battery = row.get(BATTERY)
    # Without a battery there is no write cache to split.
    hidden = {CAPACITY, BATTERY, FAULTS, *without}
    hidden |= set() if battery in {None, "present"} else {WRITE_FRACTION}
    if FAULTS in row and FAULTS not in without:
        faults = format_axis_value(FAULTS, row[FAULTS], None)
        parts.append("no faults" if faults == "none" else faults)
    parts += [
        name_value(path, row[path], session.units)
        for path in session.axes
        if path not in hidden and row.get(path) is not None and not path.endswith((".use", ".arrival.file"))
    ]
    if battery is not None and BATTERY not in without:
        parts.append(f"battery {battery}")
    return ", ".join(parts) or "the configuration"
