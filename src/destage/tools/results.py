"""The readers of all tools, of which the content of a file chooses one."""

import re
from dataclasses import asdict, replace
from datetime import datetime

from destage.measured.line import MeasuredLine
from destage.tools import registry
from destage.tools.plausibility import explain_excess, explain_implausible
from destage.tools.result_parts import Readings, ResultFile

_OTHER_OUTPUTS = (
    (
        re.compile(r"^  *(?:read|write) *: IOPS=|^  *(?:read|write) *: io=", re.MULTILINE),
        "is fio's text output; run fio again with --output-format=json+",
    ),
    (re.compile(r'^\s*\{\s*"sysstat"'), "is iostat's JSON; run iostat -x again without -o JSON"),
    (
        re.compile(r"^Device:? +tps\b.*\bBlk_|^Device:? +tps +kB_read/s", re.MULTILINE),
        "is iostat's basic report; run iostat again with -x",
    ),
)
"""Outputs of known tools that are not read, and what to do."""


def read_results(name: str, data: bytes) -> Readings:
    """Read a file of results.

    Args:
        name: Its name, which lines and mistakes carry.

    Raises:
        ConfigError: It is of no known tool, incomplete or wrong; with the line of the mistake.
    """
    file = ResultFile(name, decode(data))
    detected = registry.detect(file.text, "results")
    if detected is not None:
        found: Readings = detected[1].read(file)
        for line in found.lines:
            _check_plausible(file, line)
        return replace(found, lines=[replace(line, source_file=name) for line in found.lines])
    if not file.text.strip():
        raise file.mistake("measured.no-figures", "the file is empty")
    for form, message in _OTHER_OUTPUTS:
        match = form.search(file.text)
        if match:
            raise file.mistake("measured.unknown-format", message, line=file.line_of(match.start()))
    forms = ", ".join(registry.list_result_forms())
    raise file.mistake("measured.unknown-format", f"is none of these: {forms}")


def _check_plausible(file: ResultFile, line: MeasuredLine) -> None:
    """Reject figures that no measurement can have; what the file states is named before what follows."""
    columns = sorted(asdict(line).items(), key=lambda column: column[0] in line.derived_figures)
    for column, value in columns:
        message = explain_implausible(column, value)
        if message:
            place = line.source_line or 1
            shown = str(value) if isinstance(value, datetime) else value
            raise file.mistake("measured.implausible", message, line=place, place=column, value=shown)
    excess = explain_excess(dict(columns))
    if excess is not None:
        column, message = excess
        value, place = getattr(line, column), line.source_line or 1
        raise file.mistake("measured.implausible", message, line=place, place=column, value=value)


def decode(data: bytes) -> str:
    """Return the text of a file: UTF-8, UTF-16 with its mark (as `>` of PowerShell writes it), or Latin-1."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
