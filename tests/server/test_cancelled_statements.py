"""A statement ends with the connection that asked for it."""

import time
from pathlib import Path

from served_sweep import SOON_S, run_users, serve

from destage.server.statement_runner import CONCURRENT


def test_a_closed_connection_ends_its_statement(tmp_path: Path) -> None:
    """More than may run at a time are cancelled, while they run or wait; the next one runs at once."""
    with serve(run_users(tmp_path, 5), "--timeout", "10min") as served:
        for _ in range(2):
            connections = [served.send_endless() for _ in range(CONCURRENT + 1)]
            time.sleep(3)
            for connection in connections:
                connection.close()
        began = time.monotonic()
        assert served.sql("SELECT 1").status == 200
        assert time.monotonic() - began < SOON_S
