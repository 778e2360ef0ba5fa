"""A bucket that this machine does not get at ends with the code of the machine, in one line with its mend."""

from pathlib import Path
from typing import Any

import pytest

from destage.objects import object_path

S3, AZURE = "s3://b/p", "abfs://b@a.dfs.core.windows.net/p"
SAID = [
    (
        S3,
        OSError(
            "When uploading object with key 'p/x' in bucket 'b': AWS Error ACCESS_DENIED during PutObject "
            "operation: Access Denied"
        ),
        (
            "s3://b/p refused the request: AWS Error ACCESS_DENIED during PutObject operation: "
            "Access Denied; "
            "credentials come from the environment (AWS_ACCESS_KEY_ID"
        ),
    ),
    (
        S3,
        OSError(
            "When listing objects under key 'p/' in bucket 'b': AWS Error NETWORK_CONNECTION during "
            "ListObjectsV2 operation: curlCode: 7, Could not connect to server"
        ),
        (
            "s3://b/p cannot be reached: AWS Error NETWORK_CONNECTION during ListObjectsV2 "
            "operation: curlCode: 7, "
            "Could not connect to server; check region and endpoint_override"
        ),
    ),
    (
        "gs://b/p",
        PermissionError(
            13,
            "google::cloud::Status(UNAUTHENTICATED: Permanent error, with a last message of Invalid "
            "Credentials error_info={reason=}). Detail: [errno 13] Permission denied",
        ),
        (
            "gs://b/p refused the request: UNAUTHENTICATED: Invalid Credentials; credentials come from the "
            "environment (GOOGLE_APPLICATION_CREDENTIALS"
        ),
    ),
    (
        AZURE,
        OSError("Azure Error: [AuthenticationFailed] 403 Forbidden\nRequest ID:"),
        (
            f"{AZURE} refused the request: Azure Error: [AuthenticationFailed] 403 Forbidden; "
            "credentials come "
            "from the environment (AZURE_STORAGE_KEY"
        ),
    ),
]


@pytest.mark.parametrize(("place", "said", "told"), SAID)
@pytest.mark.parametrize("verb", ["run", "status", "report", "trace"])
def test_what_a_bucket_refuses_is_the_machine_s_failure(
    destage: Any,
    study: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    place: str,
    said: OSError,
    told: str,
) -> None:
    def fail(*_: object) -> None:
        raise said

    monkeypatch.setattr(object_path, "opened", fail)
    monkeypatch.setattr(object_path, "_PAUSES_S", ())
    arguments = {
        "run": ("run", str(study), "--store", place, "--quiet"),
        "status": ("status", "--store", place),
        "report": ("report", "small", "--store", f"{place}?x=y"),
        "trace": ("trace", "info", place),
    }
    done = destage(*arguments[verb])
    assert done.code == 4, done
    assert done.out == ""
    assert done.err.startswith(f"error: {told}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("store", "told"),
    [
        ("s4://x", "s4:// is no address of a bucket: allowed is a path, or s3://, gs://, gcs://, abfs://"),
        ("s3:///x", "names no bucket: write it as s3://bucket/prefix"),
        ("s3://key:hidden@bucket", "take the credentials out of s3://..."),
    ],
)
def test_a_store_that_is_none_is_wrong_usage(destage: Any, study: Path, store: str, told: str) -> None:
    for arguments in (("run", str(study)), ("status",)):
        done = destage(*arguments, "--store", store)
        assert done.code == 2
        assert "--store" in done.err
        assert told in done.err
        assert "hidden" not in done.err
        assert done.err.count("\n") == 1
