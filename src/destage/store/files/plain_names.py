"""Names of files and folders that another machine states, and that become local paths."""

from pathlib import PurePosixPath

_LONGEST = 255
"""Longest name of a file [bytes], on all common file systems."""
_LONGEST_PATH = 1024


def is_plain_name(name: object) -> bool:
    """Return whether a value is the name of a file or folder: one part, without control characters."""
    return (
        isinstance(name, str)
        and name not in ("", ".", "..")
        and "/" not in name
        and "\\" not in name
        and name.isprintable()
        and len(name.encode(errors="replace")) <= _LONGEST
    )


def is_plain_path(path: object) -> bool:
    """Return whether a value is a relative path of plain names, which stays below its folder."""
    return (
        isinstance(path, str)
        and len(path) <= _LONGEST_PATH
        and all(map(is_plain_name, path.split("/")))
        and str(PurePosixPath(path)) == path
    )
