"""Identities: what makes two runs the same run, and two points the same point."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from destage import engine

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_text(document: Mapping[str, Any] | list[Any]) -> str:
    """Return a document as JSON text; equal documents have equal texts."""
    return _ENCODER.encode(document)


def list_members(path: str, values: Sequence[object]) -> list[str]:
    """Return a member of a document for each of some values, as in its canonical text."""
    name = canonical_text([path])[1:-1]
    # The text of a number is its representation, which takes a tenth of the encoder's time.
    return [
        f"{name}:{value!r}"
        if type(value) is int or (type(value) is float and math.isfinite(value))
        else f"{name}:{canonical_text([value])[1:-1]}"
        for value in values
    ]


def run_id(config: str) -> str:
    """Return the identity of a run: a digest of everything that its result columns are a function of.

    That is the canonical configuration with its root seed and replicate, the content of its traces (not
    their location) and the version of the engine's results.

    Args:
        config: The canonical text of a configuration, traces by their digests without file names.
    """
    subject = f'{{"config":{config},"results_version":{engine.RESULTS_VERSION}}}'
    return hashlib.blake2b(subject.encode(), digest_size=16).hexdigest()


def point_id(assignments: Mapping[str, object]) -> str:
    """Return the identity of a point: a digest of its assignments, values by dotted path."""
    return hashlib.blake2b(canonical_text(assignments).encode(), digest_size=8).hexdigest()
