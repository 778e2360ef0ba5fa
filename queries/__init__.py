"""Queries of a sweep's rows: views, named queries, figures and the report."""

from typing import TYPE_CHECKING, Any

from destage.queries.named.named_queries import NamedQuery, list_queries

if TYPE_CHECKING:
    from destage.queries.opening.session import Session, open_session

__all__ = ["NamedQuery", "Session", "list_queries", "open_session"]


def __getattr__(name: str) -> Any:
    """Import sessions, and DuckDB with them, on first use."""
    if name in ("Session", "open_session"):
        from destage.queries.opening import session  # noqa: PLC0415

        return getattr(session, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
