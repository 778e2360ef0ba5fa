"""Ray's messages: one line for a lost machine, everything else as Ray prints it."""

from typing import Any

import pytest

pytest.importorskip("ray")

from destage.sweeps.ray.executor import MessageFilter

DUMP = "Raylet is terminated. Termination is unexpected. Possible reasons include: (1) SIGKILL\n{}"
DEAD = (
    "The node with node id: {} and address: 192.0.2.2 and node name: 192.0.2.2 has been marked dead because "
    "the detector has missed too many heartbeats from it. This can happen when a \n\t(1) raylet crashes"
)
STATE = "    [state-dump] NodeManager.deadline_timer - 316 total (1 active, 1 running)\n" * 20


def printed(*messages: str) -> list[str]:
    lines: list[str] = []

    def keep(data: dict[str, Any], ignore_prefix: bool) -> None:
        assert data["pid"] == "raylet"
        assert ignore_prefix is False
        lines.extend(data["lines"])

    show = MessageFilter(keep)
    for message in messages:
        show({"lines": [message], "pid": "raylet", "is_err": False}, ignore_prefix=False)
    return lines


def test_a_lost_machine_is_one_line() -> None:
    """Two of its processes report its end, with Ray's own state, and the head reports it."""
    (line,) = printed(DUMP.format(STATE), DUMP.format(STATE.upper()), DEAD.format("7c"), DEAD.format("7c"))
    assert line == "the machine 192.0.2.2 of the Ray cluster was lost; others execute its runs"
    assert len(printed(DEAD.format("7c"), DEAD.format("8d"))) == 2


def test_other_messages_are_unchanged() -> None:
    others = ["the disk of node 7 is 95 % full", "autoscaler: no node type fits\nsecond line"]
    assert printed(*others) == others
