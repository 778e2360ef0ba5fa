"""The answer of a calibration on a terminal and as JSON."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from destage.cli.terminal.output import print_data, print_json
from destage.spec.aligned_text import align_cells

if TYPE_CHECKING:
    from destage.queries.opening.session import Session

_TABLES = ("calibration", "unknowns", "predictive", "odds", "worth_knowing")


def print_calibration(
    session: "Session", outcome: Mapping[str, Any], report: object, *, as_json: bool
) -> None:
    """Print what a calibration has found; last the sentences, so that they stay in view."""
    from destage.queries.findings.calibration_answer import tabulate_predictions, tabulate_unknowns
    from destage.queries.report import compose_answer
    from destage.queries.text.formats import rows_as_json

    answer = compose_answer(session)
    if as_json:
        tables = {name: rows_as_json(session.query(name)) for name in _TABLES}
        print_json({"outcome": outcome, "report": str(report), "answer": answer, **tables})
        return
    print_data(align_cells(tabulate_unknowns(session), left=99))
    print_data("\n")
    print_data(align_cells(tabulate_predictions(session), left=2))
    print_data("".join(f"{sentence}\n" for sentence in ["", *answer] if answer))
