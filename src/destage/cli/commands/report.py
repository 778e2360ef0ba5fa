"""`destage report`."""

import ipaddress
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.parameters.completion import complete_measured_sets
from destage.cli.parameters.shared_options import (
    Json,
    Store,
    SweepName,
    check_suffix,
    make_limits,
    reject_options,
)
from destage.cli.terminal.output import print_data, print_json, print_note, print_warning
from destage.cli.terminal.printed_rows import find_sweep
from destage.cli.terminal.terminal_text import wrap_lines
from destage.errors import Issue

if TYPE_CHECKING:
    from destage.sql import QueryLimits
    from destage.store import Location


def report(
    context: typer.Context,
    sweep: SweepName,
    plot: Annotated[
        str | None,
        typer.Option("--plot", metavar="FIGURE", help="Write one figure as SVG instead of the report."),
    ] = None,
    measured: Annotated[
        str | None,
        typer.Option(
            "--measured",
            metavar="NAME",
            help="A measured set of the store, drawn beside the simulated points (figure measured).",
            autocompletion=complete_measured_sets,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write to FILE (default: the sweep's directory; stdout for a figure).",
        ),
    ] = None,
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Show the report in a browser while the sweep runs, until Ctrl-C."),
    ] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of --serve; 0 selects a free port.")
    ] = 0,
    address: Annotated[
        str,
        typer.Option(
            "--address", help="Address of --serve; any but a loopback address is open to the network."
        ),
    ] = "127.0.0.1",
    timeout: Annotated[
        str,
        typer.Option("--timeout", metavar="DURATION", help="Time limit of an SQL statement of --serve."),
    ] = "30s",
    max_rows: Annotated[
        int, typer.Option("--max-rows", min=1, help="Maximum rows of an SQL result of --serve.")
    ] = 100_000,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Memory limit of an SQL statement of --serve, such as 2GiB (default: a quarter of the "
            "machine's).",
        ),
    ] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Print a sweep's answer and write its report.

    The report is one self-contained HTML file. With --serve, prints the address of a page that has the report
    and read-only SQL, with its token.
    """
    if serve:
        reject_options(context, "cannot be combined with --serve", "--plot", "--measured", "--out")
        limits = make_limits(timeout, max_rows, memory)
        if memory is None:
            # Two statements may run at the same time.
            limits = replace(limits, memory_bytes=limits.memory_bytes // 2)
        _serve(sweep, store, port, address, limits, as_json=as_json)
        return
    served = ("--port", "--address", "--timeout", "--max-rows", "--memory")
    reject_options(context, "requires --serve", *served)
    check_suffix(out, "--out", ".html" if plot is None else ".svg")
    from destage.queries import open_session
    from destage.queries.report.page import draw_figure, write_report
    from destage.queries.report.reported_kinds import compose_answer

    with open_session(find_sweep(sweep, store)) as session:
        figures = None if measured is None else session.read_measured(measured)
        if plot is None:
            answer = compose_answer(session)
            file = write_report(session, out, figures)
            if as_json:
                print_json({"file": str(file), "answer": answer})
            else:
                print_data(wrap_lines(answer))
                print_note(f"report: {file}")
            return
        picture = draw_figure(session, plot, figures)
    if out is None:
        print_data(picture)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(picture)
    print_json({"file": str(out)}) if as_json else print_data(f"{out}\n")


def _serve(
    sweep: str, store: "Location | None", port: int, address: str, limits: "QueryLimits", *, as_json: bool
) -> None:
    """Serve the page of a sweep until Ctrl-C."""
    from destage.server import AllowedHosts, listen, make_token, serve_sweep
    from destage.store import find_sweep

    path = find_sweep(sweep, store)
    with listen(address, port) as listener:
        host, port = listener.getsockname()[:2]
        is_local = ipaddress.ip_address(host.partition("%")[0]).is_loopback
        token = make_token()
        place = address if is_local else _name_machine(address, host)
        shown = f"[{place}]" if ":" in place else place
        url = f"http://{shown}:{port}/?token={token}"
        if not is_local:
            message = "open to the network without encryption; anyone with this address can read the sweep"
            print_warning(Issue("usage.open-to-network", "--address", message))
        print_json({"sweep": path.name, "url": url}) if as_json else print_data(f"{url}\n")
        print_note(f"serving {path.name}; press Ctrl-C to stop")
        names = frozenset({address.lower(), socket.gethostname().lower()})
        hosts = AllowedHosts(is_local=True) if is_local else AllowedHosts(names, is_local=False)
        serve_sweep(path, listener, token, hosts, limits)


def _name_machine(address: str, host: str) -> str:
    """Return the host name of this machine if the server listens on all addresses, else the address."""
    return socket.gethostname() if ipaddress.ip_address(host.partition("%")[0]).is_unspecified else address
