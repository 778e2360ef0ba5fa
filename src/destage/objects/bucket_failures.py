"""Failed requests to buckets: their cause, read from the text of the service's client, and what to do.

Clients pass on the service's message only as text, and so does a pod's log.
"""

import re
from enum import Enum, auto

from destage.errors import UnreachableError


class Failure(Enum):
    """Why a request failed."""

    NO_CREDENTIALS = auto()
    """No credentials were found or could be obtained."""
    NO_BUCKET = auto()
    """The bucket does not exist."""
    REFUSED = auto()
    """Access was denied."""
    UNREACHED = auto()
    """The service is unreachable."""
    OTHER = auto()
    """Any other failure."""


# The first match counts.
_WORDS = {
    Failure.NO_CREDENTIALS: (
        r"OAuth2 access token|Application Default Credentials",  # Google
        r"Failed to get token",  # Azure
    ),
    Failure.NO_BUCKET: (
        r"NO_SUCH_BUCKET|Bucket '[^']*' not found|HTTP status 404|bucket does not exist",  # S3
        r"NOT_FOUND",  # Google
        r"ContainerNotFound",  # Azure
    ),
    Failure.REFUSED: (
        r"ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|HTTP status 40[13]",  # S3
        r"ExpiredToken|InvalidToken",  # S3
        r"PERMISSION_DENIED|UNAUTHENTICATED",  # Google
        r"\[(Auth\w+|AccessDenied|PublicAccessNotPermitted)\]|\] 40[13] ",  # Azure
    ),
    Failure.UNREACHED: (
        r"NETWORK_CONNECTION|HTTP status 30[17]",  # S3; it sends one to a bucket's own region
        r"CURL error",  # Google
        r"Azure Error: \[\] HTTP error: ",  # Azure
    ),
}
_FINAL = (Failure.NO_BUCKET, Failure.REFUSED)
_NEVER_AGAIN = "Permanent error"
"""The text of Google's client for a failure that a retry would not fix."""
_GONE = re.compile(r"AWS Error (RESOURCE_NOT_FOUND|NO_SUCH_KEY) during GetObject ")
"""Texts of S3 for an object that does not exist; pyarrow's own error has another type."""
_OUR_PART = re.compile(
    r"^.*?(?=AWS Error |Azure Error: |Failed to get token)|^.*?google::cloud::Status\(", re.DOTALL
)
_ITS_CLIENT = re.compile(
    r"(Permanent error|Retry policy exhausted), with a last message of |: No response body\.$|"
    r"\s*( error_info=|\. Detail: \[errno).*$",
    re.DOTALL,
)
_LENGTH = 300
_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, the file of a key",
    "abfs": "AZURE_STORAGE_KEY, or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET",
}
"""The environment variables that hold credentials, by scheme."""
_WHEREABOUTS = {
    "s3": "region and endpoint_override",
    "gs": "endpoint_override",
    "abfs": "the account's name, blob_storage_authority and dfs_storage_authority",
}
"""The URL options that locate a service, by scheme."""


def classify_failure(text: str) -> Failure:
    """Return the cause of a failed request from its client's message."""
    reason = extract_reason(text)
    for failure, patterns in _WORDS.items():
        if re.search("|".join(patterns), reason):
            return failure
    return Failure.OTHER


def is_final(text: str) -> bool:
    """Return whether a retry would fail again, given the client's message."""
    return _NEVER_AGAIN in text or classify_failure(text) in _FINAL


def is_gone(text: str) -> bool:
    """Return whether an object was deleted after it was opened, given the client's message."""
    return _GONE.search(text) is not None


def extract_reason(text: str) -> str:
    """Return the service's part of its client's message, as one line of limited length."""
    own = _ITS_CLIENT.sub("", " ".join(_OUR_PART.sub("", text, count=1).split()))
    return own[:_LENGTH].rstrip(" .")


def as_unreachable_error(place: str, text: str) -> UnreachableError:
    """Return the error for a failed request, given its client's message.

    Args:
        place: The URL of the store or object, without its options.
    """
    scheme = place.partition(":")[0]
    scheme = {"gcs": "gs", "abfss": "abfs"}.get(scheme, scheme)
    reason = extract_reason(text)
    variables = f"credentials are read from the environment ({_CREDENTIALS[scheme]})"
    match classify_failure(text):
        case Failure.REFUSED:
            code, message, fix = "bucket.access-denied", "access denied", f"{variables} and must allow this"
        case Failure.NO_CREDENTIALS:
            code, message, fix = "bucket.no-credentials", "no credentials", variables
        case Failure.NO_BUCKET:
            code, message, fix = "bucket.not-found", "bucket not found", "create it or check its name"
        case Failure.UNREACHED:
            fix = f"check {_WHEREABOUTS[scheme]} in the URL, and the network"
            code, message = "bucket.unreachable", "unreachable"
        case _:
            code, message, fix = "bucket.request-failed", "request failed", ""
    line = f"{message}: {reason}" + (f"; {fix}" if fix else "")
    return UnreachableError(code, line, place, {"reason": reason, "fix": fix})
