"""Write a folder as a container image for `ctr images import`, with the configuration of image/Dockerfile.

Usage: wrap_image.py NAME OUT.tar FOLDER. The configuration is ENV, USER, WORKDIR and CMD of the last stage.
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
        "config": read_config(DOCKERFILE.read_text(encoding="utf-8")),
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    config = json.dumps(image).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(out, "w") as archive, _packed(Path(folder)) as layer:
        _add(archive, config_name, io.BytesIO(config), len(config))
        _add(archive, "manifest.json", io.BytesIO(text := json.dumps(manifest).encode()), len(text))
        _add(archive, "layer.tar", layer, size_bytes)


def read_config(dockerfile: str) -> dict[str, Any]:
    """Return the container configuration of a Dockerfile's last stage."""
    config: dict[str, Any] = {"Env": []}
    for line in dockerfile.replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            config = {"Env": []}
        elif word == "ENV":
            config["Env"] += shlex.split(rest)
        elif word == "USER":
            config["User"] = rest.strip()
        elif word == "WORKDIR":
            config["WorkingDir"] = rest.strip()
        elif word == "CMD":
            config["Cmd"] = json.loads(rest)
    return config


@contextmanager
def _packed(folder: Path) -> Iterator[IO[bytes]]:
    """Open the folder as a reproducible tar archive."""
    command = ["tar", "--numeric-owner", "--sort=name", "--directory", str(folder), "--create", "."]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tar:
        assert tar.stdout is not None  # noqa: S101 -- stdout is a pipe
        yield tar.stdout
    if tar.returncode:
        raise SystemExit(f"tar failed on {folder}")


def _measure(folder: Path) -> tuple[str, int]:
    """Return the SHA-256 and the size [bytes] of the folder's archive."""
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
