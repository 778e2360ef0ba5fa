"""The messages of Azure's client are reduced to what the service says."""

import pytest

from destage.objects import Failure, classify_failure
from destage.objects.azure_bucket import describe_failure
from destage.objects.bucket_failures import extract_reason

_TO = "Error performing PUT http://127.0.0.1:1/a/none/x in 2.8ms"
_DEBUG = "\n\nDebug source:\nGeneric {\n    status code: 500 no: <Code>No</Code>\n}"
_BODY = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error>\n  <Code>{}</Code>\n  <Message>{}.\nRequestId:1-2\n'
    "Time:2026-11-26T00:55:02.580Z</Message>\n</Error>\n"
)
_ANSWER = "Server returned non-2xx status code:"
_ABSENT = _BODY.format("ContainerNotFound", "The specified container does not exist")
_FAILED = _BODY.format("AuthorizationFailure", "Server failed to authenticate")
_AZURE = "Generic MicrosoftAzure error:"
RECORDED = [
    (
        f"Object at location x not found: {_TO} - {_ANSWER} 404 Not Found: {_ABSENT}",
        Failure.NO_BUCKET,
        "Azure Error: [ContainerNotFound] 404 Not Found The specified container does not exist",
    ),
    (
        f"{_AZURE} Error performing list request: {_TO} - {_ANSWER} 403 Forbidden: {_FAILED}",
        Failure.REFUSED,
        "Azure Error: [AuthorizationFailure] 403 Forbidden Server failed to authenticate",
    ),
    (
        f"The operation lacked the necessary privileges for path x: {_TO} - {_ANSWER} 403 Forbidden: ",
        Failure.REFUSED,
        "Azure Error: [] 403 Forbidden",
    ),
    (
        f"{_AZURE} {_TO}, after 4 retries, max_retries: 4  - HTTP error: error sending request",
        Failure.UNREACHED,
        "Azure Error: [] HTTP error: error sending request",
    ),
    (
        f"{_AZURE} Error performing token request: {_TO} - {_ANSWER} 400 Bad Request: no identity",
        Failure.NO_CREDENTIALS,
        "Failed to get token: 400 Bad Request",
    ),
    (
        f"{_AZURE} Invalid Access Key: Invalid symbol 63, offset 0.",
        Failure.NO_CREDENTIALS,
        f"Failed to get token: {_AZURE} Invalid Access Key: Invalid symbol 63, offset 0",
    ),
]


@pytest.mark.parametrize(("text", "failure", "reason"), RECORDED)
def test_a_message_keeps_status_code_and_reason(text: str, failure: Failure, reason: str) -> None:
    short = describe_failure(text + _DEBUG)
    assert (classify_failure(short), extract_reason(short)) == (failure, reason)
