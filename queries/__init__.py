"""Queries of a sweep's rows: views, named queries, figures and the report."""

from destage.queries.named_queries import NamedQuery, list_queries
from destage.queries.session import Session, open_session

__all__ = ["NamedQuery", "Session", "list_queries", "open_session"]
