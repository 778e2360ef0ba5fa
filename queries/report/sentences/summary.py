"""The summary of a sweep, composed from its rows."""

import pyarrow as pa

from destage.queries.exports.report_record import Summary
from destage.queries.findings.answer_bars import draw_answer_bars
from destage.queries.opening.session import Session
from destage.queries.published.verdicts import judge_figures
from destage.queries.report.sentences.answer import compose_answer
from destage.queries.report.sentences.excerpt import MOST_LISTED, describe_excerpt, open_excerpt
from destage.queries.report.sentences.front_table import tabulate_front
from destage.queries.text.presentation import present
from destage.queries.text.product_names import name_products


def summarize(session: Session) -> Summary:
    """Return the summary of a sweep."""
    rows, left_out = tabulate_front(session) or _tabulate_excerpt(session)
    return Summary(
        present(rows, session.units),
        left_out,
        tuple(judge_figures(session).to_pylist()),
        tuple(compose_answer(session)),
        draw_answer_bars(session),
    )


def _tabulate_excerpt(session: Session) -> tuple[pa.Table, str]:
    """Return the rows of the most important points, with a sentence on those left out."""
    listed = open_excerpt(session, MOST_LISTED)
    rows = listed.name_columns(name_products(listed.query("design_space")))
    return rows, describe_excerpt(listed)
