"""The example of a Ray cluster is valid and as docs/cluster.md describes it."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import yaml

EXAMPLE = Path(__file__).parents[2] / "examples" / "ray-cluster.yaml"


def test_the_example_matches_the_schema_of_ray() -> None:
    schema = json.loads((files("ray.autoscaler") / "ray-schema.json").read_text())
    cluster = yaml.safe_load(EXAMPLE.read_text())
    jsonschema.validate(cluster, schema)
    kinds = cluster["available_node_types"]
    assert kinds[cluster["head_node_type"]]["resources"] == {"CPU": 0}  # no work beside the driver
    assert sum(kind.get("max_workers", 0) for kind in kinds.values()) == cluster["max_workers"]
