"""What an import or a command loads."""

import subprocess
import sys
from pathlib import Path

import pytest
from small_studies import small_study

from destage import sweeps

HEAVY = ("ray", "duckdb", "kubernetes")
RUN = "from destage.cli import app; app()"
SLOW = {*HEAVY, "pyarrow", "numpy", "scipy", "polars", "jsonschema", "prompt_toolkit", "destage.engine"}
"""Slow to load, especially on the fraction of a processor that a reader pod has."""


def loaded_by(module: str) -> set[str]:
    """Return the names of all modules that importing a module loads."""
    program = f"import sys, {module}; print('\\n'.join(sys.modules))"
    return set(
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True
        ).stdout.split()
    )


@pytest.mark.parametrize("module", ["destage", "destage.errors", "destage.engine", "destage.store"])
def test_base_modules_load_no_heavy_dependency(module: str) -> None:
    assert not loaded_by(module) & set(HEAVY)


def test_the_store_loads_no_sql_and_no_higher_package() -> None:
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
def test_sweeps_queries_and_cluster_are_independent(module: str, other: str) -> None:
    assert other not in loaded_by(module)


def test_the_keeper_loads_only_the_standard_library() -> None:
    """Its pod has 128 MiB, and the image shall not need a client of Kubernetes for it."""
    assert not loaded_by("destage.cluster.in_pod.keeper") & (SLOW | {"urllib3", "yaml", "requests"})


def test_the_command_line_loads_no_heavy_dependency() -> None:
    assert not loaded_by("destage.cli") & set(HEAVY)


@pytest.mark.parametrize("options", [(), ("--debug",)])
def test_a_command_loads_no_other_command(options: tuple[str, ...]) -> None:
    program = "import atexit, sys; atexit.register(lambda: print(*sys.modules)); " + RUN
    done = subprocess.run(
        [sys.executable, "-c", program, *options, "simulate", "--help"],
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = {name for name in done.stdout.split() if name.startswith("destage.cli.commands.")}
    assert loaded == {"destage.cli.commands.simulate"}


def test_one_simulation_loads_neither_rows_nor_studies(tmp_path: Path) -> None:
    """What it needs is the engine: a table of rows or a sweep takes longer to load than to simulate."""
    file = tmp_path / "one.yaml"
    file.write_text(small_study("one", requests=20).partition("axes:")[0])
    program = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); " + RUN
    done = subprocess.run(
        [sys.executable, "-c", program, "simulate", str(file)], check=True, capture_output=True, text=True
    )
    slow = (SLOW - {"destage.engine"}) | {
        "destage.store",
        "destage.sweeps.study.valid_study",
        "rich",
        "importlib.metadata",
    }
    assert not slow & set(done.stderr.split())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with one finished sweep."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.yaml").write_text(small_study("small", "workload.users: [5]"))
    study = sweeps.load_study(folder / "small.yaml")
    sweeps.run(study, folder / "store", executor="inline")
    return folder / "store"


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        (("status",), set()),
        (("status", "small", "--json"), set()),
        (("cluster", "pack", "{sweep}", "--list"), set()),
        (("query", "small", "SELECT 1"), {"duckdb", "pyarrow", "numpy", "destage.engine"}),
    ],
)
def test_a_command_loads_only_what_it_needs(store: Path, command: tuple[str, ...], needed: set[str]) -> None:
    (sweep,) = (store / "sweeps").iterdir()
    program = "import atexit, sys; atexit.register(lambda: print(*sys.modules)); " + RUN
    args = [arg.format(sweep=sweep.name) for arg in command]
    program_line = [sys.executable, "-c", program, *args, "--store", str(store)]
    out = subprocess.run(program_line, check=True, capture_output=True, text=True).stdout
    assert SLOW & set(out.splitlines()[-1].split()) == needed


def test_one_simulation_loads_no_arrow(tmp_path: Path) -> None:
    """Arrow takes as long to import as a short run takes."""
    (tmp_path / "small.yaml").write_text(small_study("small", "workload.users: [5]"))
    program = "import atexit, sys; atexit.register(lambda: print(*sys.modules)); " + RUN
    program_line = [sys.executable, "-c", program, "simulate", str(tmp_path / "small.yaml")]
    out = subprocess.run(program_line, check=True, capture_output=True, text=True).stdout
    assert SLOW & set(out.splitlines()[-1].split()) == {"destage.engine"}
