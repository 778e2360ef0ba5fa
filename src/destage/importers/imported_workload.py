"""A workload imported from another tool's file, and its YAML."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from destage.errors import Issue

_WIDTH = 110


@dataclass(frozen=True)
class ImportedWorkload:
    """A workload read from another tool's file.

    Attributes:
        tool: The tool's name.
        file: The file's name in messages.
        workload: The value of `workload:` in a configuration.
        run: The value of `run:`; empty if the file does not define it.
        remarks: What is approximated, assumed or without effect.
        mapping: How each part of the file was translated, by stream.
        warnings: Where the workload may differ from what the author meant.
    """

    tool: str
    file: str
    workload: Mapping[str, Any]
    run: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    mapping: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[Issue, ...] = ()

    def to_yaml(self) -> str:
        """Return the workload as YAML, with comments on how it was translated.

        The document has `workload:` and, if the file defines a run time, `run:`. With `array:` added, it is a
        configuration.
        """
        streams = self.workload["streams"]
        about = f"Imported from {self.file} ({self.tool})."
        warnings = (f"Warning: {warning}" for warning in self.warnings)
        lines = _comments((about, *warnings, *self.remarks), 0)
        lines += ["workload:"]
        head = {key: value for key, value in self.workload.items() if key != "streams"}
        lines += _indented(_dump(head), 2) if head else []
        lines += ["  streams:"]
        for stream in streams:
            lines += _comments(self.mapping.get(stream["name"], ()), 2)
            first, *rest = _dump(stream)
            lines += [f"  - {first}", *_indented(rest, 4)]
        if self.run:
            lines += ["run:", *_indented(_dump(self.run), 2)]
        return "\n".join(lines) + "\n"


def _dump(value: Mapping[str, Any]) -> list[str]:
    # Flow style for nested tables that contain no further ones, block style for the rest.
    is_flat = not any(isinstance(item, dict | list) for item in value.values())
    text = yaml.safe_dump(
        dict(value),
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=False if is_flat else None,
    )
    return text.splitlines()


def _indented(lines: list[str], by: int) -> list[str]:
    return [f"{' ' * by}{line}" for line in lines]


def _comments(texts: tuple[str, ...], by: int) -> list[str]:
    # Text from the file may contain line separators or characters that YAML does not allow.
    return [f"{' ' * by}# {' '.join(_printable(text).split())}" for text in texts]


def _printable(text: str) -> str:
    return "".join(
        letter if letter.isprintable() or letter.isspace() else repr(letter)[1:-1] for letter in text
    )
