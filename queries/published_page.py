"""The page of published experiments in Markdown: each study's question, figures, verdicts and assumptions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from destage.queries.verdict_text import HEADINGS, format_verdict, summarize_verdicts

_HEAD = """# Published experiments

<!-- Written by `destage study run --all --page`; edit the studies in sweeps/studies/ instead. -->

Published measurements compared with simulated results. Each study is bundled (`destage study list`).
`make studies` runs them all and rewrites this page, with the same digits on every machine.

- *Simulated* is the mean over replicates with its 95 % confidence interval (95 % CI). `a to b` alone is the
  range over settings that the paper does not state.
- *Error* is simulated / published - 1; a range has the errors of both its ends.
- **exact**: the same digits. **predicted**: the figure lies in the interval, and no parameter was fitted.
- **calibrated**: a parameter was fitted on this figure. **calibrated on ..., predicts**: a parameter was
  fitted on the figures named, and this figure lies in the interval.
- **ordering holds**: the whole interval lies in the range that the paper states.
- **paper inconsistent**: the printed figure does not follow from the paper's other figures.
- **input**: a setting taken from the paper.
"""
_LISTS = (
    ("note", "Notes"),
    ("assumptions", "Assumptions"),
    ("fitted", "Fitted parameters"),
    ("tried", "Attempts"),
)

Section = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]], Sequence[str]]
"""A study as written, its rows of `judge_figures`, and the sentences that answer it."""


def write_page(sections: Sequence[Section]) -> str:
    """Return the page; a study without published figures has no section."""
    published = [section for section in sections if section[1]]
    everything = [row for _, rows, _ in published for row in rows]
    head = f"{_HEAD}\n{summarize_verdicts(everything)}, in {len(published)} studies.\n\n"
    return head + "\n".join(write_section(*section) for section in published)


def write_section(study: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> str:
    """Return the section of one study: its parts are those of `Section`."""
    return "\n".join(_lines(study, rows, answers))


def _lines(
    study: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], answers: Sequence[str]
) -> Iterator[str]:
    yield f"## {study['name']}\n"
    yield f"{study.get('question', '')}\n"
    if answers:
        yield "\n".join(f"- {answer}" for answer in answers) + "\n"
    paper = study.get("paper")
    if paper:
        yield f"{paper['title']} ({paper['number']}).\n"
    yield "| " + " | ".join(HEADINGS) + " |"
    yield "|---" * len(HEADINGS) + "|"
    for row in rows:
        yield "| " + " | ".join(_cell(cell) for cell in format_verdict(row)) + " |"
    yield ""
    for key, title in _LISTS:
        entries = _entries(study, rows, key)
        if entries:
            yield f"**{title}**\n"
            yield "\n".join(f"- {entry}" for entry in entries) + "\n"


def _entries(study: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], key: str) -> list[str]:
    if key == "note":
        return [f"{row['figure']}: {row['note']}" for row in rows if row["note"]]
    if key == "fitted":
        return [f"{fit['parameter']} = {fit['value']} (fitted on: {fit['on']})" for fit in study.get(key, [])]
    return [" ".join(str(entry).split()) for entry in study.get(key, [])]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
