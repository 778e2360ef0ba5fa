"""`destage admin compact`."""

from dataclasses import asdict

from destage.cli.parameters.shared_options import Json, Store, SweepName
from destage.cli.terminal.output import print_json, print_note, print_warning
from destage.cli.terminal.progress_line import Counter


def compact(sweep: SweepName, store: Store = None, as_json: Json = False) -> None:
    """Merge a sweep's small fragments into a few large ones.

    The rows do not change.
    """
    from destage.store import find_sweep
    from destage.store.files.layout import SweepLayout
    from destage.store.fragment_files import merging

    path = find_sweep(sweep, store)
    done = merging.compact(SweepLayout(path), Counter("fragments"))
    for warning in done.warnings:
        print_warning(warning)
    if as_json:
        print_json(asdict(done))
    print_note(f"{path.name}: {done.rows} rows rewritten; {done.before} fragments before, {done.after} now")
