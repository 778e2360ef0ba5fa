"""Who may import whom, seen from outside: what an import really loads."""

import subprocess
import sys

import pytest

HEAVY = ("ray", "duckdb", "kubernetes")


def loaded_by(module: str) -> set[str]:
    """Import a module in a fresh interpreter and return the names of all that it loaded."""
    program = f"import sys, {module}; print('\\n'.join(sys.modules))"
    return set(
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True
        ).stdout.split()
    )


@pytest.mark.parametrize("module", ["destage", "destage.errors", "destage.engine", "destage.store"])
def test_what_lies_low_loads_no_heavy_dependency(module: str) -> None:
    assert not loaded_by(module) & set(HEAVY)


def test_the_store_needs_no_sql_and_no_room() -> None:
    assert not loaded_by("destage.store") & {
        "destage.sql",
        "destage.sweeps",
        "destage.queries",
        "destage.cli",
    }


@pytest.mark.parametrize(
    ("module", "other"),
    [
        (f"destage.{module}", f"destage.{other}")
        for module in ("sweeps", "queries", "cluster")
        for other in ("sweeps", "queries", "cluster")
        if module != other
    ],
)
def test_the_rooms_do_not_load_each_other(module: str, other: str) -> None:
    assert other not in loaded_by(module)


def test_help_of_the_command_line_waits_for_no_heavy_dependency() -> None:
    assert not loaded_by("destage.cli") & set(HEAVY)
