"""Fail points: named places where a test kills the process, to check that the commit protocol survives it.

`DESTAGE_FAIL_POINT=name[:count]` kills the process with SIGKILL the `count`-th time it passes the fail point
`name` (default 1); `DESTAGE_FAIL_SIGNAL=STOP` pauses it instead. With `DESTAGE_FAIL_MARK=path` only the
process that creates that file is hit, so that a retried worker survives. Unset, a fail point costs one
dictionary lookup.
"""

import os
import signal
from pathlib import Path

NAMES = (
    "before_tmp",
    "mid_tmp",
    "before_rename",
    "after_rename",
    "rows_held",
    "mid_plan_round",
    "before_head",
    "mid_head",
    "after_head",
)
"""Fail points of every sweep: those of a fragment, in order; of an executed batch that is not committed; then
those of plans and heads."""
RARE_NAMES = ("mid_index", "before_merge", "after_merge")
"""Fail points of the index, and of merging fragments while a sweep runs."""

_passed: dict[str, int] = {}


def pass_point(name: str) -> None:
    """Kill or stop the process if the environment names this fail point."""
    wanted = os.environ.get("DESTAGE_FAIL_POINT")
    if wanted is None:
        return
    target, _, count = wanted.partition(":")
    if target != name:
        return
    _passed[name] = _passed.get(name, 0) + 1
    if _passed[name] != int(count or "1"):
        return
    mark = os.environ.get("DESTAGE_FAIL_MARK")
    if mark is not None:
        try:
            Path(mark).touch(exist_ok=False)
        except FileExistsError:
            return
    os.kill(os.getpid(), signal.Signals[f"SIG{os.environ.get('DESTAGE_FAIL_SIGNAL', 'KILL')}"])
