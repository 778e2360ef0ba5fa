"""The commands of the guide for a store in a bucket."""

import shlex
import subprocess
import sys
from pathlib import Path

from documented_commands import BUCKET, find_commands
from small_studies import small_study

_DESTAGE = "from destage.cli import app; app()"


def test_the_commands_for_a_bucket_work(store_url: str, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(small_study("small", "workload.users: [5, 10]"))
    commands = find_commands("docs/guide.md", BUCKET)
    assert commands
    for command in commands:
        words = [store_url if BUCKET in word else word for word in shlex.split(command)[1:]]
        done = subprocess.run(
            [sys.executable, "-c", _DESTAGE, *("small" if word == "SWEEP" else word for word in words)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
    assert "4" in done.stdout
