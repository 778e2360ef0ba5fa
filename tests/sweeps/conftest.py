"""Quick studies on the real engine: a disk that is a server with exponential service, and no cache."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from destage.sweeps import Study, parse_study

SCENARIO = """
workload:
  users: 10
  streams:
    - name: orders
      arrival: {kind: closed, think_time: {kind: exponential, mean: 1s}, ios: 5, order: serial}
      operations: {read_fraction: 0.5, size: {kind: constant, value: 8KiB}}
      address: {kind: uniform}
controller: {cache: {capacity: 0}}
array:
  raid: "0"
  disks: 2
  stripe_unit: 64KiB
  disk: {kind: server, servers: 1, service: {kind: exponential, mean: 5ms}, capacity: 10GB}
run: {warm_up: {requests: 100}, window: {requests: 1000}}
"""
MakeStudy = Callable[..., Study]


@pytest.fixture
def document() -> dict[str, Any]:
    """Return the smallest study, to be changed by a test."""
    return {"name": "quick", "scenario": yaml.safe_load(SCENARIO), "replicates": 2}


@pytest.fixture
def make_study(document: dict[str, Any], tmp_path: Path) -> MakeStudy:
    """Return a maker of studies: the smallest one with some keys given."""

    def make(**keys: object) -> Study:
        # In base units, as JSON may have them.
        return parse_study(
            json.dumps({**document, **keys}, sort_keys=True), name="quick.yaml", folder=tmp_path
        )

    return make
