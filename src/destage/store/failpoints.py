"""Named places where a test can make the process die, to prove that the commit protocol survives it.

`DESTAGE_FAIL_POINT=name[:count]` kills the process with SIGKILL the `count`-th time it passes the place
`name` (default 1). `DESTAGE_FAIL_MARK=path` makes it happen once over all processes: the first to create
that file dies, so that a retried worker lives. Unset, a place costs one dictionary lookup.
"""

import os
import signal
from pathlib import Path

NAMES = ("before_tmp", "mid_tmp", "before_rename", "after_rename", "mid_manifest", "mid_plan_round")
"""Every place of the commit protocol, in the order a fragment meets them."""

_passed: dict[str, int] = {}


def pass_point(name: str) -> None:
    """Die here if the environment names this place."""
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
    os.kill(os.getpid(), signal.SIGKILL)
