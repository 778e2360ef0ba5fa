"""The image of `make image-test`, with its root mounted, and commands in it as in a pod."""

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

_AS_A_POD = """
root=$1 && shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir -m 1777 "$root/dev/shm"
for device in 'null 3' 'zero 5' 'random 8' 'urandom 9'; do
  mknod -m 666 "$root/dev/${device% *}" c 1 "${device#* }"
done
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -o remount,bind,ro "$root"
ip link set lo up
exec chroot "$root" /usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs \
  --inh-caps=-all --bounding-set=-all "$@"
"""
"""An unprivileged user, a read-only root, a writable /tmp, and only the loopback network."""


@dataclass(frozen=True)
class Image:
    """An image.

    Attributes:
        root: The folder with its files.
        config: Its container configuration.
    """

    root: Path
    config: dict[str, Any]

    @cached_property
    def environment(self) -> dict[str, str]:
        """The environment variables of a container."""
        return dict(variable.split("=", 1) for variable in self.config["Env"])

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """Run a command as in a pod at level `restricted`."""
        entered = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-ec", _AS_A_POD]
        inside = ["/usr/bin/env", "-i", f"--chdir={self.config['WorkingDir']}", *self.config["Env"], *command]
        return subprocess.run(
            [*entered, "sh", str(self.root), *inside],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    def read(self, *command: str) -> str:
        """Run a command that must succeed, and return its standard output."""
        done = self.run(*command)
        assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="session")
def image() -> Image:
    """Return the image."""
    if "DESTAGE_IMAGE" not in os.environ:
        pytest.fail("there is no image: run `make image-test`")
    config = json.loads(Path(os.environ["DESTAGE_IMAGE_CONFIG"]).read_text())["OCIv1"]["config"]
    return Image(Path(os.environ["DESTAGE_IMAGE"]), config)
