"""An object that is deleted while it is read is missing, as a file is; its bucket is not."""

import pytest

from destage.objects import ObjectPath, object_path


@pytest.mark.parametrize(
    ("url", "text"),
    [
        (
            "s3://bucket/a/x",
            "AWS Error RESOURCE_NOT_FOUND during GetObject operation: No response body.",
        ),
        ("s3://bucket/a/x", "AWS Error NO_SUCH_KEY during GetObject operation: no such key"),
        (
            "abfs://c@account.dfs.core.windows.net/a/x",
            "GetToStream failed. Azure Error: [BlobNotFound] 404 gone",
        ),
    ],
)
def test_a_deleted_object_is_a_missing_file(monkeypatch: pytest.MonkeyPatch, url: str, text: str) -> None:
    class Service:
        def open_input_file(self, _: str) -> None:
            raise OSError(text)

    monkeypatch.setattr(object_path, "open_bucket", lambda *_: (Service(), ""))
    with pytest.raises(FileNotFoundError):
        ObjectPath.parse(url).read_bytes()
