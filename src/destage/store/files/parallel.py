"""Mapping over locations: one after another on disk, many at a time in a bucket."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from destage.objects import Location, ObjectPath

_THREADS = 16
_Got = TypeVar("_Got")


def map_places(act: Callable[[Location], _Got], places: Iterable[Location]) -> Iterator[_Got]:
    """Yield the result of an action for each place, in order."""
    listed = list(places)
    if not any(isinstance(place, ObjectPath) for place in listed):
        yield from map(act, listed)
        return
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="destage-store") as pool:
        yield from pool.map(act, listed)
