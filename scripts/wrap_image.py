"""Wrap a folder as a container image that `ctr images import` takes, started as image/Dockerfile says.

Usage: wrap_image.py NAME OUT.tar FOLDER. Of the Dockerfile's last stage ENV, USER, WORKDIR and CMD are taken.
"""

import hashlib
import io
import json
import platform
import shlex
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

DOCKERFILE = Path(__file__).parents[1] / "image" / "Dockerfile"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def main() -> None:
    """Write the image."""
    name, out, folder = sys.argv[1:]
    digest, size_bytes = _measure(Path(folder))
    image = {
        "architecture": _ARCHITECTURES[platform.machine()],
        "os": "linux",
        "config": start_of(DOCKERFILE.read_text(encoding="utf-8")),
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    config = json.dumps(image).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(out, "w") as archive, _packed(Path(folder)) as layer:
        _add(archive, config_name, io.BytesIO(config), len(config))
        _add(archive, "manifest.json", io.BytesIO(text := json.dumps(manifest).encode()), len(text))
        _add(archive, "layer.tar", layer, size_bytes)


def start_of(dockerfile: str) -> dict[str, Any]:
    """Return what a container of the last stage of a Dockerfile is started with."""
    start: dict[str, Any] = {"Env": []}
    for line in dockerfile.replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            start = {"Env": []}
        elif word == "ENV":
            start["Env"] += shlex.split(rest)
        elif word == "USER":
            start["User"] = rest.strip()
        elif word == "WORKDIR":
            start["WorkingDir"] = rest.strip()
        elif word == "CMD":
            start["Cmd"] = json.loads(rest)
    return start


@contextmanager
def _packed(folder: Path) -> Iterator[IO[bytes]]:
    """Give the folder as one archive, the same bytes each time."""
    command = ["tar", "--numeric-owner", "--sort=name", "--directory", str(folder), "--create", "."]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tar:
        assert tar.stdout is not None  # noqa: S101 -- a pipe was asked for
        yield tar.stdout
    if tar.returncode:
        raise SystemExit(f"tar failed on {folder}")


def _measure(folder: Path) -> tuple[str, int]:
    """Return the SHA-256 of the folder's archive, and its size [bytes]."""
    digest, size_bytes = hashlib.sha256(), 0
    with _packed(folder) as layer:
        while block := layer.read(1 << 20):
            digest.update(block)
            size_bytes += len(block)
    return digest.hexdigest(), size_bytes


def _add(archive: tarfile.TarFile, name: str, content: IO[bytes], size_bytes: int) -> None:
    member = tarfile.TarInfo(name)
    member.size = size_bytes
    archive.addfile(member, content)


if __name__ == "__main__":
    main()
