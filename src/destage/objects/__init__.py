"""Objects in buckets, used as files are, by whoever reads or writes: the store, and who brings a trace.

A place is a path or an object's address; `locate` tells which one a user means.
"""

from destage.objects.failures import Failure, classify_failure
from destage.objects.location import Location, is_address, locate
from destage.objects.object_path import ObjectInfo, ObjectPath, Version

__all__ = [
    "Failure",
    "Location",
    "ObjectInfo",
    "ObjectPath",
    "Version",
    "classify_failure",
    "is_address",
    "locate",
]
