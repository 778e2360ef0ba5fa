"""`destage cluster fetch` and `query`: the results of a sweep on a cluster."""

from dataclasses import asdict
from pathlib import Path

from destage.cli.commands.cluster.job import find_results, find_sweep, open_reader
from destage.cli.commands.cluster.options import Context, Name, Namespace, SweepOption
from destage.cli.parameters.shared_options import Format, Json, Out, Statements, Store, choose_store
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

    folder = choose_store(store)
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


def query(
    name: Name,
    statements: Statements,
    form: Format = "table",
    out: Out = None,
    sweep: SweepOption = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Run read-only SQL statements on a sweep's results.

    The statements run in the cluster; their rows are printed here.
    """
    from destage.cluster.in_pod import fetched_results

    job, reader = open_reader(name, context, namespace)
    with reader:
        directory = find_sweep(reader, job, sweep) or find_results(reader, job, sweep).name
        data = fetched_results.query_results(reader, directory, statements, "json" if as_json else form)
    if out is None:
        print_data(data)
    else:
        out.write_bytes(data)
        print_note(f"{len(data)} bytes written to {out}")
