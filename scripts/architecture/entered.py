"""The files of the package in which a command runs functions, and the function that it runs first in each.

Usage: entered.py RESULT COMMAND...

Writes the list of `[file, function]` to the file RESULT as JSON, in the order in which the command enters the
files. Functions that run while a module is imported are left out, and so is the `__getattr__` of a package,
which imports what it returns.
"""

import json
import sys
import threading
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType


class Recorder:
    """A profile function that records the files that functions run in.

    Args:
        root: The folder of the package; files are relative to it.
    """

    def __init__(self, root: Path) -> None:
        self.entered: dict[str, str] = {}
        self._root = f"{root}/"
        self._seen: set[CodeType] = set()

    def make_profile(self) -> Callable[[FrameType, str, object], None]:
        """Return the profile function of a thread."""
        importing = 0

        def record(frame: FrameType, event: str, _: object) -> None:
            nonlocal importing
            code = frame.f_code
            if code in self._seen:
                return
            if code.co_name == "<module>":
                importing += (event == "call") - (event == "return")
            elif event == "call" and not importing:
                self._seen.add(code)
                file = code.co_filename
                is_function = code.co_flags & CO_OPTIMIZED and code.co_name != "__getattr__"
                if is_function and file.startswith(self._root):
                    self.entered.setdefault(file.removeprefix(self._root), code.co_qualname)

        return record


def main(result: str, *command: str) -> int:
    """Run a command of Destage and write the files that it enters."""
    import destage  # noqa: PLC0415 -- not at the top, as the functions of an import are not recorded
    from destage.cli import app  # noqa: PLC0415

    recorder = Recorder(Path(destage.__file__).parent)
    sys.argv = ["destage", *command]
    threading.setprofile(recorder.make_profile())
    sys.setprofile(recorder.make_profile())
    try:
        app()
    except SystemExit as end:
        code = end.code
    finally:
        sys.setprofile(None)
    Path(result).write_text(json.dumps(list(recorder.entered.items())), encoding="utf-8")
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
