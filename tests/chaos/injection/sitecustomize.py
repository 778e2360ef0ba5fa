"""Faults of a file system, in every process whose PYTHONPATH has this folder: drivers and Ray's workers.

DESTAGE_CHAOS_ORDERS names a folder. `orders.json` in it lists faults: the operation (`fsync` or `replace`), a
part of the path, how many such operations to let pass and how many to hit, counted over all processes.
"""

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = "DESTAGE_CHAOS_ORDERS"
_fsync, _replace = os.fsync, os.replace
_ERRORS = {"reset": errno.ESTALE, "lost reply": errno.EIO, "full disk": errno.ENOSPC}


def install() -> None:
    """Replace the functions through which the store commits files."""
    os.fsync = _fsync_with_faults
    os.replace = _replace_with_faults


def _fsync_with_faults(descriptor: Any) -> None:
    place = Path(f"/proc/self/fd/{descriptor}")
    _act("fsync", str(place.readlink()) if place.exists() else "", lambda: _fsync(descriptor))


def _replace_with_faults(source: Any, target: Any, **more: Any) -> None:
    _act("replace", os.fspath(target), lambda: _replace(source, target, **more))


def _act(operation: str, path: str, act: Callable[[], None]) -> None:
    folder = os.environ.get(FOLDER)
    order = None if folder is None or "/sweeps/" not in path else _find_order(Path(folder), operation, path)
    if order is None:
        act()
        return
    if order["kind"] == "slow":
        time.sleep(order["seconds"])
        act()
        return
    if order["kind"] == "lost reply":
        act()
    number = _ERRORS[order["kind"]]
    raise OSError(number, os.strerror(number), path)


def _find_order(folder: Path, operation: str, path: str) -> Any:
    try:
        orders = json.loads((folder / "orders.json").read_text())
    except FileNotFoundError:
        return None
    for index, order in enumerate(orders):
        if order["operation"] == operation and order["part"] in path:
            turn = _count(folder, index)
            return order if order["after"] <= turn < order["after"] + order["times"] else None
    return None


def _count(folder: Path, index: int) -> int:
    """Return how many operations of all processes an order has seen, and count this one."""
    turn = 0
    while True:
        try:
            (folder / f"{index}.{turn}").touch(exist_ok=False)
        except FileExistsError:
            turn += 1
        else:
            return turn


if FOLDER in os.environ:
    install()
