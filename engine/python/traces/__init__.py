"""Traces: reading, the digest of their content, and the compact form.

`formats()` lists the formats; docs/traces.md says what is read of each; `compact` is the compact form.
"""

import copy
import hashlib
from collections.abc import Hashable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from destage.engine import _engine, configuration
from destage.engine.configuration import find_replays, translated_errors
from destage.engine.traces import access_places, files
from destage.engine.traces.delimited import Delimited
from destage.errors import TraceError
from destage.machine import read_memory_size
from destage.objects import Location

if TYPE_CHECKING:
    from destage.engine.traces.compact import SCHEMA, from_table, table, write_parquet

__all__ = [
    "SCHEMA",
    "bind",
    "digest",
    "formats",
    "from_table",
    "load",
    "load_bound",
    "record",
    "table",
    "write_parquet",
]

_COLUMNS = ("t_ns", "process", "lba_512", "n_512", "op", "flags", "volume")
"""The columns that a digest covers, in its order."""


def __getattr__(name: str) -> Any:
    """Import the compact form, and numpy and pyarrow with it, on first use."""
    if name in {"SCHEMA", "from_table", "table", "write_parquet"}:
        from destage.engine.traces import compact  # noqa: PLC0415

        return getattr(compact, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(
    path: str | Location,
    *,
    format_name: str | None = None,
    columns: Delimited | None = None,
    skip_bad: int = 0,
    volume: int | None = None,
) -> _engine.Trace:
    """Read a trace; an unchanged one that was read before is cached.

    Records are sorted by time. Several volumes are laid end to end by number, each aligned to 1 MiB.

    Args:
        path: A trace in one of the formats of `formats`, plain or compressed (gzip, xz, zstd): a file or an
            object's address as in `s3://bucket/x.parquet`.
        format_name: The format's name; None to recognise the content.
        columns: The columns of a delimited text, which no format name describes.
        skip_bad: Maximum malformed records to skip.
        volume: The only volume to read; None for all.
    """
    return _load_cached(path, (format_name, columns, skip_bad, volume))[0]


def digest(
    path: str | Location,
    *,
    format_name: str | None = None,
    columns: Delimited | None = None,
    skip_bad: int = 0,
    volume: int | None = None,
) -> str:
    """Return the digest of a trace's content, independent of its format: blake2b-128 of its columns, in hex.

    The number of an only volume and the response times, which affect no run, are not part of it.
    """
    return _load_cached(path, (format_name, columns, skip_bad, volume))[1]


def formats() -> dict[str, str]:
    """Return the formats that `load` reads, with their titles."""
    return {name: title for name, title, _ in _engine.trace_formats()} | {"parquet": "the compact form"}


def bind(scenario: Mapping[str, Any], folder: str | Path) -> dict[str, Any]:
    """Bind a configuration to its traces: absolute paths, and the digests of their contents.

    Args:
        folder: The folder of relative paths: that of the study.

    Returns:
        The configuration with `file` absolute and `digest` filled in for each stream that replays a trace.

    Raises:
        TraceError: A trace cannot be read, or differs from a given digest.
    """
    bound: dict[str, Any] = copy.deepcopy(dict(scenario))
    for arrival in find_replays(bound):
        place = access_places.resolve_place(arrival["file"], folder)
        arrival.update(file=str(place), digest=_load_checked(place, arrival.get("digest"))[1])
    return bound


def load_bound(scenario: Mapping[str, Any]) -> dict[str, _engine.Trace]:
    """Return the traces of a bound configuration by digest.

    Raises:
        TraceError: A trace cannot be read, or its digest differs.
    """
    return {
        arrival["digest"]: _load_checked(access_places.resolve_place(arrival["file"]), arrival["digest"])[0]
        for arrival in find_replays(scenario)
    }


def _load_checked(place: Location, expected: str | None) -> tuple[_engine.Trace, str]:
    """Return a trace and its digest, which must be the expected one, if any."""
    trace, actual = _load_cached(place, _RECOGNISED)
    if expected not in {None, actual}:
        message = f"digest {actual} differs from the digest {expected} in the configuration"
        raise TraceError("trace.changed", message, str(place))
    return trace, actual


def record(scenario: configuration.Scenario, *, folder: str | Path = ".") -> _engine.Trace:
    """Record the requests of a configuration's hosts as a trace.

    The requests of closed streams depend on the array; those of open ones do not. `process` numbers the
    sources: the users of the first stream from 0, then those of the second.

    Args:
        scenario: A configuration of one array.

    Raises:
        TraceError: A trace cannot be read or replayed, or there are no requests.
    """
    bound = bind(configuration.normalise(scenario), folder)
    with translated_errors():
        return _engine.record_requests(configuration.canonical_json(bound), load_bound(bound))


_Options = tuple[str | None, Delimited | None, int, int | None]
_RECOGNISED: _Options = (None, None, 0, None)


def _load_cached(path: str | Location, options: _Options) -> tuple[_engine.Trace, str]:
    place = access_places.resolve_place(path)
    return _load(place, access_places.read_version(place), options)


@lru_cache(maxsize=8)
def _load(place: Location, _version: Hashable, options: _Options) -> tuple[_engine.Trace, str]:
    """Return a trace and its digest; a changed version is read again."""
    format_name, columns, skip_bad, volume = options
    most = read_memory_size() // 2
    with files.open_trace(place) as file:
        name = file.format_of(format_name, columns)
        if name == "parquet":
            from destage.engine.traces import compact  # noqa: PLC0415 - imports numpy and pyarrow

            trace = compact.from_table(compact.read(file.path, volume, most))
        else:
            reader = file.open_reader(name, columns, skip_bad=skip_bad, volume=volume)
            for piece in file.read_pieces(most):
                reader.feed(piece)
            reader.finish()
            trace = reader.trace()
    found_columns = trace.columns()
    content = hashlib.blake2b(digest_size=16)
    for field in _COLUMNS:
        content.update(found_columns.get(field, b""))
    return trace, content.hexdigest()
