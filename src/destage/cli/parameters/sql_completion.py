"""Completion of SQL: relations, named queries, their columns, and words of SQL."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

if TYPE_CHECKING:
    from destage.queries.opening.public_views import PublicViews

_KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT JOIN", "USING"),
    *("ON", "AS", "AND", "OR", "NOT", "IN", "IS NULL", "IS NOT NULL", "BETWEEN", "LIKE", "DISTINCT", "DESC"),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "WITH", "UNION ALL", "QUALIFY", "OVER", "PARTITION BY"),
    *("PIVOT", "UNPIVOT", "DESCRIBE", "SUMMARIZE", "SHOW TABLES", "EXPLAIN", "EXPLAIN ANALYZE", "EXCLUDE"),
    *("count(", "avg(", "min(", "max(", "sum(", "median(", "first(", "round("),
)
_WORD = re.compile(r"(?:(\w+)\.)?(\w*)\Z")
_AFTER_NAME = re.compile(r"\b(?:FROM|JOIN|PIVOT|UNPIVOT|DESCRIBE|SUMMARIZE|SHOW)\s+\w*\Z", re.IGNORECASE)


class SqlCompleter(Completer):
    """Completes the word before the cursor, by its beginning."""

    def __init__(self, relations: "PublicViews") -> None:
        self._relations = relations

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield what the word may become, the most likely first."""
        del complete_event
        word = _WORD.search(document.text_before_cursor)
        if word is None:
            return
        start = word[2].lower()
        for name, kind in self._list_candidates(document, word[1]):
            if name.lower().startswith(start):
                yield Completion(name, start_position=-len(start), display_meta=kind)

    def _list_candidates(self, document: Document, qualifier: str | None) -> Iterable[tuple[str, str]]:
        relations = self._relations.list_relations()
        names = [(name, "relation") for name in relations]
        if _AFTER_NAME.search(document.text_before_cursor) and qualifier is None:
            return names
        words = set(re.findall(r"\w+", document.text.lower()))
        used = [name for name in relations if name in words]
        listed = [qualifier] if qualifier in relations else used or ["configurations"]
        columns = dict.fromkeys(column for name in listed for column in self._relations.list_columns(name))
        candidates = [(column, "column") for column in columns]
        if qualifier is not None:
            return candidates
        keywords = [(keyword, "SQL") for keyword in _KEYWORDS]
        return [*candidates, *names, *keywords]
