"""Object servers for the tests: processes on free loopback ports that end with the tests."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pyarrow.fs import AzureFileSystem, FileSystem

DEFAULT = "moto"
"""The server that `make test` runs; it accepts any signature."""
PROGRAMS = "DESTAGE_OBJECT_SERVERS"
"""Variable with the output of scripts/object_servers.sh: the program of each further server, if available."""
_ACCESS, _SECRET = "destage-tests", "not-a-secret-of-anybody"
# Azurite takes additional accounts from its environment.
_ACCOUNT, _ACCOUNT_KEY = "destagetests", "bm90LWEtc2VjcmV0LW9mLWFueWJvZHk="
_START_LIMIT_S = 60.0
# The shell stops the server when its standard input ends, as it does even if the tests are killed.
_RUN_UNTIL_STDIN_ENDS = '"$@" </dev/null & server=$!; cat >/dev/null; kill $server; wait $server'


@dataclass(frozen=True)
class Server:
    """A running object server.

    Attributes:
        kind: `moto`, `versitygw`, `fake-gcs-server` or `azurite`.
        address: Its host and port.
        environment: The variables that a client needs.
    """

    kind: str
    address: str
    environment: Mapping[str, str] = field(repr=False)

    def url(self, bucket: str, prefix: str, *, through: str | None = None) -> str:
        """Return the URL of a prefix.

        Args:
            through: Host and port of a proxy.
        """
        address = through or self.address
        if self.kind == "fake-gcs-server":
            # By default the client retries for 15 minutes and looks for Google's credentials.
            options = f"scheme=http&endpoint_override={address}&retry_limit_seconds=5"
            return f"gs://anonymous@{bucket}/{prefix}?{options}"
        if self.kind == "azurite":
            options = f"enable_tls=false&blob_storage_authority={address}&dfs_storage_authority={address}"
            return f"abfs://{bucket}@{_ACCOUNT}.dfs.core.windows.net/{prefix}?{options}"
        return f"s3://{bucket}/{prefix}?scheme=http&endpoint_override={address}&region=us-east-1"

    def make_bucket(self, bucket: str) -> None:
        """Make a bucket with the credentials in this process's environment."""
        if self.kind == "azurite":
            # pyarrow ignores an account key in a URL.
            filesystem: FileSystem = AzureFileSystem(
                _ACCOUNT,
                account_key=_ACCOUNT_KEY,
                blob_storage_authority=self.address,
                dfs_storage_authority=self.address,
                blob_storage_scheme="http",
                dfs_storage_scheme="http",
            )
        else:
            wanted = "project_id=tests" if self.kind == "fake-gcs-server" else "allow_bucket_creation=true"
            filesystem, _ = FileSystem.from_uri(f"{self.url(bucket, '')}&{wanted}")
        filesystem.create_dir(bucket, recursive=False)


def client_environment() -> dict[str, str]:
    """Return the variables that clients of all servers need."""
    # A client of S3 would wait for credentials of EC2.
    return {
        "AWS_ACCESS_KEY_ID": _ACCESS,
        "AWS_SECRET_ACCESS_KEY": _SECRET,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AZURE_STORAGE_KEY": _ACCOUNT_KEY,
    }


def server_kinds() -> list[str]:
    """Return the servers that the tests run against."""
    return [DEFAULT, *_read_programs()]


@contextmanager
def run_server(kind: str, folder: Path) -> Iterator[Server]:
    """Run a server for a `with` block.

    Args:
        folder: An empty folder for its files.

    Raises:
        LookupError: It is not available; the message has the reason.
        RuntimeError: It does not start.
    """
    port = _free_port()
    command, own, clients = _recipe(kind, _program(kind), port, folder)
    log = folder / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            ["/bin/sh", "-c", _RUN_UNTIL_STDIN_ENDS, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **own, "HOME": str(folder)},
            cwd=folder,
        ) as process,
    ):
        try:
            _wait_for_port(kind, port, log)
            yield Server(kind, f"127.0.0.1:{port}", clients)
        finally:
            process.communicate()


def _recipe(
    kind: str, program: str, port: int, folder: Path
) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Return the command of a server, its variables, and those of its clients."""
    # A client would wait for credentials of EC2.
    s3 = {
        "AWS_ACCESS_KEY_ID": _ACCESS,
        "AWS_SECRET_ACCESS_KEY": _SECRET,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    match kind:
        case "moto":
            return [program, "-H", "127.0.0.1", "-p", str(port)], {}, s3
        case "versitygw":
            # Metadata go into files of their own, as the file system may lack extended attributes.
            for name in ("objects", "attributes"):
                (folder / name).mkdir()
            command = [program, "--quiet", "--port", f"127.0.0.1:{port}", "posix"]
            command += ["--sidecar", str(folder / "attributes"), str(folder / "objects")]
            return command, {"ROOT_ACCESS_KEY_ID": _ACCESS, "ROOT_SECRET_ACCESS_KEY": _SECRET}, s3
        case "fake-gcs-server":
            command = [program, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
            command += ["-backend", "memory", "-public-host", f"127.0.0.1:{port}", "-log-level", "error"]
            return command, {}, {}
        case "azurite":
            # It rejects versions of the service's API that are newer than itself.
            command = [program, "--blobPort", str(port), "--inMemoryPersistence", "--silent"]
            command += ["--skipApiVersionCheck", "--disableTelemetry"]
            own = {"AZURITE_ACCOUNTS": f"{_ACCOUNT}:{_ACCOUNT_KEY}"}
            return command, own, {"AZURE_STORAGE_KEY": _ACCOUNT_KEY}
        case _:
            raise ValueError(kind)


def _read_programs() -> dict[str, str]:
    lines = os.environ.get(PROGRAMS, "").splitlines()
    return {name: what for name, _, what in (line.partition(": ") for line in lines if line)}


def _program(kind: str) -> str:
    if kind == DEFAULT:
        server = Path(sys.prefix) / "object-server" / "bin" / "moto_server"
        if not server.exists():
            raise RuntimeError(f"{server} does not exist: run `scripts/setup.sh object-server`")
        return str(server)
    program = _read_programs()[kind]
    if program.startswith("skipped"):
        raise LookupError(f"{kind}: {program}")
    return program


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def _wait_for_port(kind: str, port: int, log: Path) -> None:
    end = time.monotonic() + _START_LIMIT_S
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            if time.monotonic() > end:
                raise RuntimeError(f"{kind} does not answer:\n{log.read_text()[-2000:]}") from None
            time.sleep(0.05)
