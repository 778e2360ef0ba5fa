"""Failures are recognised in recorded messages of the services' clients."""

import pickle

import pytest

from destage.objects import Failure, classify_failure
from destage.objects.bucket_failures import as_unreachable_error, is_final

S3, GOOGLE, AZURE = "s3://bkt/p", "gs://bkt/p", "abfs://bkt@acct.dfs.core.windows.net/p"
_INFO = "error_info={reason=, domain=, metadata={gcloud-cpp.retry.function=CreateResumableUpload, "
_OAUTH = "Could not create a OAuth2 access token to authenticate the request"
RECORDED = [
    (
        S3,
        (
            "When getting information for key 'p/x' in bucket 'bkt': AWS Error ACCESS_DENIED during "
            "HeadObject "
            "operation: No response body."
        ),
        Failure.REFUSED,
        ("AWS Error ACCESS_DENIED during HeadObject operation"),
    ),
    (
        S3,
        (
            "When listing objects under key 'p/' in bucket 'bkt': AWS Error SIGNATURE_DOES_NOT_MATCH during "
            "ListObjectsV2 operation: The request signature we calculated"
        ),
        Failure.REFUSED,
        (
            "AWS Error SIGNATURE_DOES_NOT_MATCH during ListObjectsV2 operation: The request "
            "signature we calculated"
        ),
    ),
    (
        S3,
        (
            "When uploading object with key 'p/ACCESS_DENIED' in bucket 'bkt': AWS Error "
            "NO_SUCH_BUCKET during "
            "PutObject operation: no"
        ),
        Failure.NO_BUCKET,
        ("AWS Error NO_SUCH_BUCKET during PutObject operation: no"),
    ),
    (
        S3,
        (
            "When resolving region for bucket 'bkt': AWS Error NETWORK_CONNECTION during HeadBucket "
            "operation: "
            "curlCode: 6, Could not resolve hostname"
        ),
        Failure.UNREACHED,
        ("AWS Error NETWORK_CONNECTION during HeadBucket operation: curlCode: 6, Could not resolve hostname"),
    ),
    (
        S3,
        (
            "When uploading object with key 'p/x' in bucket 'bkt': AWS Error SLOW_DOWN during "
            "PutObject operation: "
            "Please reduce your request rate."
        ),
        Failure.OTHER,
        ("AWS Error SLOW_DOWN during PutObject operation: Please reduce your request rate"),
    ),
    (
        GOOGLE,
        (
            "[Errno 13] google::cloud::Status(PERMISSION_DENIED: Permanent error, with a last "
            "message of Access "
            f"Denied {_INFO}gcloud-cpp.retry.original-message=Access Denied}}}}). Detail: [errno 13] "
            "Permission "
            "denied"
        ),
        Failure.REFUSED,
        ("PERMISSION_DENIED: Access Denied"),
    ),
    (
        GOOGLE,
        (
            "[Errno 2] google::cloud::Status(NOT_FOUND: Permanent error, with a last message of Not Found "
            f"{_INFO}}}}}). Detail: [errno 2] No such file or directory"
        ),
        Failure.NO_BUCKET,
        ("NOT_FOUND: Not Found"),
    ),
    (
        GOOGLE,
        (
            "google::cloud::Status(UNAVAILABLE: Retry policy exhausted, with a last message of "
            "PerformWork() - "
            f"CURL error [7]=Could not connect to server {_INFO}}}}})"
        ),
        Failure.UNREACHED,
        ("UNAVAILABLE: PerformWork() - CURL error [7]=Could not connect to server"),
    ),
    (
        GOOGLE,
        (
            f"google::cloud::Status(UNAVAILABLE: Retry policy exhausted, with a last message of "
            f"{_OAUTH}. The "
            f"underlying error message was: PerformWork() - CURL error [6]=Could not resolve hostname "
            f"{_INFO}}}}})"
        ),
        Failure.NO_CREDENTIALS,
        (
            "UNAVAILABLE: Could not create a OAuth2 access token to authenticate the request."
            " The underlying error message was: PerformWork() - CURL error [6]=Could not "
            "resolve hostname"
        ),
    ),
    (
        AZURE,
        "Azure Error: [AuthorizationFailure] 403 Forbidden Server failed to authenticate the request.",
        Failure.REFUSED,
        "Azure Error: [AuthorizationFailure] 403 Forbidden Server failed to authenticate the request",
    ),
    (AZURE, "Azure Error: [] 403 Forbidden ", Failure.REFUSED, "Azure Error: [] 403 Forbidden"),
    (
        AZURE,
        "Azure Error: [ContainerNotFound] 404 Not Found The specified container does not exist.",
        Failure.NO_BUCKET,
        "Azure Error: [ContainerNotFound] 404 Not Found The specified container does not exist",
    ),
    (
        AZURE,
        "Azure Error: [] HTTP error: error sending request",
        Failure.UNREACHED,
        "Azure Error: [] HTTP error: error sending request",
    ),
    (
        AZURE,
        "Failed to get token: Generic MicrosoftAzure error: Error performing token request: 400 Bad Request",
        Failure.NO_CREDENTIALS,
        "Failed to get token: Generic MicrosoftAzure error: Error performing token request: 400 Bad Request",
    ),
]


CODES = {
    Failure.NO_CREDENTIALS: "bucket.no-credentials",
    Failure.NO_BUCKET: "bucket.not-found",
    Failure.REFUSED: "bucket.access-denied",
    Failure.UNREACHED: "bucket.unreachable",
    Failure.OTHER: "bucket.request-failed",
}


@pytest.mark.parametrize(("place", "text", "failure", "reason"), RECORDED)
def test_a_failure_has_a_code_and_the_reason(place: str, text: str, failure: Failure, reason: str) -> None:
    assert classify_failure(text) is failure
    error = as_unreachable_error(place, text)
    assert (error.code, error.place, error.data["reason"]) == (CODES[failure], place, reason)
    assert classify_failure(error.message) is failure  # as in a pod's log
    assert pickle.loads(pickle.dumps(error)).issues == error.issues  # noqa: S301 - our own bytes


@pytest.mark.parametrize(("text", "failure"), [(text, failure) for _, text, failure, _ in RECORDED])
def test_only_failures_that_may_pass_are_retried(text: str, failure: Failure) -> None:
    """Missing credentials are retried: in a pod that has just started, the token service may be late."""
    assert is_final(text) == (failure in {Failure.REFUSED, Failure.NO_BUCKET})


def test_both_schemes_of_a_service_have_its_fix() -> None:
    for scheme, other in (("gs", "gcs"), ("abfs", "abfss")):
        first, second = (
            as_unreachable_error(
                f"{each}://b", "CURL error, Azure Error: [] HTTP error: error sending request"
            )
            for each in (scheme, other)
        )
        assert first.data["fix"] == second.data["fix"]
