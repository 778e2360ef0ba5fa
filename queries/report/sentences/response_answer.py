"""The answer of a study at a fixed load: the fastest and the slowest configuration."""

from collections.abc import Sequence
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.report.sentences.battery_answer import list_losses
from destage.queries.report.sentences.point_names import name_point, name_resource
from destage.queries.text.presentation import format_number

Row = dict[str, Any]


def compose_response_answer(rows: Sequence[Row], session: Session) -> list[str]:
    """Return the sentences on the fastest and the slowest point, and on lost data."""
    timed = [row for row in rows if row["response_p95_us"] is not None]
    if not timed:
        return []
    slow = max(timed, key=lambda row: row["response_p95_us"])
    fast = min(timed, key=lambda row: row["response_p95_us"])
    # Below half the use of every part, the load is what limits.
    limit = "" if fast["limiting"] in {None, "host"} else f"; limited by {name_resource(fast['limiting'])}"
    sentences = [f"Fastest: {_response(fast)} with {name_point(fast, session)}{limit}."]
    if fast is not slow:
        sentences.append(f"Slowest: {_response(slow)} with {name_point(slow, session)}.")
    return [*sentences, *list_losses(timed, session)]


def _response(row: Row) -> str:
    return (
        f"{format_number(row['response_p95_us'] / 1e3)} ms response time (95th percentile) at "
        f"{format_number(row['throughput_iops'])} requests/s"
    )
