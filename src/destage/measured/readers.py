"""The readers of all tools, of which the content of a file chooses one."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from types import ModuleType

from destage.measured import (
    diskspd_text,
    diskspd_xml,
    fio_json,
    iometer_results,
    iostat_log,
    perfmon_log,
    sysbench_text,
    vdbench_flatfile,
)
from destage.measured.line import MeasuredLine
from destage.measured.parts import Readings, ResultFile

_MOST = 2**62

READERS: Mapping[str, ModuleType] = {
    "fio JSON": fio_json,
    "DiskSpd XML": diskspd_xml,
    "DiskSpd text": diskspd_text,
    "Vdbench flatfile": vdbench_flatfile,
    "Iometer results": iometer_results,
    "sysbench text": sysbench_text,
    "iostat -x": iostat_log,
    "Perfmon CSV": perfmon_log,
}
"""Each has `is_result(text)` and `read(file)`."""


def read_results(name: str, data: bytes) -> Readings:
    """Read a file of results.

    Args:
        name: Its name, which lines and mistakes carry.

    Raises:
        ConfigError: It is of no known tool, incomplete or wrong; with the line of the mistake.
    """
    file = ResultFile(name, decode(data))
    for reader in READERS.values():
        if reader.is_result(file.text):
            found: Readings = reader.read(file)
            for line in found.lines:
                _check_counts(file, line)
            return replace(found, lines=[replace(line, source_file=name) for line in found.lines])
    if not file.text.strip():
        raise file.mistake("measured.no-figures", "the file is empty")
    raise file.mistake("measured.unknown-format", f"is none of these: {', '.join(READERS)}")


def _check_counts(file: ResultFile, line: MeasuredLine) -> None:
    """Reject counts that no column can hold, of which a damaged file may have some."""
    for column, value in asdict(line).items():
        if isinstance(value, int) and value > _MOST:
            message = f"is too large for {column}"
            raise file.mistake(
                "measured.bad-value", message, line=line.source_line or 1, place=column, value=value
            )


def decode(data: bytes) -> str:
    """Return the text of a file: UTF-8, UTF-16 with its mark (as `>` of PowerShell writes it), or Latin-1."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
