"""`destage cluster fetch`."""

from dataclasses import asdict
from pathlib import Path

from destage.cli.commands.cluster.job import find_results, open_reader
from destage.cli.commands.cluster.options import Context, Name, Namespace, SweepOption
from destage.cli.parameters.shared_options import Json, Store
from destage.cli.terminal.output import print_data, print_json, print_note, print_warning
from destage.cli.terminal.progress_line import Counter
from destage.errors import Issue, UsageError

_MOST_SHOWN = 20


def fetch(
    name: Name,
    store: Store = None,
    sweep: SweepOption = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Download a sweep's results into a local store.

    Files that are already there are skipped.
    """
    from destage.cluster.in_pod import fetched_results
    from destage.store import default_store

    folder = store if store is not None else default_store()
    if not isinstance(folder, Path):
        raise UsageError(
            "usage.bad-value", f"{folder}: results can only be downloaded to a folder", "--store"
        )
    job, reader = open_reader(name, context, namespace)
    with reader:
        remote = find_results(reader, job, sweep)
        copy = fetched_results.fetch_results(reader, remote.name, folder, Counter("bytes"))
    if as_json:
        print_json(asdict(copy))
    else:
        print_data(f"{copy.path}\n")
    for path in copy.left_out[:_MOST_SHOWN]:
        message = "left out: not a relative path that a folder can have; rename the object"
        print_warning(Issue("cluster.file-left-out", path, message))
    print_note(f"{copy.files} files downloaded ({copy.size / 1e6:.1f} MB), {copy.kept} already present")
