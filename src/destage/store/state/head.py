"""The head of a generation: which files are the sweep's study, plan and answers.

A head is one small file that its writer replaces as a whole. It names files of its own generation and of
earlier ones; these never change, and carry the digests of their content in their names.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from dataclasses import field as attribute

from destage.errors import StoreError
from destage.objects import Location
from destage.store.files.plain_names import is_plain_name
from destage.store.files.records import decode_record, encode_record, invalid, is_count

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
