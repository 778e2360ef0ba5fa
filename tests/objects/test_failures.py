"""What services' clients say, as it was recorded, and what is made of it: which failure, and one sentence."""

import pickle

import pytest

from destage.objects import Failure, classify_failure
from destage.objects.failures import as_unreachable_error, is_final

S3, GOOGLE, AZURE = "s3://bkt/p", "gs://bkt/p", "abfs://bkt@acct.dfs.core.windows.net/p"
_INFO = "error_info={reason=, domain=, metadata={gcloud-cpp.retry.function=CreateResumableUpload, "
_OAUTH = "Could not create a OAuth2 access token to authenticate the request"
_NAMESPACES = "Check for Hierarchical Namespace support on"
_KEYS = {
    S3: "; credentials come from the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
    "AWS_PROFILE)",
    GOOGLE: "; credentials come from the environment (GOOGLE_APPLICATION_CREDENTIALS, the file of a key)",
    AZURE: "; credentials come from the environment (AZURE_STORAGE_KEY, or AZURE_TENANT_ID, "
    "AZURE_CLIENT_ID and "
    "AZURE_CLIENT_SECRET)",
}
RECORDED = [
    (
        S3,
        (
            "When getting information for key 'p/x' in bucket 'bkt': AWS Error ACCESS_DENIED during "
            "HeadObject "
            "operation: No response body."
        ),
        Failure.REFUSED,
        (
            f"{S3} refused the request: AWS Error ACCESS_DENIED during HeadObject "
            f"operation{_KEYS[S3]} and must "
            "allow this"
        ),
    ),
    (
        S3,
        (
            "When listing objects under key 'p/' in bucket 'bkt': AWS Error SIGNATURE_DOES_NOT_MATCH during "
            "ListObjectsV2 operation: The request signature we calculated"
        ),
        Failure.REFUSED,
        (
            f"{S3} refused the request: AWS Error SIGNATURE_DOES_NOT_MATCH during ListObjectsV2 "
            "operation: The "
            f"request signature we calculated{_KEYS[S3]} and must allow this"
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
        (
            f"{S3} cannot be reached: there is no such bucket: AWS Error NO_SUCH_BUCKET during PutObject "
            "operation: no; make it, or check its name"
        ),
    ),
    (
        S3,
        (
            "When resolving region for bucket 'bkt': AWS Error NETWORK_CONNECTION during HeadBucket "
            "operation: "
            "curlCode: 6, Could not resolve hostname"
        ),
        Failure.UNREACHED,
        (
            f"{S3} cannot be reached: AWS Error NETWORK_CONNECTION during HeadBucket operation: "
            "curlCode: 6, Could "
            "not resolve hostname; check region and endpoint_override in the URL, and the network"
        ),
    ),
    (
        S3,
        (
            "When uploading object with key 'p/x' in bucket 'bkt': AWS Error SLOW_DOWN during "
            "PutObject operation: "
            "Please reduce your request rate."
        ),
        Failure.OTHER,
        (
            f"{S3} cannot be reached: AWS Error SLOW_DOWN during PutObject operation: Please reduce "
            "your request "
            "rate"
        ),
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
        f"{GOOGLE} refused the request: PERMISSION_DENIED: Access Denied{_KEYS[GOOGLE]} and must allow this",
    ),
    (
        GOOGLE,
        (
            "[Errno 2] google::cloud::Status(NOT_FOUND: Permanent error, with a last message of Not Found "
            f"{_INFO}}}}}). Detail: [errno 2] No such file or directory"
        ),
        Failure.NO_BUCKET,
        (
            f"{GOOGLE} cannot be reached: there is no such bucket: NOT_FOUND: Not Found; make it, or "
            "check its "
            "name"
        ),
    ),
    (
        GOOGLE,
        (
            "google::cloud::Status(UNAVAILABLE: Retry policy exhausted, with a last message of "
            "PerformWork() - "
            f"CURL error [7]=Could not connect to server {_INFO}}}}})"
        ),
        Failure.UNREACHED,
        (
            f"{GOOGLE} cannot be reached: UNAVAILABLE: PerformWork() - CURL error [7]=Could not "
            "connect to server; "
            "check endpoint_override in the URL, and the network"
        ),
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
            f"{GOOGLE} cannot be reached: UNAVAILABLE: {_OAUTH}. The underlying error message was: "
            "PerformWork() - "
            f"CURL error [6]=Could not resolve hostname{_KEYS[GOOGLE]}"
        ),
    ),
    (
        AZURE,
        (
            f"{_NAMESPACES} 'http://127.0.0.1:1/acct/bkt' failed. Azure Error: "
            "[AuthorizationPermissionMismatch] "
            "403 Forbidden\n\nRequest ID: "
        ),
        Failure.REFUSED,
        (
            f"{AZURE} refused the request: Azure Error: [AuthorizationPermissionMismatch] 403 "
            f"Forbidden{_KEYS[AZURE]} and must allow this"
        ),
    ),
    (
        AZURE,
        (
            "UploadFrom failed for 'http://127.0.0.1:1/acct/bkt/p/x'. There is no existing blob at "
            "this location. "
            "Azure Error: [ContainerNotFound] 404 Not Found\nThe specified container does not "
            "exist.\nRequest ID: "
        ),
        Failure.NO_BUCKET,
        (
            f"{AZURE} cannot be reached: there is no such bucket: Azure Error: [ContainerNotFound] "
            "404 Not Found "
            "The specified container does not exist; make it, or check its name"
        ),
    ),
    (
        AZURE,
        (
            f"{_NAMESPACES} 'http://127.0.0.1:9/acct/bkt' failed. Azure Error: [] Fail to get a new "
            "connection for: "
            "http://127.0.0.1:9. Could not connect to server"
        ),
        Failure.UNREACHED,
        (
            f"{AZURE} cannot be reached: Azure Error: [] Fail to get a new connection for: "
            "http://127.0.0.1:9. "
            "Could not connect to server; check the account's name, blob_storage_authority and "
            "dfs_storage_authority in the URL, and the network"
        ),
    ),
    (
        AZURE,
        (
            f"Unknown error: {_NAMESPACES} 'https://acct.blob.core.windows.net/bkt' failed: "
            "N5Azure4Core11Credentials23AuthenticationExceptionE: Failed to get token from "
            "DefaultAzureCredential."
            "\nSee Azure::Core::Diagnostics::Logger for details (https://aka.ms/azsdk/cpp/identity)."
        ),
        Failure.NO_CREDENTIALS,
        f"{AZURE} cannot be reached: Failed to get token from DefaultAzureCredential{_KEYS[AZURE]}",
    ),
]


@pytest.mark.parametrize(("place", "said", "failure", "sentence"), RECORDED)
def test_a_failure_is_told_by_its_words_and_in_one_sentence(
    place: str, said: str, failure: Failure, sentence: str
) -> None:
    assert classify_failure(said) is failure
    error = as_unreachable_error(place, said)
    assert str(error) == sentence
    assert classify_failure(error.message) is failure  # as it comes out of a pod's log
    assert str(pickle.loads(pickle.dumps(error))) == sentence  # noqa: S301 - our own bytes


@pytest.mark.parametrize(("place", "said", "failure", "sentence"), RECORDED)
def test_only_what_may_yet_do_is_asked_again(place: str, said: str, failure: Failure, sentence: str) -> None:
    del place, sentence
    # Whoever hands out tokens may be late, as in a pod that has just started.
    assert is_final(said) == (failure in {Failure.REFUSED, Failure.NO_BUCKET})


def test_both_schemes_of_a_service_have_its_fix() -> None:
    for scheme, other in (("gs", "gcs"), ("abfs", "abfss")):
        first, second = (
            as_unreachable_error(f"{each}://b", "CURL error, Fail to get a new connection")
            for each in (scheme, other)
        )
        assert first.data["fix"] == second.data["fix"]
