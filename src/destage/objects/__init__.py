"""Objects in buckets, used as files are, by whoever reads or writes: the store, and who brings a trace.

A place is a path or an object's address; `locate` tells which one a user means.
"""

from destage.objects.location import Location, is_address, locate
from destage.objects.object_path import Listed, ObjectPath, Version
from destage.objects.service import is_refusal

__all__ = ["Listed", "Location", "ObjectPath", "Version", "is_address", "is_refusal", "locate"]
