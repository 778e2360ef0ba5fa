"""`destage serve`."""

import ipaddress
import socket
from dataclasses import replace
from typing import Annotated

import typer

from destage.cli.options import Json, Store, SweepName, make_limits
from destage.cli.output import print_data, print_json, print_note, print_warning
from destage.errors import Issue

_LOOPBACK = "127.0.0.1"
_TIMEOUT, _ROWS = "30s", 100_000
"""Default limits of a statement: a browser shows a thousand rows, and other readers wait."""


def serve(
    sweep: SweepName,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 selects a free port.")
    ] = 0,
    address: Annotated[
        str,
        typer.Option(
            "--address", help="Address to listen on; any but a loopback address is open to the network."
        ),
    ] = _LOOPBACK,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="DURATION", help="Time limit of an SQL statement.")
    ] = _TIMEOUT,
    max_rows: Annotated[
        int, typer.Option("--max-rows", min=1, help="Maximum rows of an SQL result.")
    ] = _ROWS,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Memory limit of an SQL statement, such as 2GiB (default: a quarter of the machine's).",
        ),
    ] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show a sweep's report in a browser while the sweep runs.

    The page has read-only SQL, too. Prints the address with its token, and serves until Ctrl-C.
    """
    from destage.server import AllowedHosts, listen, make_token, serve_sweep
    from destage.store import find_sweep

    limits = make_limits(timeout, max_rows, memory)
    if memory is None:
        # Two statements may run at the same time.
        limits = replace(limits, memory_bytes=limits.memory_bytes // 2)
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
