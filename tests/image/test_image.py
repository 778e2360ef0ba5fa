"""The image of image/Dockerfile holds what a pod needs and no more, and runs as level `restricted` asks."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from golden_rows_in_image import assert_golden, build_command
from image.conftest import Image
from small_studies import small_study

ROOT = Path(__file__).parents[2]
VERSION = str(yaml.safe_load((ROOT / "helm" / "destage" / "Chart.yaml").read_text())["appVersion"])
RUN = """
printf %s "$1" > study.yaml
destage run study.yaml --store store --executor "$2" --quiet >&2
destage sql tiny 'SELECT status, count(*) AS runs FROM runs GROUP BY status' --store store --format json
"""
COMPILERS = {"cc", "gcc", "g++", "c++", "clang", "cpp", "as", "ld", "make", "go", "rustc", "cargo", "maturin"}
SIZE_BYTES = 1_600_000_000
pytestmark = pytest.mark.image


def test_it_runs_for_a_user_without_rights_on_a_root_that_is_never_written(image: Image) -> None:
    assert image.say("destage", "--version").split() == ["destage", VERSION]
    assert image.say("id").split() == ["uid=1000(destage)", "gid=1000(destage)", "groups=1000(destage)"]
    status = dict(line.split(":\t") for line in image.say("grep", "Cap", "/proc/self/status").splitlines())
    assert {status[kind] for kind in ("CapPrm", "CapEff", "CapBnd")} == {"0" * 16}
    assert "Read-only file system" in image.run("touch", "/opt/destage/file").stderr


@pytest.mark.parametrize("executor", ["inline", "ray"])
def test_it_runs_a_study(image: Image, executor: str) -> None:
    study = small_study("tiny", "workload.users: [1, 2]", requests=200)
    told = image.say("bash", "-ec", RUN, "bash", study, executor)
    assert json.loads(told) == [{"status": "ok", "runs": 4}]


def test_it_gives_every_golden_row(image: Image) -> None:
    assert_golden(image.say(*build_command()))


def test_kuberay_finds_what_it_asks_for(image: Image) -> None:
    # It replaces PATH by that of a login shell, starts Ray there, and asks by wget whether a node is well.
    found = image.say("env", "-i", "bash", "-lc", "command -v ray destage python wget")
    bin_ = "/opt/destage/bin"
    assert found.split() == [f"{bin_}/ray", f"{bin_}/destage", f"{bin_}/python", "/usr/bin/wget"]


def test_no_compiler_is_in_it(image: Image) -> None:
    folders = [image.root / name for name in ("usr/bin", "usr/sbin", "usr/local/bin", "opt/destage/bin")]
    programs = {path.name for folder in folders for path in folder.iterdir()}
    assert "python3" in programs  # it is looked for in the right place
    assert not [name for name in programs if name.rpartition("-")[2] in COMPILERS or name in COMPILERS]


def test_the_user_may_change_nothing_of_it_and_no_step_left_anything_behind(image: Image) -> None:
    writable = ["-uid", "1000", "-o", "-gid", "1000", "-o", "-type", "f", "-perm", "-o+w"]
    listed = subprocess.run(
        ["find", image.root, "-xdev", "(", *writable, ")"],  # noqa: S607 -- that of PATH
        capture_output=True,
        check=True,
    )
    assert not listed.stdout
    left = ["tmp", "var/lib/apt/lists", "root/.cache", "source", "wheels", "maturin"]
    assert not [name for name in left if (image.root / name).exists() and any((image.root / name).iterdir())]


def test_python_finds_everything_compiled(image: Image) -> None:
    # It could keep nothing it compiles itself: each process would compile all anew.
    (packages,) = (image.root / "opt" / "destage" / "lib").glob("python3.*/site-packages")
    for package in ("destage", "ray", "pyarrow", "polars"):
        sources = list((packages / package).rglob("*.py"))
        compiled = {path.name.split(".")[0] for path in (packages / package).rglob("__pycache__/*.pyc")}
        assert sources
        assert not [path for path in sources if path.stem not in compiled], package


def test_it_is_no_larger_than_what_it_needs(image: Image) -> None:
    counted = subprocess.run(
        ["du", "--summarize", "--one-file-system", "--bytes", image.root],  # noqa: S607 -- that of PATH
        capture_output=True,
        check=True,
    )
    assert int(counted.stdout.split()[0]) < SIZE_BYTES


def test_it_tells_where_it_comes_from(image: Image) -> None:
    prefix = "org.opencontainers.image."
    labels = {key.removeprefix(prefix): value for key, value in image.config["Labels"].items()}
    head = subprocess.run(
        ["git", "log", "-1", "--format=%H %cI"],  # noqa: S607 -- that of PATH
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [labels["revision"], labels["created"]] == head.stdout.split()
    assert labels["version"] == VERSION
    assert labels["licenses"] == "Apache-2.0"
    assert labels["title"] == "Destage"
    assert labels["base.name"]
    assert labels["description"]


def test_it_starts_as_the_chart_expects(image: Image) -> None:
    assert image.config["User"] == "1000:1000"
    assert image.config["WorkingDir"] == image.environment["HOME"] == "/tmp"  # noqa: S108 -- the image's
    assert image.config["Cmd"] == ["destage", "--help"]
    assert "Entrypoint" not in image.config
    assert image.environment["RAY_USAGE_STATS_ENABLED"] == "0"
