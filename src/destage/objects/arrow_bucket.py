"""Buckets of S3 and Google, through pyarrow."""

from typing import TYPE_CHECKING

from destage.objects.bucket import Bucket, Entry, OpenObject, Version

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem


class ArrowBucket(Bucket):
    """A bucket of one of pyarrow's file systems.

    Args:
        base: The prefix of all keys: the bucket's name.
    """

    def __init__(self, filesystem: "FileSystem", base: str) -> None:
        self._filesystem, self._base = filesystem, base
        self._is_google = filesystem.type_name == "gcs"

    def find(self, key: str) -> Entry | None:
        info = self._filesystem.get_file_info(self._place(key))
        return _as_entry("", info, key) if info.is_file else None

    def has_any(self, key: str) -> bool:
        return bool(self._filesystem.get_file_info(self._place(key)).type.name != "NotFound")

    def read_version(self, key: str) -> Version:
        place = self._place(key)
        if self._is_google:  # its client starts to read any file that it opens
            info = self._filesystem.get_file_info(place)
            if not info.is_file:
                raise FileNotFoundError(place)
            return Version(str(info.mtime_ns), info.size)
        with self._filesystem.open_input_file(place) as file:
            metadata = {name.lower(): value.decode() for name, value in file.metadata().items()}
            return Version(metadata["etag"], file.size())

    def open(self, key: str) -> OpenObject:
        # One request; a stream would make one per 256 KiB.
        opened: OpenObject = self._filesystem.open_input_file(self._place(key))
        return opened

    def write(self, key: str, data: bytes, content_type: str | None) -> None:
        place = self._place(key)
        metadata = {"Content-Type": content_type} if content_type else None
        with self._filesystem.open_output_stream(place, metadata=metadata) as stream:
            stream.write(data)
        # Google's client does not report every failure at the end of an upload.
        if self._is_google and (there := self._filesystem.get_file_info(place).size) != len(data):
            raise OSError(f"{there} of {len(data)} bytes were stored")

    def delete(self, key: str) -> None:
        self._filesystem.delete_file(self._place(key))

    def list_objects(self, key: str) -> list[Entry]:
        return [
            _as_entry(key, info, info.base_name)
            for info in self._select(key, recursive=False)
            if info.is_file
        ]

    def list_prefixes(self, key: str) -> list[str]:
        if not self._is_google:
            return [info.base_name for info in self._select(key, recursive=False) if not info.is_file]
        # pyarrow does not list Google's prefixes.
        names = (entry.key.removeprefix(_under(key)).partition("/") for entry in self.list_below(key))
        return list({name for name, slash, _ in names if slash})

    def list_below(self, key: str) -> list[Entry]:
        start = f"{self._place(key)}/"
        return [
            _as_entry(key, info, info.path.removeprefix(start))
            for info in self._select(key, recursive=True)
            if info.is_file
        ]

    def drop_markers(self, key: str) -> None:
        if not self._is_google:  # Google has none
            self._filesystem.delete_dir(self._place(key))

    def _select(self, key: str, *, recursive: bool) -> "list[FileInfo]":
        from pyarrow.fs import FileSelector  # noqa: PLC0415 - as in `open_bucket`

        selector = FileSelector(self._place(key), allow_not_found=True, recursive=recursive)
        infos: list[FileInfo] = self._filesystem.get_file_info(selector)
        return infos

    def _place(self, key: str) -> str:
        return f"{self._base}/{key}".rstrip("/")


def _under(key: str) -> str:
    return f"{key}/" if key else ""


def _as_entry(key: str, info: "FileInfo", name: str) -> Entry:
    return Entry(_under(key) + name, info.size, info.mtime)


def open_filesystem(service: str, options: str) -> ArrowBucket:
    """Return a bucket, given its URL in two parts."""
    from pyarrow.fs import FileSystem  # noqa: PLC0415 - as in `open_bucket`

    filesystem, base = FileSystem.from_uri(f"{service}/" + (f"?{options}" if options else ""))
    return ArrowBucket(filesystem, base.strip("/"))
