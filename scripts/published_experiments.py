"""Run every bundled study, print the headline figures, and write the pages of the published experiments.

Usage: published_experiments.py STORE PAGE

PAGE has the headline figures; those of each document are in published/ beside it. `make studies` runs it.
"""

import sys
from pathlib import Path

from destage import sweeps
from destage.cli.printed_results.finished_sweep import print_headlines, summarize
from destage.cli.terminal.hard_stop import HardStop
from destage.cli.terminal.output import print_note, print_warning
from destage.cli.terminal.progress_line import ProgressDisplay, warn_if_stopped
from destage.queries import open_session
from destage.queries.exports.sweep_export import update_export
from destage.queries.published.published_page import Section, group_by_document, list_headlines, write_pages
from destage.queries.published.verdict_text import summarize_verdicts
from destage.queries.published.verdicts import judge_figures
from destage.queries.report.page import write_report
from destage.queries.report.sentences.published_section import fill_answers
from destage.queries.text.plain_values import rows_as_json
from destage.store import Location, locate
from destage.sweeps import studies


def main(arguments: list[str]) -> int:
    """Run the studies and write the pages; return the exit code of `destage run`."""
    store, page = locate(arguments[0]), Path(arguments[1])
    sections: list[Section] = []
    codes = [run_study(name, store, sections) for name in studies.names()]
    documents = group_by_document(sections).values()
    print_headlines([(own[0][0]["paper"]["title"], list_headlines(own)) for own in documents])
    print_note(summarize_verdicts([row for _, rows, _ in sections for row in rows]))
    for name, text in write_pages(sections, page.name).items():
        file = page.parent / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return max(codes)


def run_study(name: str, store: Location, sections: list[Section]) -> int:
    """Run a study, write its report, and add its figures to the sections; return its exit code.

    Raises:
        SystemExit: The sweep was interrupted, or the infrastructure failed.
    """
    with HardStop(name), ProgressDisplay(name) as display:
        outcome = sweeps.run(studies.load(name), store, progress=display)
    for warning in outcome.messages:
        print_warning(warning)
    if warn_if_stopped(outcome):
        sys.exit(outcome.exit_code)
    with open_session(outcome.path) as session:
        rows = rows_as_json(judge_figures(session))
        file = write_report(session)
        update_export(session)
        sections.append((session.spec, rows, fill_answers(session)))
    print_note(f"{summarize(outcome)}; report: {file}")
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
