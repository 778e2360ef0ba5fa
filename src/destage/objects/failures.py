"""What is said of a request that failed: whether a bucket's service refused it, say, and what to do then.

Each service's own client says it in words of its own, which pyarrow passes on as text, as a pod's log does.
"""

import re
from enum import Enum, auto

from destage.errors import UnreachableError


class Failure(Enum):
    """Why a request failed."""

    NO_CREDENTIALS = auto()
    """There is nothing to show the service, or nobody who hands it out."""
    NO_BUCKET = auto()
    """The service knows no such bucket."""
    REFUSED = auto()
    """The service does not let in who asked."""
    UNREACHED = auto()
    """The service is not where it was looked for."""
    OTHER = auto()
    """The service, or what came of it, is not as it should be."""


# A text may have the words of several: the first counts.
_WORDS = {
    Failure.NO_CREDENTIALS: (
        r"OAuth2 access token|Application Default Credentials",  # Google
        r"Failed to get token|AuthenticationException",  # Azure
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
        r"Fail to get a new connection",  # Azure
    ),
}
_FINAL = (Failure.NO_BUCKET, Failure.REFUSED)
_NEVER_AGAIN = "Permanent error"
"""What Google's client says when trying again would not help."""
_OUR_PART = re.compile(
    r"^.*?(?=AWS Error |Azure Error: |Failed to get token)|^.*?google::cloud::Status\(", re.DOTALL
)
_ITS_CLIENT = re.compile(
    r"(Permanent error|Retry policy exhausted), with a last message of |: No response body\.$|"
    r"\s*( error_info=| Request ID:|\. Detail: \[errno| See Azure::Core).*$",
    re.DOTALL,
)
_LENGTH = 300
_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, the file of a key",
    "abfs": "AZURE_STORAGE_KEY, or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET",
}
"""What the services' clients read, by scheme."""
_WHEREABOUTS = {
    "s3": "region and endpoint_override",
    "gs": "endpoint_override",
    "abfs": "the account's name, blob_storage_authority and dfs_storage_authority",
}
"""What of a URL says where a service is, by scheme."""


def classify_failure(text: str) -> Failure:
    """Return why a request failed."""
    said = extract_reason(text)
    for failure, patterns in _WORDS.items():
        if re.search("|".join(patterns), said):
            return failure
    return Failure.OTHER


def is_final(text: str) -> bool:
    """Return whether the same request would fail again."""
    return _NEVER_AGAIN in text or classify_failure(text) in _FINAL


def extract_reason(text: str) -> str:
    """Return the service's own part of what its client said, as one line of some length."""
    own = _ITS_CLIENT.sub("", " ".join(_OUR_PART.sub("", text, count=1).split()))
    return own[:_LENGTH].rstrip(" .")


def as_unreachable_error(place: str, text: str) -> UnreachableError:
    """Return the error that says what a failed request means to whoever named the place.

    Args:
        place: The store or object that was named, without what is behind its `?`.
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
