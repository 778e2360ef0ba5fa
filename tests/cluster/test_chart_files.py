"""The chart's generated files are up to date, and its versions are those of the package."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from destage.cluster import Settings, read_settings
from destage.cluster.setup.helm_values import as_values

ROOT = Path(__file__).parents[2]
CHART = ROOT / "helm" / "destage"


def test_generated_files_are_up_to_date() -> None:
    check = [sys.executable, ROOT / "scripts" / "generate_chart.py", "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_chart_and_builder_have_the_same_defaults() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert values.pop("upgrade") == {"replaceRunning": False}
    values["sweep"]["study"] = "call_center"
    assert read_settings(values) == read_settings({"sweep": {"study": "call_center"}})
    assert as_values(Settings())["workers"][0]["spot"] is True


def test_the_schema_is_closed_and_describes_every_setting() -> None:
    def check(schema: dict[str, object], path: str) -> None:
        for name, each in schema.get("properties", {}).items():  # type: ignore[attr-defined]
            assert each["description"].endswith("."), f"{path}.{name}"
            if "properties" in each:
                assert each["additionalProperties"] is False, f"{path}.{name}"
            check(each, f"{path}.{name}")
            check(each.get("items", {}), f"{path}.{name}[]")

    schema = json.loads((CHART / "values.schema.json").read_text())
    assert schema["additionalProperties"] is False
    check(schema, "")


def test_versions_match_the_package_and_the_locked_ray() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert chart["version"] == chart["appVersion"] == version
    locked = re.search(r"^ray==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert locked is not None
    assert Settings().ray_version == locked[1]
