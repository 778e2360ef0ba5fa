"""The results whose sensitivity is computed: the key `sensitivity` of a study, and names of results."""

from collections.abc import Mapping
from typing import Any

from destage import engine
from destage.errors import Issue, UsageError
from destage.spec.near_names import suggest
from destage.spec.typed_tables import key, table
from destage.sweeps.keys.objectives import metric_columns


@table
class Sensitivity:
    """Compute how much each axis matters when the sweep ends, as the table `sensitivity`."""

    of: tuple[str, ...] = key(
        "The results: the answer of the seek, or result columns without their units, such as `response_p95`.",
        minItems=1,
    )


def find_mistakes(document: Mapping[str, Any], answer: str | None) -> list[Issue]:
    """Return the mistakes in the key `sensitivity` of a study.

    Args:
        answer: The name of the answers of its seek, if it has one without mistakes.
    """
    results = _list_results(answer)
    return [
        Issue(
            "study.unknown-name",
            f"sensitivity.of.{index}",
            f"not a result of this study{suggest(name, list(results))}",
            name,
        )
        for index, name in enumerate(document["sensitivity"]["of"])
        if name not in results and ("seek" not in document or answer is not None)
    ]


def find_result(name: str, answer: str | None, place: str) -> str:
    """Return the column of a result, or the name of the answers.

    Raises:
        UsageError: No result has this name.
    """
    results = _list_results(answer)
    if name not in results:
        meant = suggest(name, list(results))
        message = f"no result is named {name!r}{meant}; see `destage catalog list columns`"
        raise UsageError("usage.unknown-name", message, place)
    return results[name]


def choose_result(answer: str | None, config: Mapping[str, Any]) -> str:
    """Return the column that answers a study: of its seek, its replay, or else the 95th percentile."""
    if answer is not None:
        return answer
    modes = {arrival.get("mode") for arrival in engine.configuration.find_replays(dict(config))}
    return "completion_time_s" if modes - {"open"} else "response_p95_us"


def _list_results(answer: str | None) -> dict[str, str]:
    """Return the column of each name that a result may be given by."""
    columns = {name: column.name for name, column in metric_columns().items()}
    columns |= {column: column for column in columns.values()}
    return columns | ({} if answer is None else {answer: answer})
