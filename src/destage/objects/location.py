"""Where something lies: a file or folder, or an object or prefix of a bucket."""

import re
from pathlib import Path

from destage.objects.object_path import ObjectPath

Location = Path | ObjectPath
"""A file or folder, or an object or prefix; both have the same methods as far as Destage uses them."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_address(text: str) -> bool:
    """Return whether a text is meant as a URL, and not as a path."""
    return _URL.match(text) is not None


def locate(text: str | Location) -> Location:
    """Return what a user means by a place.

    Args:
        text: A path, or a URL as in `s3://bucket/prefix`.

    Raises:
        StoreError: The URL is none of a bucket.
    """
    if isinstance(text, str) and is_address(text):
        return ObjectPath.parse(text)
    return Path(text) if isinstance(text, str) else text
