"""`scripts/setup.sh` rejects a checkout whose symbolic links are text files."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINKS = [f"src/destage/{room}" for room in ("engine", "sweeps", "queries", "cluster", "examples")]


def run(*command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_checkout_without_symlinks_is_rejected_with_the_fix(tmp_path: Path) -> None:
    """The fix in the message restores the links."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    for path in ("engine/python", "engine/catalog", "sweeps", "queries", "cluster", "src/destage"):
        (origin / path).mkdir(parents=True)
        (origin / path / "file").touch()
    for link in [*LINKS, "engine/python/catalog_data"]:
        (origin / link).symlink_to((ROOT / link).readlink())
    shutil.copy(ROOT / "engine" / "Cargo.toml", origin / "engine")
    (origin / "examples").mkdir()
    (origin / "examples" / "link.parquet").symlink_to("file")
    shutil.copytree(ROOT / "scripts", origin / "scripts", ignore=shutil.ignore_patterns("*.json", "*.sum"))
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    assert run("git", "init", "--quiet", folder=origin).returncode == 0
    assert run("git", "add", ".", folder=origin).returncode == 0
    assert run("git", *author, "commit", "--quiet", "-m", "x", folder=origin).returncode == 0
    clone_command = ("git", "clone", "--quiet", "-c", "core.symlinks=false", str(origin), str(clone))
    assert run(*clone_command, folder=tmp_path).returncode == 0
    assert (clone / LINKS[0]).is_file()

    done = run("scripts/setup.sh", "python", folder=clone)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {LINKS[0]} is not a symbolic link")
    fix = re.search(r"git config .*", line)
    assert fix is not None
    assert run("sh", "-c", fix[0], folder=clone).returncode == 0
    assert all((clone / link).is_symlink() for link in [*LINKS, "examples/link.parquet"])


def test_an_installer_of_another_digest_is_not_run(tmp_path: Path) -> None:
    clone, tools, mark = tmp_path / "clone", tmp_path / "tools", tmp_path / "mark"
    for path in [*LINKS, "engine/python/catalog_data"]:
        (clone / path).mkdir(parents=True)
    shutil.copy(ROOT / "engine" / "Cargo.toml", clone / "engine")
    shutil.copytree(ROOT / "scripts", clone / "scripts", ignore=shutil.ignore_patterns("*.json", "*.sum"))
    tools.mkdir()
    curl = tools / "curl"
    curl.write_text(
        '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done\n'
        f'[ "$out" = /dev/null ] || printf "#!/bin/sh\\ntouch {mark}\\n" >"$out"\n'
    )
    curl.chmod(0o755)
    done = subprocess.run(
        ["/bin/bash", "scripts/setup.sh", "python"],
        cwd=clone,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(tmp_path), "PYTHON": sys.executable},
    )
    assert done.returncode == 1
    assert "digest" in done.stderr
    assert not mark.exists()
