"""The record at the end of a report: what it was rendered from, and the summary of the sweep.

Rendering the report of a large sweep takes seconds. A session that has changed nothing keeps the report: its
record has a digest of everything that the page depends on, which is the program, the files of the sweep, and
the measured sets of its store, which statements of a study may read. The names of these files have the
digests of their content. A page that was changed, or written only in part, has no valid record.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from destage.errors import StoreError
from destage.measured.sets import find_store, list_versions
from destage.objects import Location
from destage.queries.findings.answer_bars import AnswerBars, Bar
from destage.queries.text.presentation import Heading, Presentation
from destage.store import Sweep, open_sweep
from destage.store.files.digests import digest_of
from destage.store.files.regular_files import MOST_STUDY, read_file

_BEGIN, _END = "<!-- record ", " -->\n"
_PACKAGES = ("engine", "measured", "queries", "spec", "sql", "store")
"""The packages that pages and summaries come from. Their sources count, not only the version, which does not
change while Destage is developed."""
_SUFFIXES = {".css", ".js", ".py", ".so", ".sql", ".toml"}


@dataclass(frozen=True, slots=True)
class Summary:
    """The table of a sweep and its answer.

    Attributes:
        points: The design space, of a large sweep with the points that a table lists.
        left_out: A sentence on the points that are left out; empty if all are listed.
        published: The rows of `judge_figures`.
        bars: The answers against the size of the cache, where the study has them.
        tables: Tables as text that are shown in place of the points, where the study has such.
    """

    points: Presentation
    left_out: str
    published: tuple[dict[str, Any], ...]
    answer: tuple[str, ...]
    bars: AnswerBars | None = None
    tables: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the summary as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the summary that `as_json` returned the values of."""
        points, bars = values["points"], values["bars"]
        headings = tuple(Heading(**heading) for heading in points["headings"])
        return cls(
            Presentation(headings, tuple(map(tuple, points["rows"]))),
            values["left_out"],
            tuple(values["published"]),
            tuple(values["answer"]),
            None if bars is None else AnswerBars(bars["title"], tuple(Bar(**bar) for bar in bars["bars"])),
            tuple(values["tables"]),
        )


def place_report(sweep: Sweep, file: Location | None = None) -> Location:
    """Return the file of a sweep's report, by default `report/report.html` in its directory."""
    return sweep.path / "report" / "report.html" if file is None else file


def find_report(path: Location, file: Location | None = None) -> tuple[Location, Summary] | None:
    """Return the file and the summary of the report of the sweep in a directory, if it is up to date.

    The names and digests of the sweep's files are read, but no rows.
    """
    try:
        sweep = open_sweep(path)
        inputs = digest_inputs(sweep, (fragment.name for fragment in sweep.row_files()))
    except (FileNotFoundError, StoreError):
        return None  # opening the sweep tries again, or raises the error
    place = place_report(sweep, file)
    summary = read_summary(place, inputs)
    return None if summary is None else (place, summary)


def digest_inputs(sweep: Sweep, fragments: Iterable[str]) -> str:
    """Return a digest of everything that a report depends on, if it has no chart of a measured set.

    Args:
        fragments: The names of the fragments with the rows.
    """
    measured = list_versions(find_store(sweep.path))
    damage = [issue.code for issue in sweep.warnings]
    parts = [_digest_program(), sweep.path.name, sweep.contents, sorted(fragments), measured, damage]
    return digest_of(json.dumps(parts).encode())


def add_record(page: str, inputs: str, summary: Summary) -> str:
    """Return a page with its record.

    Args:
        inputs: What `digest_inputs` returned both before and after it was rendered.
    """
    content = json.dumps({"inputs": inputs, "summary": summary.as_json()}, ensure_ascii=False)
    # Neither may end the comment.
    content = content.replace("<", "\\u003c").replace(">", "\\u003e")
    return f"{page}{_BEGIN}{_digest_page(page, content)} {content}{_END}"


def read_summary(file: Location, inputs: str) -> Summary | None:
    """Return the summary in a report, if the report was rendered from the same inputs and is whole."""
    try:
        text = read_file(file, MOST_STUDY).decode()
    except (FileNotFoundError, UnicodeDecodeError, StoreError):
        return None
    page, begin, record = text.rpartition(_BEGIN)
    digest, _, content = record.removesuffix(_END).partition(" ")
    if not begin or not record.endswith(_END) or digest != _digest_page(page, content):
        return None
    stored = json.loads(content)
    return Summary.from_json(stored["summary"]) if stored["inputs"] == inputs else None


def _digest_page(page: str, content: str) -> str:
    return digest_of(f"{page}{content}".encode())


@cache
def _digest_program() -> str:
    root = Path(__file__).parents[2]
    parts = [version("destage")]
    for file in _list_sources(root):
        parts += [str(file)[len(str(root)) :], digest_of(file.read_bytes())]
    return digest_of(json.dumps(parts).encode())


def _list_sources(root: Path) -> Iterator[Path]:
    for package in _PACKAGES:
        # The folder of the catalogue is a link in a checkout.
        for folder, subfolders, names in os.walk(root / package, followlinks=True):
            subfolders.sort()
            yield from (Path(folder, name) for name in sorted(names) if Path(name).suffix in _SUFFIXES)
