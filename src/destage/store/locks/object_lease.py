"""The exclusive right to write to a sweep in a bucket: an object that its holder keeps renewing.

Each contender has one object, its flag, under the sweep's `lease/`, which it can only put, list and delete.
A contender that lists the flags *after* putting its own and sees no other may write: of two contenders, the
later one sees the flag of the earlier one. A contender that sees a lower flag deletes its own, so that of
several at once the lowest wins (L. Lamport, "A New Solution of Dijkstra's Concurrent Programming Problem",
CACM 17(8), 1974, breaks ties in the same way).

A flag that was not renewed for `EXPIRY_S`, by the clock of the service, has expired. If a holder loses the
connection and another one takes over, no row is lost or duplicated: fragments are named after their runs,
and plans follow from the rows.
"""

import json
import random
import secrets
import threading
import time
from collections.abc import Generator, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from enum import Enum, auto

from destage.errors import StoreError
from destage.objects import ObjectInfo, ObjectPath, ObjectTooLargeError
from destage.store.files.regular_files import MOST_RECORD


class Step(Enum):
    """The next action of a contender."""

    PUT = auto()
    LOOK = auto()
    TAKE_DOWN = auto()
    PAUSE = auto()


def contend(mine: str, looks: int) -> Generator[Step, AbstractSet[str], bool]:
    """Yield a contender's steps; each LOOK is answered with the live flags of others.

    Returns:
        Whether the contender may write; if not, its flag is deleted.
    """
    is_up = False
    for _ in range(looks):
        if not is_up:
            yield Step.PUT
            is_up = True
        others = yield Step.LOOK
        if not others:
            return True
        if min(others) < mine:
            yield Step.TAKE_DOWN
            is_up = False
        yield Step.PAUSE
    if is_up:
        yield Step.TAKE_DOWN
    return False


EXPIRY_S = 30.0
"""Age at which a flag has expired [s]."""
RENEWAL_S = 5.0
"""Interval at which a holder renews its flag [s]."""
TRUST_S = 20.0
"""Time without renewal after which a holder stops writing, well before its flag expires [s]."""
_LOOKS = 12
_PAUSE_S = 0.15
# Unlike the default clock, this one advances while the machine sleeps.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class ObjectLease:
    """A lease that is held and renewed until it is released."""

    def __init__(self, flag: ObjectPath, holder: bytes, renewed_s: float) -> None:
        self._flag = flag
        self._holder = holder
        self._renewed_s = renewed_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="destage-lease", daemon=True)
        self._thread.start()

    @property
    def is_lost(self) -> bool:
        """Whether it could not be renewed in time, so that another process may be writing."""
        return time.clock_gettime(_CLOCK) - self._renewed_s >= TRUST_S

    def _keep(self) -> None:
        while not self._ended.wait(RENEWAL_S) and not self.is_lost:
            began_s = time.clock_gettime(_CLOCK)
            with suppress(StoreError):
                self._flag.write_bytes(self._holder)
                if not self.is_lost:
                    self._renewed_s = began_s

    def release(self) -> None:
        """Stop renewing and delete the flag."""
        self._ended.set()
        self._thread.join()
        with suppress(StoreError):  # it expires by itself
            self._flag.unlink(missing_ok=True)


@contextmanager
def hold_object_lease(folder: ObjectPath, holder: bytes) -> Iterator[ObjectLease]:
    """Hold a sweep's lease for the length of a `with` block."""
    flag = folder / f"{secrets.token_hex(8)}.json"
    lease = ObjectLease(flag, holder, _take(folder, flag, holder))
    try:
        yield lease
    finally:
        lease.release()


def find_live_flag(folder: ObjectPath) -> bytes | None:
    """Return the content of the current writer's flag, if any; ages are by this machine's clock."""
    for info in folder.list_objects():
        if _age_s(info, datetime.now(UTC)) < EXPIRY_S:
            with suppress(FileNotFoundError):
                return _read_flag(info.path)
    return None


def _take(folder: ObjectPath, flag: ObjectPath, holder: bytes) -> float:
    """Take the lease, delete expired flags, and return when our own was written."""
    contender = contend(flag.name, _LOOKS)
    live: dict[str, ObjectInfo] = {}
    dead: list[ObjectPath] = []
    put_s = 0.0
    step = next(contender)
    while True:
        if step is Step.PUT:
            put_s = time.clock_gettime(_CLOCK)
            flag.write_bytes(holder)
        elif step is Step.TAKE_DOWN:
            flag.unlink(missing_ok=True)
        elif step is Step.PAUSE:
            time.sleep(_PAUSE_S * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
        else:
            live, dead = _look(folder, flag)
        try:
            step = contender.send(live.keys())
        except StopIteration as end:
            if end.value:
                break
            raise _locked(folder, live) from None
    if time.clock_gettime(_CLOCK) - put_s > TRUST_S:
        # Our flag may have expired in the meantime.
        flag.unlink(missing_ok=True)
        raise StoreError(
            "store.lease-too-slow",
            "the bucket responds too slowly to hold a lease; try again",
            str(folder.parent),
        )
    for expired in dead:
        expired.unlink(missing_ok=True)
    return put_s


def _look(folder: ObjectPath, flag: ObjectPath) -> tuple[dict[str, ObjectInfo], list[ObjectPath]]:
    """Return the live flags of others by name, and the expired ones."""
    flags = folder.list_objects()
    now = next((info.modified_at for info in flags if info.path == flag), None)
    if now is None:
        message = "an object just written is not listed; use a service with strongly consistent lists"
        raise StoreError("store.inconsistent-list", message, str(folder.parent))
    others = {info.path.name: info for info in flags if info.path != flag}
    live = {name: info for name, info in others.items() if _age_s(info, now) < EXPIRY_S}
    return live, [info.path for name, info in others.items() if name not in live]


def _locked(folder: ObjectPath, live: dict[str, ObjectInfo]) -> StoreError:
    first = live[min(live)]
    try:
        writer = describe_holder(_read_flag(first.path))
    except FileNotFoundError:
        writer = "another process"
    expiry = f"the lease of a killed writer expires after {EXPIRY_S:.0f} s"
    message = f"locked by {writer}; wait for it to end ({expiry})"
    return StoreError("store.locked", message, str(folder.parent), {"writer": writer})


def _read_flag(flag: ObjectPath) -> bytes:
    """Return the content of a flag; nothing if it is larger than a writer's."""
    try:
        return flag.read_bytes(MOST_RECORD)
    except ObjectTooLargeError:
        return b""


def _age_s(flag: ObjectInfo, now: datetime) -> float:
    return (now - flag.modified_at).total_seconds()


def describe_holder(holder: bytes) -> str:
    """Describe the process that holds a lease."""
    try:
        fields = json.loads(holder)
        return f"process {fields['pid']} on {fields['host']} since {fields['since']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
