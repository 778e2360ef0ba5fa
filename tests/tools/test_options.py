"""The table of options of each tool, and the reader that all of them share."""

import re
from dataclasses import dataclass

import pytest

from destage.tools.diskspd import command_line, profile
from destage.tools.fio.options import OPTIONS as FIO
from destage.tools.options import Argument, OptionReader, OptionTable, by_reason, list_settings, option
from destage.tools.sysbench import options as sysbench
from destage.tools.values import OptionValueError, SizeForm, Word, one_of, parse_count, parse_percentage
from destage.tools.vdbench import keywords

TABLES = {
    "fio": FIO,
    "diskspd": command_line._OPTIONS,
    "diskspd target": profile._OF_TARGET,
    "diskspd span": profile._OF_SPAN,
    "sysbench": sysbench._OPTIONS,
}


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_an_option_is_in_one_group(table: OptionTable) -> None:
    groups = [set(table.settings), set(table.ignored), set(table.unsupported), set(table.aliases)]
    assert sum(map(len, groups)) == len(set().union(*groups))
    known = set().union(*groups[:3])
    assert set(table.aliases.values()) <= known
    assert all(
        why and not why.endswith(".") for why in (*table.ignored.values(), *table.unsupported.values())
    )


def test_a_keyword_of_vdbench_is_set_or_ignored() -> None:
    assert not set(keywords.KEYWORDS) & set(keywords.WITHOUT_EFFECT)
    known = {name.removeprefix("for") for names in keywords.ORDER.values() for name in names}
    assert set(keywords.KEYWORDS) | set(keywords.WITHOUT_EFFECT) - {"forcompratio", "forcompression"} <= known


@dataclass
class Load:
    """The settings of a tool."""

    depth: int = option("depth", parse_count, 1, lambda depth: f"{depth} outstanding")
    mode: str = option("mode", one_of("read", "write"), "read", "direction")


TABLE = OptionTable(
    list_settings(Load), by_reason({"it is output": "log verbose"}), {"trim": "is not simulated"}
)


def read(*options: str, is_lenient: bool = False) -> tuple[Load, OptionReader]:
    """Return the settings of `name=value` options, and what the reader collects."""
    load, reader = Load(), OptionReader(is_lenient)
    for column, text in enumerate(options, 1):
        name, _, value = text.partition("=")
        word = Word(text, 1, column)
        reader.read(TABLE, name, Argument(f"--{name}", word, value, word), load)
    return load, reader


def test_options_set_fields_and_are_explained() -> None:
    load, reader = read("depth=8", "mode=write", "log=1", "log=1")
    assert (load.depth, load.mode, reader.issues) == (8, "write", [])
    assert reader.notes == ["depth=8: 8 outstanding", "mode=write: direction"]
    assert reader.remarks == ["Without effect: log=1: it is output."]


def test_mistakes_leave_defaults_and_have_places() -> None:
    load, reader = read("depth=x", "mode=raed", "trim=1", "dept=1", "depth=$N")
    assert (load.depth, load.mode) == (1, "read")
    assert [(issue.code, issue.place, issue.column) for issue in reader.issues] == [
        ("import.bad-value", "--depth", 1),
        ("import.bad-value", "--mode", 2),
        ("import.unsupported-option", "--trim", 3),
        ("import.unsupported-option", "--dept", 4),
        ("import.unknown-variable", "--depth", 5),
    ]
    assert "'depth'" in reader.issues[3].message


def test_unsupported_options_are_skipped_if_asked() -> None:
    _, reader = read("trim=1", "depth=x", is_lenient=True)
    assert [issue.code for issue in reader.warnings] == ["import.option-skipped"]
    assert [issue.code for issue in reader.issues] == ["import.bad-value"]


def test_sizes_have_the_base_of_the_tool() -> None:
    form = SizeForm(re.compile(r"(0x[0-9a-f]+|\d+)([kp]?)(i?)"), "4k")
    assert [form.parse(text) for text in ("4k", "4ki", "0x10", "7")] == [4096, 4000, 16, 7]
    assert [form.parse(text, base=1000) for text in ("4k", "4ki")] == [4000, 4096]
    for text in ("4x", "", "-1", "9999999p"):
        with pytest.raises(OptionValueError):
            form.parse(text)


@pytest.mark.parametrize("text", ["101", "-1", "5.5", "", "1" * 13])
def test_a_percentage_is_a_whole_number_up_to_100(text: str) -> None:
    assert (parse_percentage("100%"), parse_percentage("0")) == (100, 0)
    with pytest.raises(OptionValueError):
        parse_percentage(text)
