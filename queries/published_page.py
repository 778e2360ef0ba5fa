"""The page of published experiments: each study's question, figures, verdicts, assumptions, in Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from destage.queries.verdict_text import HEADINGS, format_verdict, summarise_verdicts

_HEAD = """# Published experiments

<!-- Written by `destage study run --all --page`; edit the studies in sweeps/studies/ instead. -->

What others measured and printed, beside what Destage simulates. Each study is bundled (`destage study list`);
`make studies` runs them all and writes this page anew, to the same digits on every machine.

- *Simulated* is the mean over replicates ± half of its 95 % interval; `a .. b` is a range over what the
  paper leaves open.
- *Error* is simulated over published, less one; of a range that of both its ends.
- **exact**: the same digits. **predicted**: the figure lies in the interval, and nothing was fitted to it.
- **calibrated**: something was fitted on this figure. **calibrated on ..., predicts**: it lies in the
  interval, after something was fitted on another figure.
- **ordering holds**: the whole interval lies where the paper says.
- **paper inconsistent**: what the paper prints does not follow from its own figures.
- **input**: put in as published.
"""


def write_page(
    sections: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]], Sequence[str]]],
) -> str:
    """Return the page.

    Args:
        sections: Each study as written, its rows of `verdict_table`, and the sentences that answer it.
    """
    told = [section for section in sections if section[1]]
    everything = [row for _, rows, _ in told for row in rows]
    head = f"{_HEAD}\n{summarise_verdicts(everything)}, in {len(told)} studies.\n\n"
    return head + "\n".join(write_section(*section) for section in told)


def write_section(
    study: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], answers: Sequence[str]
) -> str:
    """Return what the page says of one study.

    Args:
        study: The study as written.
        rows: Its rows of `verdict_table`.
        answers: The sentences that answer it.
    """
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
    for key, title in (
        ("note", "Notes"),
        ("assumptions", "Assumed"),
        ("fitted", "Fitted"),
        ("tried", "Tried"),
    ):
        entries = _entries(study, rows, key)
        if entries:
            yield f"**{title}**\n"
            yield "\n".join(f"- {entry}" for entry in entries) + "\n"


def _entries(study: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], key: str) -> list[str]:
    if key == "note":
        return [f"{row['figure']}: {row['note']}" for row in rows if row["note"]]
    if key == "fitted":
        return [f"{fit['parameter']} = {fit['value']}, on: {fit['on']}" for fit in study.get(key, [])]
    return [" ".join(str(entry).split()) for entry in study.get(key, [])]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
