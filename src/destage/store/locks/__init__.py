"""The lease of a sweep, on disks and in buckets."""
