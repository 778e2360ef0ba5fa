"""Clients of the services of buckets, one per process."""

from functools import lru_cache

from destage.errors import StoreError
from destage.objects.bucket import Bucket
from destage.objects.bucket_failures import extract_reason

_DEFAULTS = (
    ("s3:", "allow_delayed_open=true"),  # one PutObject instead of the three requests of a multipart upload
    ("gs:", "retry_limit_seconds=10"),  # instead of 15 minutes
    ("gcs:", "retry_limit_seconds=10"),
)


@lru_cache(maxsize=16)
def open_bucket(service: str, options: str) -> Bucket:
    """Return a bucket's client; cached.

    Raises:
        StoreError: The URL has a bad option, or the client lacks credentials.
        OSError: The service does not return the bucket's region.
    """
    # Clients cost 0.1 s, and most stores are folders.
    from destage.objects.arrow_bucket import open_filesystem  # noqa: PLC0415
    from destage.objects.azure_bucket import open_container  # noqa: PLC0415

    for scheme, option in _DEFAULTS:
        if service.startswith(scheme) and option.partition("=")[0] not in options:
            options = "&".join(filter(None, [options, option]))
    try:
        return (open_container if service.startswith("abfs") else open_filesystem)(service, options)
    except ValueError as error:
        message = f"cannot be opened: {extract_reason(str(error))}"
        raise StoreError("bucket.bad-url", message, service) from error
