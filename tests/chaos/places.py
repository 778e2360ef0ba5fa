"""The stores of the schedules: a folder, and buckets behind a proxy that injects faults."""

import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from objects.faulty_proxy import FaultyProxy, faulty_proxy
from objects.servers import Server, run_server, server_kinds

KINDS = {"s3": ("moto", "versitygw"), "gcs": ("fake-gcs-server",), "azure": ("azurite",)}
"""The servers of each service."""


class Place(Protocol):
    """An empty store for one schedule.

    Attributes:
        url: As readers name it.
        faulty_url: As sessions name it, where faults apply.
        lease_s: The age at which a lease expires [s].
    """

    url: str
    faulty_url: str
    lease_s: float

    def inject(self, kind: str, after: int, times: int, seconds: float, choice: float) -> str:
        """Inject a fault into some requests or writes after the first; return a description.

        Args:
            choice: Selects among the requests that can have it, from 0 to 1.
        """
        ...

    def clear(self) -> None:
        """Remove all faults."""
        ...

    def fill(self, share: float) -> str:
        """Leave the store so much of the space that the sweep needs; return how."""
        ...


@dataclass
class Folder:
    """A store in a folder; sessions read the faults in the folder of orders."""

    root: Path
    orders: Path
    size: int
    lease_s: float = 0.0

    @property
    def url(self) -> str:
        """The folder of the store."""
        return str(self.root)

    faulty_url = url

    def inject(self, kind: str, after: int, times: int, seconds: float, choice: float) -> str:
        """Let a commit of a file be slow, fail, or succeed with an error; see `sitecustomize`."""
        operations = ("replace",) if kind == "lost reply" else ("replace", "fsync")
        operation = operations[int(choice * len(operations))]
        part = ("fragments/", "generations/", "")[int(choice * 30) % 3]
        order = {"kind": kind, "operation": operation, "part": part, "after": after, "times": times}
        (self.orders / "orders.json").write_text(json.dumps([{**order, "seconds": seconds}]))
        return f"{operation} of {part or 'any file'}"

    def clear(self) -> None:
        """Remove all faults; a small file system becomes a large one."""
        for path in self.orders.glob("*"):
            if path.stem.isdigit() or path.name == "orders.json":
                path.unlink()
        if self.root.is_mount():
            subprocess.run(["/bin/mount", "-o", "remount,size=64m", str(self.root)], check=True)

    def fill(self, share: float) -> str:
        """Mount a small file system in memory; without the right to mount, let syncs fail instead."""
        self.root.mkdir(parents=True, exist_ok=True)
        size = f"size={max(8, int(share * self.size) >> 10)}k"
        mount = ["/bin/mount", "-t", "tmpfs", "-o", size, "tmpfs", str(self.root)]
        if os.geteuid() == 0 and not subprocess.run(mount, check=False, capture_output=True).returncode:
            return f"a file system in memory, {size}"
        self.inject("full disk", int(share * 20), 1_000_000, 0.0, 0.99)
        return "errors of fsync, without the right to mount"

    def remove(self) -> None:
        """Delete the store."""
        if self.root.is_mount():
            subprocess.run(["/bin/umount", "--lazy", str(self.root)], check=True)
        shutil.rmtree(self.root, ignore_errors=True)


_METHODS = {
    "lost reply": (("PUT", ""), ("PUT", "fragments/"), ("PUT", "generations/"), ("DELETE", ""), ("POST", "")),
    "reset": (("PUT", ""), ("GET", ""), ("PUT", "generations/"), ("", "")),
    "slow": (("", ""), ("PUT", ""), ("GET", ""), ("PUT", "lease/")),
    "full disk": (("PUT", ""),),
}
_PROXY_KINDS = {
    "lost reply": "lose the response",
    "reset": "reset",
    "slow": "delay",
    "full disk": "no space",
}


def lease_seconds(kind: str) -> float:
    """Return a short age at which a lease at a server expires [s]; Azurite may take seven for a request."""
    return 12.0 if kind == "azurite" else 6.0


@dataclass
class Bucket:
    """A store in a bucket; sessions reach it through a proxy."""

    server: Server
    proxy: FaultyProxy
    name: str

    @property
    def url(self) -> str:
        """The URL of the store at the server."""
        return self.server.url(self.name, "a/prefix")

    @property
    def faulty_url(self) -> str:
        """The URL of the store through the proxy."""
        return self.server.url(self.name, "a/prefix", through=self.proxy.address)

    @property
    def lease_s(self) -> float:
        """The age at which a lease expires [s]."""
        return lease_seconds(self.server.kind)

    def inject(self, kind: str, after: int, times: int, seconds: float, choice: float) -> str:
        """Let some requests fail, be slow, or succeed without a response."""
        methods = _METHODS[kind]
        method, part = methods[int(choice * len(methods))]
        if self.server.kind == "fake-gcs-server" and method == "PUT":
            method = "POST"  # a small object is one POST; its name is in the body
            part = ""
        self.proxy.add_fault(
            _PROXY_KINDS[kind],  # type: ignore[arg-type]
            method=method,
            part=part,
            times=times,
            seconds=seconds,
            after=after,
        )
        return f"{method or 'any request'} {part}".strip()

    def clear(self) -> None:
        """Remove all faults."""
        self.proxy.clear()

    def fill(self, share: float) -> str:
        """Let the service respond 507 to every write after some."""
        return self.inject("full disk", int(share * 30), 1_000_000, 0.0, 0.0)


class Servers:
    """The servers of buckets, each started when a schedule first needs it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._running: dict[str, tuple[Server, FaultyProxy]] = {}

    def open_bucket(self, store: str, choice: float) -> Bucket:
        """Return a new bucket of a service.

        Raises:
            LookupError: No server of the service is installed.
        """
        kinds = [kind for kind in KINDS[store] if kind in server_kinds()]
        if not kinds:
            raise LookupError(f"no server for {store}: see scripts/object_servers.sh")
        kind = kinds[int(choice * len(kinds))]
        if kind not in self._running:
            folder = self._folder / kind
            folder.mkdir()
            server = self._stack.enter_context(run_server(kind, folder))
            os.environ.update(server.environment)
            self._running[kind] = server, self._stack.enter_context(faulty_proxy(server.address))
        server, proxy = self._running[kind]
        proxy.clear()
        name = f"bucket-{secrets.token_hex(6)}"
        server.make_bucket(name)
        return Bucket(server, proxy, name)


@contextmanager
def run_servers(folder: Path) -> Iterator[Servers]:
    """Run servers for a `with` block."""
    before = dict(os.environ)
    try:
        with ExitStack() as stack:
            yield Servers(folder, stack)
    finally:
        os.environ.clear()
        os.environ.update(before)
