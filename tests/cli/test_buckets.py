"""Failures of a bucket on the command line."""

from pathlib import Path
from typing import Any

import pytest

from destage.objects import object_path

S3, AZURE = "s3://b/p", "abfs://b@a.dfs.core.windows.net/p"
FAILURES = [
    (
        S3,
        OSError(
            "When uploading object with key 'p/x' in bucket 'b': AWS Error ACCESS_DENIED during PutObject "
            "operation: Access Denied"
        ),
        "bucket.access-denied",
    ),
    (
        S3,
        OSError(
            "When listing objects under key 'p/' in bucket 'b': AWS Error NETWORK_CONNECTION during "
            "ListObjectsV2 operation: curlCode: 7, Could not connect to server"
        ),
        "bucket.unreachable",
    ),
    (
        "gs://b/p",
        PermissionError(
            13,
            "google::cloud::Status(UNAUTHENTICATED: Permanent error, with a last message of Invalid "
            "Credentials error_info={reason=}). Detail: [errno 13] Permission denied",
        ),
        "bucket.access-denied",
    ),
    (
        AZURE,
        OSError("Azure Error: [AuthenticationFailed] 403 Forbidden\nRequest ID:"),
        "bucket.access-denied",
    ),
]


@pytest.mark.parametrize(("place", "failure", "code"), FAILURES)
@pytest.mark.parametrize("command", ["run", "status", "report", "trace"])
def test_a_bucket_failure_has_the_infrastructure_code(
    destage: Any,
    study: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    place: str,
    failure: OSError,
    code: str,
) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(object_path, "open_bucket", fail)
    monkeypatch.setattr(object_path, "_PAUSES_S", ())
    arguments = {
        "run": ("run", str(study), "--store", place, "--quiet"),
        "status": ("status", "--store", place),
        "report": ("report", "small", "--store", f"{place}?x=y"),
        "trace": ("trace", "info", place),
    }
    done = destage(*arguments[command])
    assert (done.code, done.out) == (4, "")
    assert done.issues == [(code, place)]
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("store", "code"),
    [
        ("s4://x", "bucket.unknown-scheme"),
        ("s3:///x", "bucket.bad-url"),
        ("s3://key:hidden@bucket", "bucket.credentials-in-url"),
    ],
)
def test_an_unusable_url_is_wrong_usage(destage: Any, study: Path, store: str, code: str) -> None:
    for arguments in (("run", str(study)), ("status",)):
        done = destage(*arguments, "--store", store)
        assert (done.code, done.issues) == (2, [(code, "--store")])
        assert "hidden" not in done.err
        assert done.err.count("\n") == 1
