"""The image of the test cluster, built without the Dockerfile, has the Dockerfile's layout."""

import json
import os
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from image.conftest import Image

_DEFAULT = Path.home() / ".cache" / "destage" / "test-cluster"
TEST_CLUSTER = Path(os.environ.get("DESTAGE_TEST_CLUSTER", _DEFAULT))
BUNDLED = {"pip", "setuptools"}
"""Packages of a new environment, which depend on the Python version."""
pytestmark = pytest.mark.image


@pytest.fixture(scope="module")
def cluster_image() -> Image:
    """Return the image of the test cluster."""
    archive, root = TEST_CLUSTER / "destage.tar", TEST_CLUSTER / "destage-root"
    if not archive.exists():
        pytest.skip(f"`make cluster-test` has built no image in {TEST_CLUSTER}")
    with tarfile.open(archive) as content:
        name = next(member for member in content.getnames() if member not in ("manifest.json", "layer.tar"))
        config = content.extractfile(name)
        assert config is not None
        return Image(root, json.load(config)["config"])


def read_config(image: Image) -> dict[str, Any]:
    return {key: image.config[key] for key in ("Env", "User", "WorkingDir", "Cmd")}


def find_packages(image: Image) -> set[str]:
    found = (image.root / "opt" / "destage" / "lib").glob("python3.*/site-packages/*.dist-info")
    return {path.name.partition("-")[0].lower() for path in found} - BUNDLED


def find_programs(image: Image) -> set[str]:
    found = (path.name for path in (image.root / "opt" / "destage" / "bin").iterdir())
    return {re.sub(r"3\.\d+", "3.X", name) for name in found if not name.lower().startswith("activate")}


def find_account(image: Image) -> list[str]:
    lines = [(image.root / "etc" / name).read_text().splitlines() for name in ("passwd", "group")]
    return [line for each in lines for line in each if "destage" in line]


def test_both_images_have_the_same_configuration(image: Image, cluster_image: Image) -> None:
    assert read_config(cluster_image) == read_config(image)
    assert find_account(cluster_image) == find_account(image)
    assert len(find_account(image)) == 2
    profile = Path("etc") / "profile.d" / "destage.sh"
    assert (cluster_image.root / profile).read_text() == (image.root / profile).read_text()


def test_both_images_have_the_same_packages_and_programs(image: Image, cluster_image: Image) -> None:
    assert find_packages(cluster_image) == find_packages(image)
    assert find_programs(cluster_image) == find_programs(image)
    for name in ("usr/bin/wget", "usr/bin/pgrep", "opt/destage/sbom.cdx.json"):
        assert (cluster_image.root / name).exists()
        assert (image.root / name).exists()
    folders = [
        sorted(path.name for path in (one.root / "opt" / "destage").iterdir())
        for one in (cluster_image, image)
    ]
    assert {*folders[0]} ^ {*folders[1]} <= {".gitignore"}
    assert not any((cluster_image.root / "tmp").iterdir())
