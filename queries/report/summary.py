"""The summary of a sweep, composed from its rows."""

from destage.queries.presentation import present
from destage.queries.product_names import name_products
from destage.queries.report.answer import compose_answer
from destage.queries.report.excerpt import MOST_LISTED, describe_excerpt, open_excerpt
from destage.queries.report_record import Summary
from destage.queries.session import Session
from destage.queries.verdicts import judge_figures


def summarize(session: Session) -> Summary:
    """Return the summary of a sweep."""
    listed = open_excerpt(session, MOST_LISTED)
    rows = listed.name_columns(name_products(listed.query("design_space")))
    return Summary(
        present(rows, session.units),
        describe_excerpt(listed),
        tuple(judge_figures(session).to_pylist()),
        tuple(compose_answer(session)),
    )
