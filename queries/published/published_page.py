"""The pages of published experiments in Markdown: headline figures first, then a page for each document."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from destage.queries.published.verdict_text import (
    HEADINGS,
    HEADLINE_HEADINGS,
    format_headline,
    format_verdict,
    summarize_verdicts,
)
from destage.store.schemas.figure_classes import MEANINGS

FOLDER = "published"
"""The folder of the documents' pages, beside the first page."""
_WRITTEN = (
    "<!-- Written by scripts/published_experiments.py; edit the studies in sweeps/studies/ instead. -->"
)
_HEAD = f"""# Published experiments

{_WRITTEN}

Published measurements compared with simulated results: the headline figures of each document. The title of a
document links to a page with all its figures, assumptions and attempts. `make studies` runs every bundled
study and rewrites these pages, with the same digits on every machine.
"""
_RULE = """## Rule and classes

*Simulated* is the mean over replicates with its 95 % confidence interval (95 % CI); `a to b` alone is the
range over settings that the document does not state. The *95 % prediction interval* is that of one more
replicate over all these settings, plus half a unit of the last digit that the document prints. No other
tolerance applies. Its width is its upper over its lower end. For a published comparison, the interval is
compared with bounds instead. A figure that is computed from others of its document, such as a ratio, is in no
better class than these and is not counted beside them (*not counted*); inputs are not counted, either.
"""
_LISTS = (
    ("note", "Notes"),
    ("assumptions", "Assumptions"),
    ("fitted", "Fitted parameters"),
    ("tried", "Attempts"),
)

Section = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]], Sequence[str]]
"""A study as written, its rows of `judge_figures`, and the sentences that answer it."""


def write_pages(sections: Sequence[Section], name: str) -> dict[str, str]:
    """Return the text of each page by its path beside the first page, which is called `name`.

    A study without published figures has no section.
    """
    documents = group_by_document(sections)
    everything = [row for _, rows, _ in sections for row in rows]
    pages = {name: "\n".join(_first_page(documents, f"{summarize_verdicts(everything)}."))}
    for slug, own in documents.items():
        pages[f"{FOLDER}/{slug}.md"] = "\n".join(_document_page(own, name))
    return pages


def group_by_document(sections: Sequence[Section]) -> dict[str, list[Section]]:
    """Return the studies with published figures by the name of their document's page."""
    documents: dict[str, list[Section]] = {}
    for section in sections:
        if section[1]:
            documents.setdefault(section[0]["paper"]["page"], []).append(section)
    return documents


def list_headlines(sections: Sequence[Section]) -> list[Mapping[str, Any]]:
    """Return the rows that are headlines of their document."""
    return [row for _, rows, _ in sections for row in rows if row["headline"]]


def _first_page(documents: Mapping[str, Sequence[Section]], summary: str) -> Iterator[str]:
    yield _HEAD
    for slug, sections in documents.items():
        paper = sections[0][0]["paper"]
        yield f"## [{paper['title']} ({paper['number']})]({FOLDER}/{slug}.md)\n"
        yield from _table(HEADLINE_HEADINGS, map(format_headline, list_headlines(sections)))
    yield _RULE
    yield "\n".join(f"- **{figure_class}**: {meaning}." for figure_class, meaning in MEANINGS.items())
    yield f"\n{summary}"
    yield ""


def _document_page(sections: Sequence[Section], name: str) -> Iterator[str]:
    paper = sections[0][0]["paper"]
    rows = [row for _, own, _ in sections for row in own]
    yield f"# {paper['title']}\n"
    yield f"{_WRITTEN}\n"
    yield f"{paper['number']}. {summarize_verdicts(rows)}."
    yield f"[Published experiments](../{name}) explains the columns and classes.\n"
    for section in sections:
        yield from list_section_lines(*section)


def list_section_lines(
    study: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], answers: Sequence[str]
) -> Iterator[str]:
    """Yield the section of one study: its parts are those of `Section`."""
    yield f"## {study['name']}\n"
    yield f"{study.get('question', '')}\n"
    if answers:
        yield "\n".join(f"- {answer}" for answer in answers) + "\n"
    yield from _table(HEADINGS, map(format_verdict, rows))
    for key, title in _LISTS:
        entries = _entries(study, rows, key)
        if entries:
            yield f"**{title}**\n"
            yield "\n".join(f"- {entry}" for entry in entries) + "\n"


def _table(headings: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(headings) + " |"
    yield "|---" * len(headings) + "|"
    for row in rows:
        yield "| " + " | ".join(_cell(cell) for cell in row) + " |"
    yield ""


def _entries(study: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], key: str) -> list[str]:
    if key == "note":
        return [f"{row['figure']}: {row['note']}" for row in rows if row["note"]]
    if key == "fitted":
        return [f"{fit['parameter']} = {fit['value']} (fitted on: {fit['on']})" for fit in study.get(key, [])]
    return [" ".join(str(entry).split()) for entry in study.get(key, [])]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
