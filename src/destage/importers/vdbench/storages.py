"""Storages of a Vdbench test: where they lie on the array, and how they are opened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from destage.errors import Issue
from destage.importers.parts import round_up
from destage.importers.vdbench.definitions import Settings
from destage.importers.vdbench.parameter_file import Parameter
from destage.importers.vdbench.values import VdbenchValueError, parse_count, parse_sectors, parse_size

_DEVICES = ("/dev/", "\\\\.\\")
_RAW_DEVICES = ("/dev/rdsk", "/dev/rhdisk", "/dev/rdisk", "/dev/raw", "\\\\.\\")
_DIRECT = frozenset({"o_direct", "directio", "f_nocache"})
_FORCED = frozenset({"o_sync", "o_dsync", "o_rsync"})
_IGNORED = frozenset({"fsync", "directio_off", "clear_cache", "clearcache"})
_ALL, _DEFAULT_THREADS, _DEFAULT_HIT_AREA, _SECTOR = 100, 8, 1 << 20, 512


@dataclass(frozen=True, slots=True)
class Range:
    """A part of the array.

    Attributes:
        first: Its first byte.
        last: The first byte behind it; None for the end of the array.
        band: The part of it that is used [%], where its size is not known.
    """

    first: int
    last: int | None
    band: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage (SD).

    Attributes:
        offset: Its first byte on the array.
        length: Its size; None for the rest of the array.
        threads: Its outstanding requests.
        hit_area: The part at its start that hits go to [bytes].
        band: The part of it that is used [%], where its size is not known.
    """

    settings: Settings
    offset: int
    length: int | None
    threads: int
    hit_area: int
    band: tuple[int, int] | None = None

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


@dataclass(frozen=True, slots=True)
class OpenFlags:
    """What `openflags` asks for."""

    is_direct: bool = False
    is_forced: bool = False


def lay_out(storages: Mapping[str, Settings], issues: list[Issue]) -> dict[str, Storage]:
    """Return the storages one after the other; those of unknown size use the whole array."""
    placed: dict[str, Storage] = {}
    position = 0
    for name, settings in storages.items():
        size = settings.get("size", parse_sectors, 0, issues)
        length = size or None
        start = settings.get("offset", parse_size, 0, issues)
        settings.get("align", parse_size, 0, issues)
        base = position if length is not None else 0
        position += round_up(length or 0)
        if start % _SECTOR or (length is not None and start >= length):
            message = f"must be a multiple of {_SECTOR} below size"
            issues.append(settings.parameters["offset"].issue("vdbench.bad-value", message))
            start = 0
        used = read_range(settings, Range(start, length), issues)
        placed[name] = Storage(
            settings,
            base + used.first,
            None if used.last is None else used.last - used.first,
            settings.get("threads", parse_count, _DEFAULT_THREADS, issues),
            settings.get("hitarea", parse_sectors, _DEFAULT_HIT_AREA, issues),
            used.band,
        )
    return placed


def read_range(settings: Settings, whole: Range, issues: list[Issue]) -> Range:
    """Return the part of a range that `range` leaves, in sizes or per cent."""
    parameter = settings.parameters.get("range")
    if parameter is None:
        return whole
    try:
        return _parse_range(parameter, whole)
    except VdbenchValueError as error:
        issues.append(parameter.issue("vdbench.bad-value", str(error)))
        return whole


def _parse_range(parameter: Parameter, whole: Range) -> Range:
    if len(parameter.values) != 2:  # noqa: PLR2004 - from, to
        raise VdbenchValueError("must be (from,to); several ranges are not simulated")
    low, high = (parse_size(value.text) for value in parameter.values)
    if low >= high:
        raise VdbenchValueError("must be (from,to) with from below to")
    if high > _ALL:
        bounds = (whole.first + low, whole.first + high)
    elif whole.last is None:
        return Range(whole.first, None, None if (low, high) == (0, _ALL) else (low, high))
    else:
        unit = (whole.last - whole.first) / _ALL
        bounds = (whole.first + round(low * unit), whole.first + round(high * unit))
    first, last = (bound // _SECTOR * _SECTOR for bound in bounds)
    if whole.last is not None and last > whole.last:
        raise VdbenchValueError("exceeds the size of the storage")
    return Range(first, last)


def read_flags(sources: Sequence[Settings], issues: list[Issue]) -> OpenFlags:
    """Return the flags of a storage, its workload and its run together."""
    is_direct = is_forced = False
    for settings in sources:
        parameter = settings.parameters.get("openflags")
        for value in () if parameter is None else parameter.values:
            flag = value.text.lower()
            is_direct |= flag in _DIRECT
            is_forced |= flag in _FORCED
            if parameter is not None and flag not in _DIRECT | _FORCED | _IGNORED:
                known = ", ".join(sorted(_DIRECT | _FORCED | _IGNORED))
                issues.append(parameter.issue("vdbench.bad-value", f"must be of {known}", value))
    return OpenFlags(is_direct, is_forced)
