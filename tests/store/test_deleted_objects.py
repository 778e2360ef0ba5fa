"""An object that is deleted while it is read is missing, as a file is; its bucket is not."""

from types import SimpleNamespace

import pytest

from destage.objects import ObjectPath, object_path
from destage.objects.arrow_bucket import ArrowBucket
from destage.objects.bucket import Version

GONE = [
    ("s3://bucket/a/x", "AWS Error RESOURCE_NOT_FOUND during GetObject operation: No response body."),
    ("s3://bucket/a/x", "AWS Error NO_SUCH_KEY during GetObject operation: no such key"),
]
CONTENT = b"0123456789"
PIECE = 4


class Service:
    """A service that deletes its only object after a number of reads.

    Attributes:
        reads: Reads of the object that succeed; it is already deleted when it is opened if this is -1.
        text: The client's message for a deleted object.
        opened: How often the object was opened, with or without success.
    """

    def __init__(self, reads: int, text: str) -> None:
        self.type_name = "s3"
        self.reads, self.text, self.opened, self._at = reads, text, 0, 0

    def open_input_file(self, _: str) -> SimpleNamespace:
        self.opened += 1
        if self.reads < 0 or self.opened > 1:
            raise OSError(self.text)
        return SimpleNamespace(read=self._read)

    def _read(self, wanted: int) -> bytes:
        if self.reads == 0:
            raise OSError(self.text)
        self.reads -= 1
        self._at += wanted
        return CONTENT[self._at - wanted : self._at]


@pytest.mark.parametrize(("url", "text"), GONE)
def test_a_deleted_object_is_a_missing_file(monkeypatch: pytest.MonkeyPatch, url: str, text: str) -> None:
    monkeypatch.setattr(object_path, "open_bucket", lambda *_: ArrowBucket(Service(-1, text), ""))
    with pytest.raises(FileNotFoundError):
        ObjectPath.parse(url).read_bytes()


@pytest.mark.parametrize(
    ("reads", "content", "opened"),
    [
        (-1, b"", 1),
        (0, b"", 1),
        (1, b"0123", 1),
        (2, b"01234567", 1),
        # All pieces; opened again to compare the version, as the object could have been replaced before.
        (3, b"0123456789", 2),
    ],
)
@pytest.mark.parametrize(("url", "text"), GONE)
def test_an_object_deleted_between_pieces_is_missing(
    monkeypatch: pytest.MonkeyPatch, url: str, text: str, reads: int, content: bytes, opened: int
) -> None:
    """The pieces before are yielded, and there is no retry, which would not find the object."""
    service = Service(reads, text)
    monkeypatch.setattr(object_path, "open_bucket", lambda *_: ArrowBucket(service, ""))
    monkeypatch.setattr(object_path, "_PIECE", PIECE)
    received = bytearray()
    with pytest.raises(FileNotFoundError):  # noqa: PT012 - the pieces before the error count
        for piece in ObjectPath.parse(url).read_pieces(Version("tag", len(CONTENT))):
            received += piece
    assert (bytes(received), service.opened) == (content, opened)
