"""The section of a report on published figures: the paper, the verdicts and the assumptions."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.published.measurement import Measurement, measure, tabulate_published
from destage.queries.published.verdict_text import HEADINGS, format_verdict, summarize_verdicts
from destage.queries.published.verdicts import SIMULATED, judge_figures
from destage.queries.report.sentences.design_space import write_cell_titles
from destage.queries.text.presentation import format_rounded
from destage.store.schemas.published_figures import read_answers

_MOST = 8
"""Verdicts stated in words; a figure and a table show all of them."""
_LISTS = (
    ("assumptions", "Assumptions not stated in the paper"),
    ("tried", "Attempts to reproduce the other figures"),
)


def render_published_section(session: Session) -> str:
    """Return the section in HTML; without published figures, only the assumptions, if there are any."""
    rows = judge_figures(session).to_pylist()
    if not rows:
        assumptions = _list(session.spec.get("assumptions", []))
        heading = "<h2>Assumptions</h2>"
        return f'<section id="assumptions">{heading}{assumptions}</section>\n' if assumptions else ""
    heads = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in HEADINGS)
    body = "".join(map(_table_row, rows))
    paper = session.spec.get("paper")
    source = f"{paper['title']} ({paper['number']}). " if paper else ""
    return (
        '<section id="published"><h2>Published and simulated figures</h2>'
        f'<p class="caption">{escape(source)}{escape(summarize_verdicts(rows))}.</p>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Table of published figures">'
        f"{write_cell_titles('published', HEADINGS)}"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
        f"{_lists(session)}</section>\n"
    )


def compose_verdicts(session: Session) -> list[str]:
    """Return the study's own answer and the number of figures of each class, else the verdicts in words.

    A study without an answer that has figures for what it seeks returns nothing: the answers of the seek
    are shown beside those figures.
    """
    answers = fill_answers(session)
    rows = judge_figures(session).to_pylist()
    summary = [f"{summarize_verdicts(rows)}."] if rows else []
    if answers:
        return [*answers, *summary]
    sought = tabulate_published(session.spec, session.metric, session.points)
    simulated = [row for row in rows if row["kind"] in SIMULATED and row["simulated"] is not None]
    if not session.spec.get("places") or sought.num_rows or not simulated:
        return []
    sentences = []
    for row in simulated[:_MOST]:
        figure, published, mean, interval, name, *_ = format_verdict(row)
        ends = f"published {published}, simulated {mean}; prediction interval {interval}"
        sentences.append(f"{figure}: {name}; {ends}.")
    more = len(simulated) - _MOST
    rest = [f"The table below has {more} more."] if more > 0 else []
    return [*summary, *sentences, *rest]


def fill_answers(session: Session) -> list[str]:
    """Return the sentences of the study's `answer` whose rows are all there, with their numbers."""
    sentences = []
    for sentence in read_answers(session.spec):
        values = [measure(session, quantity) for quantity in sentence.quantities]
        measured = [value for value in values if value is not None]
        if len(measured) == len(values):
            sentences.append(sentence.fill(map(_in_words, measured)))
    return sentences


def _in_words(measured: Measurement) -> str:
    ends = [measured.low, measured.high] if measured.is_range else [measured.mean]
    texts = [format_rounded(end) for end in ends if end is not None]
    return " to ".join(dict.fromkeys(texts))


def _table_row(row: Mapping[str, Any]) -> str:
    cells = "".join(f'<td class="wrapped">{escape(cell)}</td>' for cell in format_verdict(row))
    if row["note"]:
        cells += f'</tr><tr><td class="note" colspan="{len(HEADINGS)}">{escape(row["note"])}</td>'
    return f"<tr>{cells}</tr>\n"


def _lists(session: Session) -> str:
    fitted = [
        f"{fit['parameter']} = {fit['value']} (fitted on: {fit['on']})"
        for fit in session.spec.get("fitted", [])
    ]
    listed = [("Fitted parameters", fitted), *((title, session.spec.get(key, [])) for key, title in _LISTS)]
    return "".join(f"<h3>{escape(title)}</h3>{_list(entries)}" for title, entries in listed if entries)


def _list(entries: Sequence[object]) -> str:
    items = "".join(f"<li>{escape(str(entry))}</li>" for entry in entries)
    return f"<ul>{items}</ul>" if items else ""
