"""The SQL expressions of a study that decide its points: `where`, `when` and `derived`."""

from collections.abc import Iterator, Mapping
from typing import Any

from destage.errors import Issue


def find_expression_mistakes(document: Mapping[str, Any]) -> Iterator[Issue]:
    """Yield the mistakes of expressions that are not a function of the point.

    A sweep that is resumed or extended expands its study again and must come to the same points.
    """
    texts = {
        f"{key}.{path}": text for key in ("when", "derived") for path, text in document.get(key, {}).items()
    }
    texts |= {"where": document["where"]} if "where" in document else {}
    for place, text in texts.items():
        from destage import sql  # noqa: PLC0415 - loads duckdb, which only an expression needs

        dependence = sql.find_dependence(text)
        if dependence is not None and dependence.is_random:
            message = f"{dependence.part} may have another value each time; a point must follow from its axes"
            yield Issue("study.nondeterministic", place, message, text)
        elif dependence is not None:
            message = f"{dependence.part} uses more than one point; use the axes of the point alone"
            yield Issue("study.bad-sql", place, message, text)
