"""The head of a generation: which files are the sweep's study, plan and answers.

A head is one small file that its writer replaces as a whole. It names files of its own generation and of
earlier ones; these never change, and carry the digests of their content in their names.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from dataclasses import field as attribute
from typing import Any

from destage.errors import StoreError
from destage.objects import Location
from destage.store.digests import damaged, digest_of

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
        content = {"format": FORMAT, **asdict(self)}
        return json.dumps({**content, "digest": _digest(content)}, indent=1).encode() + b"\n"


def decode_head(data: bytes, place: Location) -> Head:
    """Return the head in a file.

    Raises:
        StoreError: It is damaged, or of a later format.
    """
    content = _parse(data)
    digest = content.pop("digest", None)
    if digest is None or digest != _digest(content):
        raise damaged(place)
    stated = content.pop("format", None)
    if stated != FORMAT:
        message = f"written by another version of Destage ({stated}, here {FORMAT}); use that version"
        raise StoreError("store.other-format", message, str(place), {"format": stated})
    known = {field.name for field in fields(Head)}
    head = Head(**{name: value for name, value in content.items() if name in known})
    return Head(**{**asdict(head), "rounds": tuple(head.rounds)})


def _parse(data: bytes) -> dict[str, Any]:
    """Return the fields of a head; none if it is no JSON object."""
    try:
        content = json.loads(data)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _digest(content: dict[str, object]) -> str:
    return digest_of(json.dumps(content, sort_keys=True).encode())
