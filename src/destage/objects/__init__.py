"""Objects in buckets, used as files are, by whoever reads or writes: the store, and who brings a trace.

A place is a path or an object's address; `locate` tells which one a user means.
"""

from destage.objects.failures import Failure, failure_of
from destage.objects.location import Location, is_address, locate
from destage.objects.object_path import Listed, ObjectPath, Version

__all__ = ["Failure", "Listed", "Location", "ObjectPath", "Version", "failure_of", "is_address", "locate"]
