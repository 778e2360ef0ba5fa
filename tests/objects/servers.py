"""Object stores of the tests' own: processes on free loopback ports that end when the tests do."""

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

ALWAYS = "moto"
"""The server that `make test` runs; it believes any signature."""
GIVEN = "DESTAGE_OBJECT_SERVERS"
"""What scripts/object_servers.sh printed: for each further server its program, or why there is none."""
_ACCESS, _SECRET = "destage-tests", "not-a-secret-of-anybody"
# Azurite takes accounts of our own by its environment.
_ACCOUNT, _ACCOUNT_KEY = "destagetests", "bm90LWEtc2VjcmV0LW9mLWFueWJvZHk="
_PATIENCE_S = 60.0
# The shell ends the server when its standard input ends: as the tests do, even those that are killed.
_UNTIL_WE_END = '"$@" </dev/null & server=$!; cat >/dev/null; kill $server; wait $server'


@dataclass(frozen=True)
class Server:
    """An object store that answers.

    Attributes:
        kind: What it is: `moto`, `versitygw`, `fake-gcs-server` or `azurite`.
        address: Its host and port.
        environment: What a client's environment must hold.
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
            # The client would go on trying for a quarter of an hour, and look for Google's credentials.
            options = f"scheme=http&endpoint_override={address}&retry_limit_seconds=5"
            return f"gs://anonymous@{bucket}/{prefix}?{options}"
        if self.kind == "azurite":
            options = f"enable_tls=false&blob_storage_authority={address}&dfs_storage_authority={address}"
            return f"abfs://{bucket}@{_ACCOUNT}.dfs.core.windows.net/{prefix}?{options}"
        return f"s3://{bucket}/{prefix}?scheme=http&endpoint_override={address}&region=us-east-1"

    def make_bucket(self, bucket: str) -> None:
        """Make a bucket, by the credentials in this process's environment."""
        if self.kind == "azurite":
            # pyarrow takes an account's key from nowhere but here: in a URL it is passed over.
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


def kinds() -> list[str]:
    """Return which servers the tests are run against."""
    return [ALWAYS, *_given()]


@contextmanager
def serving(kind: str, folder: Path) -> Iterator[Server]:
    """Run a server for the length of a `with` block.

    Args:
        folder: An empty folder of its own.

    Raises:
        LookupError: It cannot be had here; the message says why.
        RuntimeError: It does not start.
    """
    port = _free_port()
    command, own, clients = _recipe(kind, _program(kind), port, folder)
    log = folder / "log"
    with (
        log.open("wb") as told,
        subprocess.Popen(
            ["/bin/sh", "-c", _UNTIL_WE_END, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=told,
            stderr=subprocess.STDOUT,
            env={**os.environ, **own, "HOME": str(folder)},
            cwd=folder,
        ) as process,
    ):
        try:
            _await(kind, port, log)
            yield Server(kind, f"127.0.0.1:{port}", clients)
        finally:
            process.communicate()


def _recipe(
    kind: str, program: str, port: int, folder: Path
) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Return a server's command, what its environment holds, and what its clients' environment must hold."""
    # Nobody here is on EC2: a client would look for credentials there, and wait.
    s3 = {
        "AWS_ACCESS_KEY_ID": _ACCESS,
        "AWS_SECRET_ACCESS_KEY": _SECRET,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    match kind:
        case "moto":
            return [program, "-H", "127.0.0.1", "-p", str(port)], {}, s3
        case "versitygw":
            # Objects are files. What S3 knows of them beyond that goes into files beside them, so that no
            # file system without extended attributes is in the way.
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
            # It knows the versions of the service that were there when it was made, and no later one.
            command = [program, "--blobPort", str(port), "--inMemoryPersistence", "--silent"]
            command += ["--skipApiVersionCheck", "--disableTelemetry"]
            own = {"AZURITE_ACCOUNTS": f"{_ACCOUNT}:{_ACCOUNT_KEY}"}
            return command, own, {"AZURE_STORAGE_KEY": _ACCOUNT_KEY}
        case _:
            raise ValueError(kind)


def _given() -> dict[str, str]:
    lines = os.environ.get(GIVEN, "").splitlines()
    return {name: what for name, _, what in (line.partition(": ") for line in lines if line)}


def _program(kind: str) -> str:
    if kind == ALWAYS:
        program = Path(sys.prefix) / "object-server" / "bin" / "moto_server"
        if not program.exists():
            raise RuntimeError(f"{program} is not there: run `scripts/setup.sh object-server`")
        return str(program)
    found = _given()[kind]
    if found.startswith("skipped"):
        raise LookupError(f"{kind}: {found}")
    return found


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def _await(kind: str, port: int, log: Path) -> None:
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            if time.monotonic() > end:
                raise RuntimeError(f"{kind} does not answer:\n{log.read_text()[-2000:]}") from None
            time.sleep(0.05)
