"""Objects in buckets, with the methods of paths; the store and the traces use them.

A location is a path or the URL of an object; `locate` decides which one a text means.
"""

from destage.objects.bucket import Version
from destage.objects.bucket_failures import Failure, classify_failure
from destage.objects.object_path import (
    Location,
    ObjectInfo,
    ObjectPath,
    ObjectTooLargeError,
    is_address,
    locate,
)

__all__ = [
    "Failure",
    "Location",
    "ObjectInfo",
    "ObjectPath",
    "ObjectTooLargeError",
    "Version",
    "classify_failure",
    "is_address",
    "locate",
]
