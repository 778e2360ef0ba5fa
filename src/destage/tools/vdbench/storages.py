"""Storages of a Vdbench test: where they lie on the array, and how they are opened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from destage.tools.options import OptionReader
from destage.tools.values import ALL, SECTOR, OptionValueError, parse_decimal
from destage.tools.vdbench.keywords import SIZES
from destage.tools.vdbench.parameter_file import Settings
from destage.tools.workload_parts import round_up

_DEVICES = ("/dev/", "\\\\.\\")
_RAW_DEVICES = ("/dev/rdsk", "/dev/rhdisk", "/dev/rdisk", "/dev/raw", "\\\\.\\")
_DIRECT = frozenset({"o_direct", "directio", "f_nocache"})
_FORCED = frozenset({"o_sync", "o_dsync", "o_rsync"})
_IGNORED = frozenset({"fsync", "directio_off", "clear_cache", "clearcache"})
_MOST_PERCENT = 200
"""Bounds of a range above are sizes; those above 100 continue at the start of the storage."""
_DEFAULT_THREADS, _DEFAULT_HIT_AREA = 8, 1 << 20


@dataclass(frozen=True, slots=True)
class Range:
    """A part of the array.

    Attributes:
        first: Its first byte.
        last: The first byte behind it; None for the end of the array.
        band: Begin and end of the part that is used [%], where the size is not known.
    """

    first: int
    last: int | None
    band: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage (SD).

    Attributes:
        used: The part that its own `range` leaves.
        hit_area: The part at its start that hits go to [bytes].
        alignment: Alignment of random addresses; None for the size of each request.
        is_direct: Whether a workload opens it without the host's cache.
        is_forced: Whether its writes wait for stable storage.
    """

    settings: Settings
    whole: Range
    used: Range
    threads: int
    hit_area: int
    alignment: int | None = None
    is_direct: bool = False
    is_forced: bool = False

    @property
    def is_device(self) -> bool:
        """Whether it is a disk, whose size is that of the array."""
        return self.path.startswith(_DEVICES) or not self.path

    @property
    def is_raw(self) -> bool:
        """Whether the host never caches it."""
        return self.path.startswith(_RAW_DEVICES)

    @property
    def path(self) -> str:
        """Its file or disk."""
        parameter = self.settings.parameters.get("lun")
        return "" if parameter is None else parameter.values[0].text


def lay_out(storages: Mapping[str, Settings], reader: OptionReader) -> dict[str, Storage]:
    """Return the storages one after the other; those of unknown size use the whole array."""
    placed: dict[str, Storage] = {}
    position = 0
    for name, settings in storages.items():
        size = settings.get("size", 0, reader)
        length = size or None
        start = settings.get("offset", 0, reader)
        base = position if length is not None else 0
        position += round_up(length or 0)
        if start % SECTOR or (length is not None and start >= length):
            message = f"must be a multiple of {SECTOR} below size"
            reader.issues.append(settings.parameters["offset"].issue("import.bad-value", message))
            start = 0
        whole = Range(base + start, None if length is None else base + length)
        placed[name] = Storage(
            settings,
            whole,
            read_range(settings, whole, whole, reader),
            settings.get("threads", _DEFAULT_THREADS, reader),
            settings.get("hitarea", _DEFAULT_HIT_AREA, reader),
            settings.get("align", None, reader),
        )
    return placed


def read_range(settings: Settings, whole: Range, default: Range, reader: OptionReader) -> Range:
    """Return the part of a storage that `range` leaves, in sizes or per cent."""
    is_given = "range" in settings.parameters
    parse = partial(_parse_range, whole=whole)
    return settings.get_all("range", parse, whole if is_given else default, reader)


def _parse_range(texts: Sequence[str], whole: Range) -> Range:
    if len(texts) != 2:  # noqa: PLR2004 - from, to
        raise OptionValueError("must be (from,to); several ranges are not simulated")
    low, high = map(_parse_bound, texts)
    if low >= high:
        raise OptionValueError("must be (from,to) with from below to")
    if ALL < high <= _MOST_PERCENT:
        raise OptionValueError("exceeds 100 %; a range that continues at the start is not simulated")
    if high <= ALL:
        return _find_share(whole, low, high)
    # Up to 100 is a percentage even if the other bound is a size.
    size = 0 if whole.last is None else whole.last - whole.first
    if low <= ALL and low and whole.last is None:
        raise OptionValueError("in per cent needs size= of the storage")
    begin = whole.first + (size * low / ALL if low <= ALL else low)
    first, last = (int(bound) // SECTOR * SECTOR for bound in (begin, whole.first + high))
    if whole.last is not None and last > whole.last:
        raise OptionValueError("exceeds the size of the storage")
    return Range(first, last)


def _find_share(whole: Range, low: float, high: float) -> Range:
    """Return a part in per cent."""
    if whole.last is None:
        return Range(whole.first, None, None if (low, high) == (0, ALL) else (low, high))
    unit = (whole.last - whole.first) / ALL
    first, last = (round(whole.first + bound * unit) // SECTOR * SECTOR for bound in (low, high))
    return Range(first, last)


def _parse_bound(text: str) -> float:
    """Return a percentage, which may have decimals, or a size [bytes]."""
    try:
        return parse_decimal(text)
    except OptionValueError:
        return SIZES.parse(text)


def open_storage(storage: Storage, users: Sequence[Settings], reader: OptionReader) -> Storage:
    """Return a storage with its own flags and those of the definitions that use it."""
    flags: set[str] = set()
    for settings in (storage.settings, *users):
        parameter = settings.parameters.get("openflags")
        for value in () if parameter is None else parameter.values:
            flags.add(value.text.lower())
            if parameter is not None and value.text.lower() not in _DIRECT | _FORCED | _IGNORED:
                allowed = ", ".join(sorted(_DIRECT | _FORCED | _IGNORED))
                reader.issues.append(parameter.issue("import.bad-value", f"must be of {allowed}", value))
    return replace(storage, is_direct=bool(flags & _DIRECT), is_forced=bool(flags & _FORCED))
