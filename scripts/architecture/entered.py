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
    """A trace function that records the files that functions run in.

    Args:
        root: The folder of the package; files are relative to it.
    """

    def __init__(self, root: Path) -> None:
        self.entered: dict[str, str] = {}
        self._root = f"{root}/"
        self._seen: set[CodeType] = set()

    def make_trace(self) -> Callable[[FrameType, str, object], Callable[..., object] | None]:
        """Return the trace function of a thread.

        Python calls it at each call of a function, and follows a frame to its end only if it returns a
        function; a profile function would be called at each return, and for functions in C too.
        """
        importing = 0

        def end_import(_: FrameType, event: str, __: object) -> Callable[..., object]:
            nonlocal importing
            importing -= event == "return"
            return end_import

        def record(frame: FrameType, _: str, __: object) -> Callable[..., object] | None:
            nonlocal importing
            code = frame.f_code
            if code in self._seen:
                return None
            if code.co_name == "<module>":
                importing += 1
                frame.f_trace_lines = False
                return end_import
            if not importing:
                self._seen.add(code)
                file = code.co_filename
                is_function = code.co_flags & CO_OPTIMIZED and code.co_name != "__getattr__"
                if is_function and file.startswith(self._root):
                    self.entered.setdefault(file.removeprefix(self._root), code.co_qualname)
            return None

        return record


def main(result: str, *command: str) -> int:
    """Run a command of Destage and write the files that it enters."""
    import destage  # noqa: PLC0415 -- not at the top, as the functions of an import are not recorded
    from destage.cli import app  # noqa: PLC0415

    recorder = Recorder(Path(destage.__file__).parent)
    sys.argv = ["destage", *command]
    threading.settrace(recorder.make_trace())
    sys.settrace(recorder.make_trace())
    try:
        app()
    except SystemExit as end:
        code = end.code
    finally:
        sys.settrace(None)
    Path(result).write_text(json.dumps(list(recorder.entered.items())), encoding="utf-8")
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
