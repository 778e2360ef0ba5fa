"""The image of image/Dockerfile has only what a pod needs, and runs at level `restricted`."""

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
destage query tiny 'SELECT status, count(*) AS runs FROM runs GROUP BY status' --store store --json
"""
COMPILERS = {"cc", "gcc", "g++", "c++", "clang", "cpp", "as", "ld", "make", "go", "rustc", "cargo", "maturin"}
SIZE_BYTES = 1_600_000_000
pytestmark = pytest.mark.image


def test_the_image_runs_unprivileged_on_a_read_only_root(image: Image) -> None:
    assert image.read("destage", "--version").split() == ["destage", VERSION]
    assert image.read("id").split() == ["uid=1000(destage)", "gid=1000(destage)", "groups=1000(destage)"]
    status = dict(line.split(":\t") for line in image.read("grep", "Cap", "/proc/self/status").splitlines())
    assert {status[kind] for kind in ("CapPrm", "CapEff", "CapBnd")} == {"0" * 16}
    assert "Read-only file system" in image.run("touch", "/opt/destage/file").stderr


@pytest.mark.parametrize("executor", ["inline", "ray"])
def test_the_image_runs_a_study(image: Image, executor: str) -> None:
    study = small_study("tiny", "workload.users: [1, 2]", requests=200)
    output = image.read("bash", "-ec", RUN, "bash", study, executor)
    assert json.loads(output) == [{"status": "ok", "runs": 4}]


def test_the_image_computes_the_golden_rows(image: Image) -> None:
    assert_golden(image.read(*build_command()))


def test_the_image_has_the_programs_that_kuberay_runs(image: Image) -> None:
    # KubeRay starts Ray in a login shell, with its PATH, and checks its health with wget.
    found = image.read("env", "-i", "bash", "-lc", "command -v ray destage python wget")
    bin_ = "/opt/destage/bin"
    assert found.split() == [f"{bin_}/ray", f"{bin_}/destage", f"{bin_}/python", "/usr/bin/wget"]


def test_the_image_has_no_compiler(image: Image) -> None:
    folders = [image.root / name for name in ("usr/bin", "usr/sbin", "usr/local/bin", "opt/destage/bin")]
    programs = {path.name for folder in folders for path in folder.iterdir()}
    assert "python3" in programs  # the folders are the right ones
    assert not [name for name in programs if name.rpartition("-")[2] in COMPILERS or name in COMPILERS]


def test_no_file_is_writable_and_no_build_file_is_left(image: Image) -> None:
    writable = ["-uid", "1000", "-o", "-gid", "1000", "-o", "-type", "f", "-perm", "-o+w"]
    listed = subprocess.run(
        ["find", image.root, "-xdev", "(", *writable, ")"],  # noqa: S607 -- from PATH
        capture_output=True,
        check=True,
    )
    assert not listed.stdout
    left = ["tmp", "var/lib/apt/lists", "root/.cache", "source", "wheels", "maturin"]
    assert not [name for name in left if (image.root / name).exists() and any((image.root / name).iterdir())]


def test_all_python_files_are_compiled(image: Image) -> None:
    # On a read-only root each process would compile them again.
    (packages,) = (image.root / "opt" / "destage" / "lib").glob("python3.*/site-packages")
    for package in ("destage", "ray", "pyarrow", "duckdb"):
        sources = list((packages / package).rglob("*.py"))
        compiled = {path.name.split(".")[0] for path in (packages / package).rglob("__pycache__/*.pyc")}
        assert sources
        assert not [path for path in sources if path.stem not in compiled], package


def test_the_image_stays_small(image: Image) -> None:
    counted = subprocess.run(
        ["du", "--summarize", "--one-file-system", "--bytes", image.root],  # noqa: S607 -- from PATH
        capture_output=True,
        check=True,
    )
    assert int(counted.stdout.split()[0]) < SIZE_BYTES


def test_the_labels_name_version_and_revision(image: Image) -> None:
    prefix = "org.opencontainers.image."
    labels = {key.removeprefix(prefix): value for key, value in image.config["Labels"].items()}
    head = subprocess.run(
        ["git", "log", "-1", "--format=%H %cI"],  # noqa: S607 -- from PATH
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


def test_the_configuration_matches_the_chart(image: Image) -> None:
    assert image.config["User"] == "1000:1000"
    assert image.config["WorkingDir"] == image.environment["HOME"] == "/tmp"  # noqa: S108 -- in the image
    assert image.config["Cmd"] == ["destage", "--help"]
    assert "Entrypoint" not in image.config
    assert image.environment["RAY_USAGE_STATS_ENABLED"] == "0"
