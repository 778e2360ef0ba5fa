"""The result of `destage explain ranges` as rows, JSON and notes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from destage.discovery.boxes import Box
    from destage.queries.pairs.discovered_box import Discovery, Limit


def tabulate(found: "Discovery") -> "pa.Table":
    """Return a row per limit of the box [base units]; values of an axis without order are a text."""
    import pyarrow as pa

    schema = pa.schema(
        [
            pa.field("axis", pa.string()),
            *(pa.field(name, pa.float64()) for name in ("low", "high")),
            pa.field("values", pa.string()),
            *(pa.field(name, pa.float64()) for name in ("quasi_p", "density_without", "coverage_without")),
        ]
    )
    return pa.Table.from_pylist([_as_row(limit) for limit in found.limits], schema)


def present_limits(found: "Discovery") -> "pa.Table":
    """Return the limits as people read them."""
    import pyarrow as pa

    columns: dict[str, list[object]] = {
        "limit": [limit.text for limit in found.limits],
        "density_without": [round(limit.density, 3) for limit in found.limits],
        "coverage_without": [round(limit.coverage, 3) for limit in found.limits],
        "quasi_p_value": [float(f"{limit.quasi_p:.2g}") for limit in found.limits],
    }
    return pa.table(columns)


def as_json(found: "Discovery") -> dict[str, Any]:
    """Return a discovery as `--json` prints it."""
    return {
        "statement": found.statement,
        "answer": found.answer,
        "points": len(found.cases.holds),
        "cases": int(found.cases.holds.sum()),
        "unknown": found.cases.unknown,
        "unmatched": found.cases.unmatched,
        "box": None
        if found.box is None
        else {**_quality(found.box), "limits": list(map(_as_row, found.limits))},
        "trajectory": [_quality(box) for box in found.trajectory],
    }


def list_notes(found: "Discovery") -> list[str]:
    """Return what to know about a discovery."""
    from destage.discovery.choice import CHANCE

    notes = []
    if found.box is not None:
        notes.append(
            f"density {found.box.density:.3f}, coverage {found.box.coverage:.3f}, "
            f"mass {found.box.mass:.3f} of {len(found.cases.holds)} points "
            f"({len(found.trajectory)} boxes peeled)"
        )
    doubtful = [limit.text for limit in found.limits if limit.quasi_p > CHANCE]
    if doubtful:
        notes.append(f"may be chance (quasi-p-value above {CHANCE}): {', '.join(doubtful)}")
    if found.cases.unknown:
        notes.append(f"{found.cases.unknown} points left out: the statement is null without a result")
    if found.cases.unmatched:
        notes.append(
            f"{found.cases.unmatched} points left out: no point to compare with; naming more axes in "
            "--against compares across them"
        )
    return notes


def _quality(box: "Box") -> dict[str, Any]:
    return {
        "density": box.density,
        "coverage": box.coverage,
        "mass": box.mass,
        "points": box.points,
        "cases": box.cases,
        "restricted": len(box.restricted),
    }


def _as_row(limit: "Limit") -> dict[str, Any]:
    return {
        "axis": limit.axis,
        "low": limit.low,
        "high": limit.high,
        "values": None if limit.values is None else ", ".join(map(str, limit.values)),
        "quasi_p": limit.quasi_p,
        "density_without": limit.density,
        "coverage_without": limit.coverage,
    }
