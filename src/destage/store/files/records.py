"""JSON records with a digest of their fields: heads and progress.

A digest shows accidental damage only. A record with a correct digest may still be forged, so that each field
has its type before anything uses it.
"""

import json
from collections.abc import Mapping
from typing import Any

from destage.errors import StoreError
from destage.objects import Location
from destage.store.files.digests import damaged, digest_of

_MOST = 1 << 53
"""Most that a count can be: above it, a float is not exact."""


def encode_record(fields: Mapping[str, Any]) -> bytes:
    """Return a record of some fields."""
    return json.dumps({**fields, "digest": _digest(fields)}, indent=1).encode() + b"\n"


def decode_record(data: bytes, place: Location) -> dict[str, Any]:
    """Return the fields of a record.

    Raises:
        StoreError: It is damaged.
    """
    try:
        content = json.loads(data)
        digest = content.pop("digest")
        is_whole = digest == _digest(content)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise damaged(place) from None
    if not is_whole:
        raise damaged(place)
    fields: dict[str, Any] = content
    return fields


def is_count(value: object) -> bool:
    """Return whether a value of a record is a number of things."""
    return type(value) is int and 0 <= value <= _MOST


def is_amount(value: object) -> bool:
    """Return whether a value of a record is a finite number that is not negative."""
    return type(value) in (int, float) and 0 <= value <= _MOST  # type: ignore[operator]


def invalid(place: Location, reason: str) -> StoreError:
    """Return the error of a file whose digest is correct and whose content Destage does not write."""
    message = f"{reason}; Destage does not write such a file"
    return StoreError("store.invalid-file", message, str(place))


def _digest(fields: Mapping[str, Any]) -> str:
    return digest_of(json.dumps(fields, sort_keys=True).encode())
