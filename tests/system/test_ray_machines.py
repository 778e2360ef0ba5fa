"""`destage run --ray-address`: a Ray cluster of several machines that Destage did not start."""

import subprocess  # noqa: TC003
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import ray
from small_studies import small_study
from system.ray_machines import RayMachines, ray_machines

from destage import sweeps
from destage.engine import results_schema
from destage.store import open_sweep

RUNS = 80


def spread(name: str = "spread", requests: int = 100_000) -> str:
    """Return a study of `RUNS` runs."""
    return small_study(name, "workload.users: {range: [1, 20, 1]}", requests=requests, replicates=4)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spread") / "spread.yaml"
    path.write_text(spread())
    return path


@pytest.fixture(scope="module")
def reference(study: Path, tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """Return what an uninterrupted run on this machine gives."""
    store = tmp_path_factory.mktemp("reference")
    return results(sweeps.run(sweeps.load_study(study), store, executor="inline", workers=2).path)


@pytest.fixture
def machines() -> Iterator[RayMachines]:
    with ray_machines() as started:
        yield started


def results(sweep: Path) -> list[object]:
    rows = open_sweep(sweep).rows().select(["run_id", *results_schema().names])
    return [repr(row) for row in rows.to_pylist()]


def the_sweep(store: Path) -> Path:
    (sweep,) = (store / "sweeps").iterdir()
    return sweep


def hosts(store: Path) -> list[str]:
    """Return who wrote each row that lies in the store."""
    fragments = store.glob("sweeps/*/fragments/[!.]*.parquet")
    return [host for path in fragments for host in pq.read_table(path)["prov_host"].to_pylist()]


def ended(driver: "subprocess.Popen[str]", code: int = 0) -> str:
    """Return what a driver said until it ended."""
    _, told = driver.communicate(timeout=300)
    assert driver.returncode == code, told
    return told


def test_two_machines_share_a_sweep_whatever_way_they_are_called(
    machines: RayMachines, study: Path, reference: list[object], tmp_path: Path
) -> None:
    machines.start("first")
    machines.start("second")
    assert "80 executed (ray" in ended(machines.drive(study, str(tmp_path)))
    assert set(hosts(tmp_path)) == {"first", "second"}
    assert len(hosts(tmp_path)) == RUNS
    assert results(the_sweep(tmp_path)) == reference
    assert not list(the_sweep(tmp_path).glob(".*"))


@pytest.mark.chaos
def test_a_cluster_answers_to_each_of_its_addresses(
    machines: RayMachines, study: Path, tmp_path: Path
) -> None:
    machines.start("first")
    for address in ("auto", f"ray://127.0.0.1:{machines.client}"):
        short = tmp_path / "short.yaml"
        short.write_text(spread(address[:3], 300))
        assert "80 executed (ray" in ended(machines.drive(short, str(tmp_path), address)), address
    told = ended(machines.drive(study, str(tmp_path), f"127.0.0.1:{machines.client}"), 1)
    assert "is a Ray cluster's, but another of its ports: give the head's HOST:6379" in told


@pytest.mark.chaos
def test_a_machine_that_is_lost_in_mid_sweep_costs_no_row(
    machines: RayMachines, study: Path, reference: list[object], tmp_path: Path
) -> None:
    machines.start("first")
    second = machines.start("second")
    driver = machines.drive(study, str(tmp_path))
    while "second" not in hosts(tmp_path):
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.05)
    machines.kill(second)
    at_loss = len(hosts(tmp_path))
    assert at_loss < RUNS
    ended(driver)
    assert len(hosts(tmp_path)) == RUNS
    assert results(the_sweep(tmp_path)) == reference


@pytest.mark.chaos
@pytest.mark.parametrize("is_there", [False, True])
def test_a_machine_with_another_folder_of_the_same_name_is_refused(
    machines: RayMachines, study: Path, tmp_path: Path, is_there: bool
) -> None:
    machines.start("first")
    machines.start("second")
    # This path is another folder for each process that does not run in the same one.
    driver = machines.drive(study, "/proc/self/cwd/store", cwd=machines.folder / "first")
    if is_there:
        sweep = sweeps.sweep_path(sweeps.load_study(study), machines.folder / "second" / "store")
        (sweep / "fragments").mkdir(parents=True)
    told = ended(driver, 1)
    assert "1 of 2 machines cannot take part: the worker on second does not see the sweep's folder" in told
    assert "mount the same folder on all machines" in told
    assert hosts(machines.folder / "second" / "store") == []
    assert tmp_path.exists()


@pytest.mark.chaos
def test_a_machine_that_joins_later_with_another_folder_ends_the_session_and_loses_nothing(
    machines: RayMachines, study: Path, reference: list[object]
) -> None:
    machines.start("first")
    store = machines.folder / "first" / "store"
    driver = machines.drive(study, "/proc/self/cwd/store", cwd=machines.folder / "first")
    while len(hosts(store)) < 5:
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.05)
    second = machines.start("second")
    told = ended(driver, 4)
    assert "the worker on second does not see the sweep's folder" in told
    assert "continue with: destage resume" in told
    machines.kill(second)
    ended(machines.drive(study, str(store)))
    assert results(the_sweep(store)) == reference
    assert len(hosts(store)) == RUNS


OTHER_VERSION = """
import importlib.metadata as m
m.version = lambda name, old=m.version: "0.0.1" if name == "destage" else old(name)
"""
NONE_AT_ALL = "import sys; sys.modules['destage'] = None"


@pytest.mark.chaos
@pytest.mark.parametrize(
    ("patch", "sentence"),
    [
        (OTHER_VERSION, "the worker on second has Destage 0.0.1 (results"),
        (NONE_AT_ALL, "a worker has no Destage: install it for Python 3."),
    ],
)
def test_a_machine_with_another_destage_is_refused(
    machines: RayMachines, study: Path, tmp_path: Path, patch: str, sentence: str
) -> None:
    machines.start("first")
    machines.start("second", patch)
    assert sentence in ended(machines.drive(study, str(tmp_path)), 1)
    assert hosts(tmp_path) == []


@pytest.mark.chaos
def test_a_cluster_of_another_ray_and_one_without_our_token_are_refused_by_a_sentence(
    machines: RayMachines, study: Path, tmp_path: Path
) -> None:
    machines.start("first", "import ray\nray.__version__ = '2.50.0'\n")
    told = ended(machines.drive(study, str(tmp_path)), 1)
    assert "runs Ray 2.50.0 and Python 3." in told
    assert f", and this is Ray {ray.__version__} and Python 3." in told
    for env in ({**machines.env, "RAY_AUTH_TOKEN": "0" * 32}, without_token(machines.env, tmp_path)):
        told = ended(machines.drive(study, str(tmp_path), env=env), 1)
        assert "asks for a token: set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN" in told


def without_token(env: dict[str, str], home: Path) -> dict[str, str]:
    return {**{name: value for name, value in env.items() if "AUTH" not in name}, "HOME": str(home)}


def test_an_address_where_nobody_answers_is_told_at_once(
    study: Path, tmp_path: Path, machines: RayMachines
) -> None:
    began = time.monotonic()
    told = ended(machines.drive(study, str(tmp_path)), 1)
    assert "no Ray cluster answers at 127.0.0.1:" in told
    assert "Connection refused; give the head's HOST:6379" in told
    assert time.monotonic() - began < 30
