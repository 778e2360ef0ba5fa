"""The replacement policies of the engine, as its schema lists them."""

import json

from destage.engine import _engine

POLICIES: tuple[str, ...] = tuple(
    branch["const"] for branch in json.loads(_engine.schema())["$defs"]["Policy"]["oneOf"]
)
