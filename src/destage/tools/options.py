"""The options of any tool: a table of what each means, and the reader of those in a file or command.

The settings of a tool are a dataclass, whose fields name their options (`option`); options without a field
have no effect, or are not simulated, for a reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar

from destage.errors import Issue
from destage.spec.near_names import suggest
from destage.tools.scripts import find_variable
from destage.tools.values import OptionValueError, Parser, Word

T = TypeVar("T")
Meaning = str | Callable[[Any], str]
"""What an option means, or a function that returns it for a value."""


class Given(Protocol):
    """An option that is given; its text is the option as it is written."""

    @property
    def value(self) -> str:
        """Its value."""

    def issue(self, code: str, message: str) -> Issue:
        """Return an issue at the option."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An option of a command line.

    Attributes:
        place: Its name in messages.
        word: The option and its value as they are written.
        at: What messages show of it.
    """

    place: str
    word: Word
    value: str
    at: Word

    def issue(self, code: str, message: str) -> Issue:
        """Return an issue at the option."""
        return self.at.issue(code, self.place, message)

    def __str__(self) -> str:
        """Return the option as it is written."""
        return self.word.text


@dataclass(frozen=True, slots=True)
class Setting:
    """An option that sets a field of the settings."""

    field: str
    parse: Parser
    meaning: Meaning = ""

    def apply(self, settings: object, text: str) -> str:
        """Set the field to a value, and return what it means."""
        value = self.parse(text)
        setattr(settings, self.field, value)
        return self.meaning(value) if callable(self.meaning) else self.meaning


@dataclass(frozen=True, slots=True)
class Action:
    """An option that sets several fields; its function returns what it means."""

    apply: Callable[[Any, str], str]


def option(name: str, parse: Parser, default: Any, meaning: Meaning = "", **more: Any) -> Any:
    """Return a field of settings that an option sets.

    Args:
        more: Further facts, for the tool's reader.
    """
    return field(default=default, metadata={"option": name, "parse": parse, "meaning": meaning, **more})


def list_settings(kind: type) -> dict[str, Setting | Action]:
    """Return the settings of a dataclass by the names of their options."""
    facts = [(field.name, field.metadata) for field in fields(kind) if field.metadata.get("option")]
    return {of["option"]: Setting(name, of["parse"], of["meaning"]) for name, of in facts}


def by_reason(names: Mapping[str, str]) -> dict[str, str]:
    """Return the reason of each option, by the options (separated by blanks) of each reason."""
    return {name: reason for reason, listed in names.items() for name in listed.split()}


@dataclass(frozen=True, slots=True)
class OptionTable:
    """What each option of a tool means.

    Attributes:
        settings: The options that define the workload.
        ignored: Why the other options of the tool have no effect on it.
        unsupported: Why options are not simulated, and the alternative.
        unknown: What to say of other names.
    """

    settings: Mapping[str, Setting | Action]
    ignored: Mapping[str, str]
    unsupported: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    unknown: str = "is unknown"

    def explain_unsupported(self, name: str) -> str:
        """Return why an option is not supported."""
        names = sorted({*self.settings, *self.ignored, *self.aliases})
        return self.unsupported.get(name) or f"{self.unknown}{suggest(name, names)}"


@dataclass
class OptionReader:
    """Collects what the options of a file mean, what is wrong with them, and what has no effect.

    Attributes:
        is_lenient: Whether options that are not simulated are skipped with a warning.
        hint: What messages say of an option without a value.
    """

    is_lenient: bool = False
    issues: list[Issue] = field(default_factory=list)
    warnings: list[Issue] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hint: str = ""

    def read(self, table: OptionTable, name: str, given: Given, settings: object) -> None:
        """Read an option, which may have a variable of a script."""
        setting, variable = table.settings.get(name), find_variable(str(given))
        if name in table.ignored:
            self.ignore(given, table.ignored[name])
        elif setting is None:
            self.reject(given, table.explain_unsupported(name))
        elif variable is not None:
            message = f"{variable} is not set by the script; write its value"
            self.issues.append(given.issue("import.unknown-variable", message))
        else:
            note = self.parse(given, lambda text: setting.apply(settings, text), "")
            self.notes += [f"{given}: {note}"] * bool(note)

    def parse(self, given: Given, parse: Callable[[str], T], default: T) -> T:
        """Return the value of an option; one that is not allowed is an issue, and the default is used."""
        try:
            return parse(given.value)
        except OptionValueError as error:
            message = f"{error}{self.hint if self.hint and not given.value else ''}"
            self.issues.append(given.issue("import.bad-value", message))
            return default

    def ignore(self, given: object, why: str, line: int | None = None) -> None:
        """Note an option without effect."""
        remark = f"Without effect{'' if line is None else f', line {line}'}: {given}: {why}."
        if remark not in self.remarks:
            self.remarks.append(remark)

    def reject(self, given: Given, why: str) -> None:
        """Add an issue for an option that is not supported, or skip it."""
        if self.is_lenient:
            self.warnings.append(given.issue("import.option-skipped", f"skipped: it {why}"))
        else:
            message = f"{why}{' ' if why.endswith('?') else '; '}--ignore-unknown skips it"
            self.issues.append(given.issue("import.unsupported-option", message))

    def conflict(self, given: Given, message: str) -> None:
        """Add an issue for an option that does not fit others."""
        self.issues.append(given.issue("import.conflicting-options", message))
