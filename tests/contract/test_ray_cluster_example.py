"""The example of a Ray cluster is one that Ray takes, and what docs/cluster.md says of it is so."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import yaml

EXAMPLE = Path(__file__).parents[2] / "examples" / "ray-cluster.yaml"


def test_ray_takes_the_example() -> None:
    schema = json.loads((files("ray.autoscaler") / "ray-schema.json").read_text())
    cluster = yaml.safe_load(EXAMPLE.read_text())
    jsonschema.validate(cluster, schema)
    kinds = cluster["available_node_types"]
    assert kinds[cluster["head_node_type"]]["resources"] == {"CPU": 0}  # the driver's memory is its own
    assert sum(kind.get("max_workers", 0) for kind in kinds.values()) == cluster["max_workers"]
