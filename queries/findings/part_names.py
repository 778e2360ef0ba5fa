"""Names of arrays by the products that they consist of."""

from collections.abc import Mapping

from destage.engine import catalog
from destage.queries.findings.candidates import CONTROLLER, DISK, RAID
from destage.queries.text.presentation import format_axis_value


def name_parts(parts: Mapping[str, object], disks: int | None, spares: int = 0) -> str:
    """Return parts by their product names."""
    count = "" if disks is None else f"{disks} x "
    disk = catalog.entry("disks", str(parts[DISK])).title
    controller = catalog.entry("controllers", str(parts[CONTROLLER])).title
    spare = f"{spares} hot spare{'s' if spares > 1 else ''}, " if spares else ""
    return f"{count}{disk}, RAID {format_axis_value(RAID, parts[RAID], None)}, {spare}{controller}"
