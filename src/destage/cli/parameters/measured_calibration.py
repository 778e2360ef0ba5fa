"""The calibration that `destage calibrate SET --on ARRAY` makes of a measured set."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from destage.cli.terminal.output import print_note
from destage.errors import UsageError

if TYPE_CHECKING:
    from destage.store import Location
    from destage.sweeps import Study

_WITH = "--predict-with"
_HARDWARE = ("catalog", "controller", "array", "arrays", "host")
"""The fields of a configuration that describe what was measured."""


def read_hardware(on: str, disk: str, controller: str) -> dict[str, Any]:
    """Return the tables of a scenario beside its load, of an array in one word or a file that has it."""
    from destage.cli.parameters.imported_files import choose_hardware
    from destage.cli.parameters.shared_options import read_file
    from destage.spec.documents import parse_document
    from destage.sweeps.keys.own_parts import bind_parts

    file = Path(on)
    if not file.is_file():
        return choose_hardware(on, disk, controller)
    document: Any = parse_document(read_file(file, "--on"), on)
    scenario = document.get("scenario", document) if isinstance(document, dict) else {}
    found = {name: scenario[name] for name in _HARDWARE if name in scenario}
    if not {"array", "arrays"} & found.keys():
        raise UsageError("usage.bad-array", f"{on} has no array", "--on")
    return bind_parts(found, file.parent)


def read_changes(hardware: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return the values that `--predict-with` gives, by path."""
    from destage.cli.parameters.scenario_file import assign_field
    from destage.spec.documents import value_at
    from destage.sweeps.space.parameters import explain_bare_number, explain_unknown, find_parameter

    after = copy.deepcopy(hardware)
    paths = [assign_field(after, text, _WITH) for text in texts]
    for path in paths:
        if why := explain_unknown(path):
            raise UsageError("usage.bad-assignment", f"{path}: {why}", _WITH)
        # Otherwise each changed figure of the study would have the mistake.
        if why := explain_bare_number(value_at(after, path), find_parameter(path).unit):
            raise UsageError("usage.bad-quantity", f"{path}: {why}", _WITH)
    return {path: value_at(after, path) for path in paths}


def make_text(
    name: str,
    store: "Location | None",
    hardware: dict[str, Any],
    where: str | None,
    predict: Sequence[str],
    changed: dict[str, Any],
    unknowns: Sequence[str],
    known: Sequence[str],
) -> str:
    """Return a calibration of a measured set as YAML.

    Args:
        where: The condition of the lines to fit on.
        changed: Values of the array with which each load is predicted too, by path.
    """
    import yaml

    from destage.measured.sets import as_lines, read_table
    from destage.sql import filter_rows
    from destage.store.state.lookup import default_store
    from destage.sweeps.calibration.measured_figures import read_prior
    from destage.sweeps.calibration.measured_study import make_measured_study

    table = read_table(default_store() if store is None else store, name)
    chosen = table if where is None else filter_rows(table, where)
    held = [] if where is None else as_lines(filter_rows(table, f"({where}) IS NOT TRUE"))
    document = make_measured_study(
        name,
        as_lines(chosen),
        hardware,
        held=held,
        predicted=_read_tests(predict),
        changed=changed,
        unknowns=dict(map(read_prior, unknowns)),
        known=known,
    )
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)


def _read_tests(sources: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the streams of the tests to predict, by their names."""
    from destage.cli.parameters.imported_files import read_tests
    from destage.tools.imported_workload import ImportOptions

    found: dict[str, dict[str, Any]] = {}
    for source in sources:
        for test in read_tests(source, ImportOptions("auto", None, True, False))[1]:
            streams = test.workload["streams"]
            if len(streams) != 1:
                message = f"test {test.name} has {len(streams)} streams; only tests of one can be predicted"
                raise UsageError("usage.bad-value", message, "--predict")
            found[test.name] = dict(streams[0])
    return found


def print_unknowns(study: "Study") -> None:
    """Print what the calibration takes as unknown."""
    priors = study.document["calibrate"]["unknowns"]
    texts = [
        f"{path} {form} {', '.join(map(str, values))}"
        for path, prior in priors.items()
        for form, values in prior.items()
    ]
    print_note("unknown, with --unknown and --known to change it:\n  " + "\n  ".join(texts))
