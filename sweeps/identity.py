"""What makes two runs the same run, and two points the same point."""

import copy
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from destage import engine


def canonical_text(document: Mapping[str, Any] | list[Any]) -> str:
    """Return a document as JSON that is equal whenever the documents are.

    Args:
        document: A JSON document.
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def run_id(config: Mapping[str, Any]) -> str:
    """Return the identity of a run: a digest of everything that its result columns are a function of.

    That is the canonical configuration with its root seed and replicate, the *content* of its traces (not
    where they lie) and the version of the engine's results.

    Args:
        config: A canonical configuration whose traces are bound to their content.
    """
    identified = config
    if engine.traces.replays(config):
        identified = copy.deepcopy(dict(config))
        for arrival in engine.traces.replays(identified):
            del arrival["file"]
    subject = {"config": identified, "results_version": engine.RESULTS_VERSION}
    return hashlib.blake2b(canonical_text(subject).encode(), digest_size=16).hexdigest()


def point_id(assignments: Mapping[str, object]) -> str:
    """Return the identity of a point: a digest of what it assigns.

    Args:
        assignments: Values by dotted path.
    """
    return hashlib.blake2b(canonical_text(assignments).encode(), digest_size=8).hexdigest()
