"""The report's section on published figures: the paper, each figure's verdict, and what was assumed."""

from html import escape
from typing import TYPE_CHECKING, Any

from destage.queries.measurement import Measurement, measure
from destage.queries.presentation import format_number
from destage.queries.published_values import tabulate_published
from destage.queries.session import Session
from destage.queries.verdict_text import HEADINGS, format_verdict, summarise_verdicts
from destage.queries.verdicts import judge_figures
from destage.store.published_figures import read_answers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TOLD = frozenset({"predicted", "calibrated", "ordering"})
"""The kinds of figures that the rows judge; the others are arithmetic or were put in."""
_MOST = 8
"""Verdicts that are told in words; a picture and a table have the rest."""
_TOLD_DIGITS = 3
"""Significant digits of a number in an answer; the table has more, with intervals."""
_LISTS = (
    ("assumptions", "Assumed, where the paper is silent"),
    ("tried", "Tried, for what does not come out"),
)
_ASSUMED = "Assumed"
"""The heading of the assumptions where there is no paper."""


def render_published_section(session: Session) -> str:
    """Return the section; without published figures, only what was assumed, if anything.

    Args:
        session: The sweep.
    """
    rows = judge_figures(session).to_pylist()
    if not rows:
        assumed = _list(session.spec.get("assumptions", []))
        return f'<section id="assumed"><h2>{_ASSUMED}</h2>{assumed}</section>\n' if assumed else ""
    heads = "".join(f"<th>{escape(heading)}</th>" for heading in HEADINGS)
    body = "".join(
        "<tr>"
        + "".join(f'<td class="wrapped">{escape(cell)}</td>' for cell in format_verdict(row))
        + "</tr>"
        + (
            f'<tr><td class="note" colspan="{len(HEADINGS)}">{escape(row["note"])}</td></tr>'
            if row["note"]
            else ""
        )
        + "\n"
        for row in rows
    )
    return (
        '<section id="published"><h2>Published figures, and what came out</h2>'
        f'<p class="caption">{escape(_paper(session))}{escape(summarise_verdicts(rows))}.</p>'
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{_lists(session)}</section>\n"
    )


def compose_verdicts(session: Session) -> list[str]:
    """Return the study's own answer and the count of each verdict, or without it the verdicts in words.

    A study without an answer that has figures for what it seeks returns nothing: the answers of the seek
    are shown beside those figures.

    Args:
        session: The sweep.
    """
    answers = fill_answers(session)
    if answers:
        rows = judge_figures(session).to_pylist()
        return [*answers, *([f"{summarise_verdicts(rows)}."] if rows else [])]
    answered = tabulate_published(session.spec, session.metric, session.points, session.config)
    if not session.spec.get("places") or answered.num_rows:
        return []
    rows = judge_figures(session).to_pylist()
    told = [row for row in rows if row["kind"] in _TOLD and row["simulated"] is not None]
    if not told:
        return []
    more = [f"{len(told) - _MOST} more stand below."] if len(told) > _MOST else []
    return [f"{summarise_verdicts(rows)}.", *map(_sentence, told[:_MOST]), *more]


def fill_answers(session: Session) -> list[str]:
    """Return the sentences of the study's `answer` whose rows are all there, filled in from them.

    Args:
        session: The sweep.
    """
    told = []
    for sentence in read_answers(session.spec):
        values = [measure(session, quantity) for quantity in sentence.quantities]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            told.append(sentence.fill(map(_in_words, known)))
    return told


def _in_words(measured: Measurement) -> str:
    ends = [measured.low, measured.high] if measured.is_range else [measured.mean]
    texts = [format_number(float(f"{end:.{_TOLD_DIGITS}g}")) for end in ends if end is not None]
    return " to ".join(dict.fromkeys(texts))


def _sentence(row: "Mapping[str, Any]") -> str:
    figure, printed, simulated, error, verdict, _ = format_verdict(row)
    return f"{figure}: published {printed}, simulated {simulated}{f' ({error})' if error else ''}: {verdict}."


def _paper(session: Session) -> str:
    paper = session.spec.get("paper")
    return f"{paper['title']} ({paper['number']}). " if paper else ""


def _lists(session: Session) -> str:
    fitted = [
        f"{fit['parameter']} = {fit['value']}, on: {fit['on']}" for fit in session.spec.get("fitted", [])
    ]
    listed: list[tuple[str, Sequence[object]]] = [
        ("Fitted", fitted),
        *((title, session.spec.get(key, [])) for key, title in _LISTS),
    ]
    return "".join(f"<h3>{escape(title)}</h3>{_list(entries)}" for title, entries in listed if entries)


def _list(entries: "Sequence[object]") -> str:
    items = "".join(f"<li>{escape(str(entry))}</li>" for entry in entries)
    return f"<ul>{items}</ul>" if items else ""
