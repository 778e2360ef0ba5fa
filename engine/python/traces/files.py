"""Trace files: decompression and recognition of the format.

A file is plain or compressed with gzip, xz or zstd, recognised by its first bytes. It is read in pieces of 1
MiB, so that memory does not grow with the file: the window takes at most 256 MiB with xz, 128 MiB with zstd,
32 KiB with gzip.
"""

import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from destage.engine import _engine
from destage.engine.configuration import as_trace_error
from destage.engine.traces import access_places, delimited
from destage.engine.traces.delimited import Delimited
from destage.errors import TraceError
from destage.objects import Location
from destage.spec.near_names import suggest

PIECE = 1 << 20
"""Bytes that are read at a time."""

_HEAD = 1 << 16
"""Bytes by which a format is recognised."""

_XZ_MEMORY = 256 << 20
_GZIP, _XZ, _ZSTD, _PARQUET = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"PAR1"


class _Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


class TraceFile:
    """A trace file that is being read.

    Attributes:
        size: Its size [bytes].
    """

    def __init__(self, path: Path, raw: BinaryIO) -> None:
        """Begin to read a file."""
        self.path = path
        self._raw = raw
        self.size = path.stat().st_size
        self._source = _unpack(raw)
        self._head = b""
        while len(self._head) < _HEAD and (piece := self._source.read(_HEAD - len(self._head))):
            self._head += piece

    @property
    def position(self) -> int:
        """Compressed bytes read so far."""
        return self._raw.tell()

    def open_reader(
        self, name: str, columns: Delimited | None, *, skip_bad: int, volume: int | None, **options: bool
    ) -> _engine.TraceReader:
        """Return a reader of the format with this name; `options` are those of the engine's reader."""
        layout = None if columns is None else columns.find_layout(self._head)
        return _engine.TraceReader(name, skip_bad=skip_bad, volume=volume, layout=layout, **options)

    def format_of(self, name: str | None, columns: Delimited | None = None) -> str:
        """Return the name of the format.

        Args:
            name: The given name; None to recognise the content.
            columns: The columns of a delimited text, if it is one.

        Raises:
            TraceError: The name is unknown, no format fits, or several fit equally well; `trace.no-times` for
                block numbers alone.
        """
        if columns is not None:
            return delimited.FORMAT
        if name is not None:
            names = [format_name for format_name, _, _ in _engine.trace_formats()] + ["parquet"]
            if name not in names:
                message = f"unknown format {name!r}{suggest(name, names)}; known: {', '.join(names)}"
                raise TraceError("trace.unknown-format", message, "format")
            return name
        if self._head.startswith(_PARQUET):
            return "parquet"
        try:
            return _engine.recognise_trace(self._head, len(self._head) < _HEAD)
        except _engine.EngineTraceError as error:
            if not self._head:
                raise TraceError("trace.empty", "the file is empty") from None
            if delimited.is_numbers(self._head):
                message = f"one number per line: block numbers {delimited.NO_TIMES}"
                raise TraceError("trace.no-times", message) from None
            raise _explain(as_trace_error(error)) from None

    def read_pieces(self, most: int | None = None) -> Iterator[bytes]:
        """Yield the decompressed content, once.

        Args:
            most: The maximum size of the decompressed content [bytes].

        Raises:
            TraceError: The content is larger.
        """
        size = len(self._head)
        if self._head:
            yield self._head
        while piece := self._source.read(PIECE):
            size += len(piece)
            check_size(size, most)
            yield piece


def check_size(size: int, most: int | None) -> None:
    """Check that a trace [bytes] fits in the memory that it may take [bytes].

    Raises:
        TraceError: It is larger.
    """
    if most is not None and size > most:
        message = f"needs more than {most >> 20:,} MiB of memory, half of this machine's"
        raise TraceError("trace.beyond-memory", f"{message}; replay a part of it or use a larger machine")


@contextmanager
def open_trace(place: Location) -> Iterator[TraceFile]:
    """Open a trace for a `with` block, and name it in errors."""
    import pyarrow as pa  # noqa: PLC0415 - a simulation without a trace starts without it

    try:
        with access_places.open_local(place) as path:
            _check_file(path)
            with path.open("rb") as raw:
                yield TraceFile(path, raw)
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise TraceError("trace.unreadable", f"cannot be read: {reason}", str(place)) from None
    except _engine.EngineTraceError as error:
        raise as_trace_error(error, str(place)) from None
    except TraceError as error:
        if error.place != str(place):
            error.source = str(place)
        raise


def _explain(error: TraceError) -> TraceError:
    """Return the error for a format that is not recognised, with a command that has options for it."""
    convert = "as in `destage trace convert IN OUT.parquet"
    if matching := error.data.get("matching"):
        message = f"may be {' or '.join(matching)}; name one with --format, {convert} --format {matching[0]}`"
    else:
        columns = f"for a delimited text, give --columns, {convert} --columns time,op,offset,size`"
        message = f"unrecognised trace format; {columns}; for others, --format"
    return TraceError(error.code, message, data=error.data)


def _check_file(path: Path) -> None:
    """Check that a path is a file: opening a pipe would wait for its writer."""
    if path.exists() and not path.is_file():
        kind = "a directory" if path.is_dir() else "a pipe, socket or device"
        raise TraceError("trace.not-a-file", f"{kind}; must be a file")


def _unpack(raw: BinaryIO) -> _Source:
    magic = raw.read(6)
    raw.seek(0)
    if magic.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw, mode="rb")
    if magic == _XZ:
        return _XzFile(raw)
    if magic.startswith(_ZSTD):
        import pyarrow as pa  # noqa: PLC0415 - as above

        source: _Source = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
        return source
    return raw


class _XzFile:
    """A reader of concatenated xz streams that limits the window."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        self._rest = b""

    def read(self, size: int, /) -> bytes:
        while True:
            if self._unpacker.eof:
                # Streams may be padded with zeros.
                self._rest = self._unpacker.unused_data.lstrip(b"\0") or self._raw.read(PIECE).lstrip(b"\0")
                if not self._rest:
                    return b""
                self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
            if self._unpacker.needs_input and not self._rest:
                self._rest = self._raw.read(PIECE)
                if not self._rest:
                    raise EOFError("truncated xz stream")
            piece, self._rest = self._unpacker.decompress(self._rest, size), b""
            if piece:
                return piece
