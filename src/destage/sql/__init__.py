"""SQL over Arrow tables and Parquet files: a DuckDB database without access to anything but these.

A statement only reads, in a read-only transaction under a locked configuration: without other files, network,
extensions or Python variables, and without changes of settings or rows.

An axis is a column named by its dotted path, in double quotes: ``"controller.cache.capacity"``. Its last
segment, ``capacity``, is an alias where that name has no other meaning and no other axis ends in it.
"""

from destage.sql.database import Database
from destage.sql.file_connection import FileConnection, merge_files
from destage.sql.limits import QueryLimits
from destage.sql.statements import (
    Aliases,
    ReadStatement,
    alias_names,
    find_qualifiers,
    join_statement,
    list_reserved_words,
    quote,
    quote_text,
    quote_texts,
)
from destage.sql.syntax_trees import PUBLIC, Dependence, find_columns, find_dependence, replace_quantities
from destage.sql.tables import compute_column, filter_rows, render_texts

__all__ = [
    "PUBLIC",
    "Aliases",
    "Database",
    "Dependence",
    "FileConnection",
    "QueryLimits",
    "ReadStatement",
    "alias_names",
    "compute_column",
    "filter_rows",
    "find_columns",
    "find_dependence",
    "find_qualifiers",
    "join_statement",
    "list_reserved_words",
    "merge_files",
    "quote",
    "quote_text",
    "quote_texts",
    "render_texts",
    "replace_quantities",
]
