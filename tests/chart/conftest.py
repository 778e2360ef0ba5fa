"""Helm, the chart, and KubeRay's CRDs."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from chart.custom_resources import CustomResources

CHART = Path(__file__).parents[2] / "helm" / "destage"
KUBERNETES = ("--kube-version", "1.34.0")
KNOWN = ("ray.io/v1/RayJob", "ray.io/v1/RayCluster", "monitoring.coreos.com/v1/PodMonitor")


@dataclass(frozen=True)
class Helm:
    """The chart, ready to be rendered.

    Attributes:
        chart: Its folder.
        folder: The folder for values files.
    """

    chart: Path
    folder: Path

    def run(self, *args: str) -> "subprocess.CompletedProcess[str]":
        """Run helm."""
        return subprocess.run(["helm", *args], capture_output=True, text=True, check=False)  # noqa: S607 -- from PATH

    def render(self, values: dict[str, Any], *, known: tuple[str, ...] = KNOWN) -> list[dict[str, Any]]:
        """Return the objects of a release `demo` in the namespace `sweeps`, without test hooks."""
        done = self.template(values, known=known)
        assert done.returncode == 0, done.stderr
        found = [one for one in yaml.safe_load_all(done.stdout) if one]
        return [one for one in found if "helm.sh/hook" not in one["metadata"].get("annotations", {})]

    def template(
        self, values: dict[str, Any], *, known: tuple[str, ...] = KNOWN, name: str = "demo"
    ) -> "subprocess.CompletedProcess[str]":
        """Run `helm template`."""
        path = self.folder / "values.yaml"
        path.write_text(yaml.safe_dump(values))
        apis = [word for api in known for word in ("--api-versions", api)]
        given = ["--namespace", "sweeps", "--values", str(path), *KUBERNETES, *apis]
        return self.run("template", name, str(self.chart), *given)


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    """Return the chart as it is in the clone."""
    if shutil.which("helm") is None:
        pytest.fail("Helm is missing: run `make chart-test`, which builds it")
    return Helm(CHART, tmp_path_factory.mktemp("chart"))


@pytest.fixture(scope="session")
def kuberay() -> CustomResources:
    """Return KubeRay's CRDs."""
    folder = os.environ.get("DESTAGE_KUBERAY_CRDS")
    if not folder:
        # `make chart-test` downloads them if it can.
        pytest.skip("KubeRay's CRDs are missing: set DESTAGE_KUBERAY_CRDS to their folder")
    return CustomResources(Path(folder))
