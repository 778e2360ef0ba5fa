"""`destage cluster query`."""

from destage.cli.commands.cluster.job import find_results, find_sweep, open_reader
from destage.cli.commands.cluster.options import Context, Name, Namespace, SweepOption
from destage.cli.parameters.shared_options import Format, Json, Out, Statements
from destage.cli.terminal.output import print_data, print_note


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
