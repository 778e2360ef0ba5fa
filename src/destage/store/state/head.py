"""The head of a sweep: which files are its study, plan and answers, in the generation of each writer.

A head is one small file that its writer replaces as a whole. It names files of its own generation and of
earlier ones; these never change, and carry the digests of their content in their names.

Every writer writes under a number of its own, its generation, and readers take the highest. A lease alone
cannot protect a sweep: its holder may be paused (a sleeping laptop, a stopped process) until the lease has
expired and another writer has taken over, and then goes on. So each session claims a generation, with a
number above all others, and writes plans, answers and progress under that name only. What a superseded writer
still writes has a lower number, and no reader takes it (M. Kleppmann, "How to do distributed locking", 2016,
calls the number a fencing token).

A claim is a file that is written *before* the others are listed: of two writers that claim at the same time,
at least the later one sees the other's and takes a higher number. No lock and no conditional request is
needed.
"""

import re
import secrets
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from dataclasses import field as attribute

from destage.errors import StoreError
from destage.objects import Location
from destage.store.files.digests import (
    decode_record,
    digest_of,
    encode_record,
    find_digest,
    invalid,
    is_count,
    is_intact,
)
from destage.store.files.durable import pass_point, write_durably
from destage.store.files.layout import SweepLayout, list_sizes
from destage.store.files.regular_files import MOST_RECORD, is_plain_name, read_file

FORMAT = "destage-sweep-2"


@dataclass(frozen=True, slots=True)
class Head:
    """The files of a sweep as one generation of it sees them, by name.

    Attributes:
        study: The study as it was run (YAML).
        rounds: The tables of the planning rounds, in order.
        answers: The answers of the seek, one row per point; None before the sweep has finished.
        certificates: The runs that prove the answers.
        planned: The number of runs in the plan, points that share one counted once.
        finished: Whether the last session planned to the end and executed everything.
        analyses: The tables of the study's analyses, such as `sensitivity`: name of the file by name of the
            table.
    """

    study: str
    rounds: tuple[str, ...] = ()
    answers: str | None = None
    certificates: str | None = None
    planned: int = 0
    finished: bool = False
    analyses: Mapping[str, str] = attribute(default_factory=dict)

    @property
    def files(self) -> frozenset[str]:
        """The names of all files."""
        named = (self.study, *self.rounds, self.answers, self.certificates, *self.analyses.values())
        return frozenset(filter(None, named))

    def encode(self) -> bytes:
        """Return the head as JSON with a digest of its fields."""
        return encode_record({"format": FORMAT, **asdict(self)})


def decode_head(data: bytes, place: Location) -> Head:
    """Return the head in a file.

    Raises:
        StoreError: It is damaged, forged, or of a later format.
    """
    content = decode_record(data, place)
    stated = content.pop("format", None)
    if stated != FORMAT:
        message = f"written by another version of Destage ({stated}, here {FORMAT}); use that version"
        raise StoreError("store.other-format", message, str(place), {"format": stated})
    for name, (is_allowed, allowed) in _FIELDS.items():
        if not is_allowed(content.get(name, _DEFAULTS.get(name))):
            raise invalid(place, f"{name} must be {allowed}")
    head = Head(**{name: content[name] for name in _FIELDS if name in content})
    return replace(head, rounds=tuple(head.rounds))


def _is_name_or_none(value: object) -> bool:
    return value is None or is_plain_name(value)


def _are_names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(map(is_plain_name, value))


def _are_names_by_name(value: object) -> bool:
    return isinstance(value, dict) and all(
        _IDENTIFIER.fullmatch(name) and is_plain_name(file) for name, file in value.items()
    )


_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,62}")
_DEFAULTS = {field.name: field.default for field in fields(Head)} | {"analyses": {}}
_FIELDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "study": (is_plain_name, "the name of a file"),
    "rounds": (_are_names, "a list of names of files"),
    "answers": (_is_name_or_none, "the name of a file or null"),
    "certificates": (_is_name_or_none, "the name of a file or null"),
    "planned": (is_count, "a number of runs"),
    "finished": (lambda value: isinstance(value, bool), "true or false"),
    "analyses": (_are_names_by_name, "names of files by the names of their tables"),
}
"""Of each field what it must be."""


_NAME = re.compile(r"(\d{6})-[0-9a-f]{8}(?=[.-])")
_HEAD, _CLAIM = ".json", ".claim"
INDEX = "index"
"""Beginning of the stems of the index's segments, of which readers take those of all generations."""
_SEGMENT = re.compile(rf"-{INDEX}-\d+-[0-9a-f]+\.parquet$")
DAMAGE = ("store.damaged-file", "store.invalid-file")
"""Codes of a file whose content cannot be used."""
_LISTINGS = 5
"""Maximum listings of heads; one is repeated if a head disappears before it is read."""


@dataclass(slots=True)
class Generation:
    """A generation that this process has claimed; it holds the sweep's lease as well.

    Attributes:
        published: The number of heads published.
    """

    layout: SweepLayout
    name: str
    published: int = 0

    def write(self, stem: str, suffix: str, data: bytes, middle: str | None = None) -> str:
        """Write a file of this generation and return its name.

        Args:
            middle: A fail point half-way through the bytes.
        """
        name = f"{self.name}-{stem}-{digest_of(data)}{suffix}"
        write_durably(self.layout.generations / name, data, middle=middle)
        return name

    def keep_or_write(
        self, kept: str | None, stem: str, suffix: str, data: bytes, middle: str | None = None
    ) -> str:
        """Return the name of an earlier file if it has this content, else write it."""
        if kept is not None and find_digest(kept) == digest_of(data):
            with suppress(FileNotFoundError):
                if is_intact(self.layout.generations / kept):
                    return kept
        return self.write(stem, suffix, data, middle)

    def publish(self, head: Head) -> None:
        """Make a head the one that readers see.

        It is a new file, since not every service replaces an object as a whole.

        Raises:
            StoreError: Another writer has claimed a later generation.
        """
        self.check()
        pass_point("before_head")
        self.published += 1
        write_durably(self._head_file(self.published), head.encode(), middle="mid_head")
        pass_point("after_head")
        if self.published > 1:
            self._head_file(self.published - 1).unlink(missing_ok=True)

    def _head_file(self, number: int) -> Location:
        return self.layout.generations / f"{self.name}-{number:06d}{_HEAD}"

    def drop_earlier(self, head: Head) -> None:
        """Delete the files of earlier generations that the published head does not name, but for the index.

        A writer that claims a later generation before this looks is seen, and nothing is deleted; one that
        claims it afterwards starts from the published head, which names none of the deleted files.
        """
        self.check()
        for path, _ in list(list_sizes(self.layout.generations)):
            owner = _NAME.match(path.name)
            is_earlier = owner is not None and _number(owner[0]) < _number(self.name)
            if is_earlier and path.name not in head.files and not _SEGMENT.search(path.name):
                path.unlink(missing_ok=True)

    def check(self) -> None:
        """Raise an error if another writer has claimed a later generation."""
        # Another claim of the same number was given up: its process saw this one.
        if max(map(_number, _list_names(self.layout)), default=0) > _number(self.name):
            message = "another process has taken over this sweep; nothing of it was changed"
            raise StoreError("store.superseded", message, str(self.layout.root))


def claim_generation(layout: SweepLayout) -> Generation:
    """Claim a new generation of a sweep, above all others; the caller holds the lease."""
    token = secrets.token_hex(4)
    number = 1 + max(map(_number, _list_names(layout)), default=0)
    while True:
        name = f"{number:06d}-{token}"
        claim = layout.generations / f"{name}{_CLAIM}"
        write_durably(claim, b"claimed\n")
        others = [_number(other) for other in _list_names(layout) if other != name]
        if max(others, default=0) < number:
            return Generation(layout, name)
        claim.unlink(missing_ok=True)
        number = 1 + max(others)


def find_head(layout: SweepLayout, *, past_damage: bool = False) -> tuple[str, Head] | None:
    """Return the name of the highest generation that has a head, and the head.

    Args:
        past_damage: Whether to take the highest head that can be read, as a writer that mends the sweep does.

    Raises:
        StoreError: The head is damaged or of another format.
    """
    for _ in range(_LISTINGS):
        try:
            return _read_highest(list_heads(layout), past_damage=past_damage)
        except FileNotFoundError:
            continue  # a later one has taken its place
    message = "the sweep was planned again several times while it was read; try again"
    raise StoreError("store.changed-while-read", message, str(layout.root))


def _read_highest(heads: list[Location], *, past_damage: bool) -> tuple[str, Head] | None:
    for place in reversed(heads):
        owner = _NAME.match(place.name)
        try:
            data = read_file(place, MOST_RECORD)
            if data and owner is not None:  # an object that is being written is empty
                return owner[0], decode_head(data, place)
        except StoreError as error:
            if not past_damage or error.code not in DAMAGE:
                raise
    return None


def find_latest_head(names: Collection[str]) -> tuple[str, str] | None:
    """Return the latest generation and the name of its head; None if it has published none yet.

    Args:
        names: The names of the files among the generations.
    """
    owners = {match[0] for match in map(_NAME.match, names) if match is not None}
    latest = max(owners, key=_number, default="")
    heads = [name for name in names if latest and name.startswith(latest) and name.endswith(_HEAD)]
    is_sole = sum(_number(owner) == _number(latest) for owner in owners) == 1 if latest else False
    return (latest, max(heads)) if heads and is_sole else None


def list_segments(layout: SweepLayout) -> list[Location]:
    """Return the files of the index."""
    return [path for path, _ in list_sizes(layout.generations) if _SEGMENT.search(path.name)]


def read_head(layout: SweepLayout) -> Head | None:
    """Return the head that readers take, if the sweep has one; errors as in `find_head`."""
    named_head = find_head(layout)
    return None if named_head is None else named_head[1]


def list_heads(layout: SweepLayout) -> list[Location]:
    """Return the head files of a sweep, the highest last; a directory without any is not that of a sweep."""
    files = [path for path, _ in list_sizes(layout.generations)]
    heads = [path for path in files if path.suffix == _HEAD and _NAME.match(path.name)]
    return sorted(heads, key=lambda path: path.name)


def _list_names(layout: SweepLayout) -> set[str]:
    matches = (_NAME.match(path.name) for path, _ in list_sizes(layout.generations))
    return {match[0] for match in matches if match is not None}


def _number(name: str) -> int:
    return int(name.partition("-")[0])
