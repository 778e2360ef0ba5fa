"""Locations: a file or folder, or an object or prefix of a bucket."""

import re
from pathlib import Path

from destage.objects.object_path import ObjectPath

Location = Path | ObjectPath
"""Both types have the methods that Destage uses."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_address(text: str) -> bool:
    """Return whether a text is a URL rather than a path."""
    return _URL.match(text) is not None


def locate(text: str | Location) -> Location:
    """Return the location that a text means.

    Args:
        text: A path, or a URL as in `s3://bucket/prefix`.

    Raises:
        StoreError: It is a URL, but not of a bucket.
    """
    if isinstance(text, str) and is_address(text):
        return ObjectPath.parse(text)
    return Path(text) if isinstance(text, str) else text
