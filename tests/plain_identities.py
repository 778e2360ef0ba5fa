"""The identities of runs and points by `json` and `hashlib`, which the engine's must equal."""

import hashlib
import json
from collections.abc import Mapping

from destage import engine


def canonical_text(document: object) -> str:
    """Return a document with sorted keys and without spaces."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def run_id(config: str) -> str:
    """Return the digest of a canonical configuration, without its trace files, and the results version."""
    document = json.loads(config)
    for arrival in engine.configuration.find_replays(document):
        del arrival["file"]
    subject = canonical_text({"config": document, "results_version": engine.RESULTS_VERSION})
    return hashlib.blake2b(subject.encode(), digest_size=16).hexdigest()


def point_id(assignments: Mapping[str, object]) -> str:
    """Return the digest of what a point assigns."""
    return hashlib.blake2b(canonical_text(assignments).encode(), digest_size=8).hexdigest()
