"""`destage run --ray-address`: a running Ray cluster of several machines."""

import signal
import subprocess  # noqa: TC003
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import ray
from small_studies import small_study
from system.ray_machines import RayMachines, ray_machines

from destage import sweeps
from destage.engine import results_schema
from destage.store import locate, open_sweep

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
    """Return the results of an uninterrupted run on this machine."""
    store = tmp_path_factory.mktemp("reference")
    return results(sweeps.run(sweeps.load_study(study), store, executor="inline", workers=2).path)


@pytest.fixture
def machines() -> Iterator[RayMachines]:
    with ray_machines() as started:
        yield started


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayMachines]:
    """Start a machine that no test takes away."""
    with ray_machines() as started:
        started.start("first")
        yield started


@pytest.fixture
def pair(cluster: RayMachines) -> RayMachines:
    """Start a second machine, unless an earlier test has left it."""
    if not cluster.is_running("second"):
        cluster.start("second")
    return cluster


def results(sweep: Path) -> list[object]:
    rows = open_sweep(sweep).rows().select(["run_id", *results_schema().names])
    return [repr(row) for row in rows.to_pylist()]


def find_only_sweep(store: Path) -> Path:
    (sweep,) = (store / "sweeps").iterdir()
    return sweep


def read_hosts(store: Path) -> list[tuple[str, str]]:
    """Return the run and the host of each row in the store."""
    fragments = store.glob("sweeps/*/fragments/[!.]*.parquet")
    columns = ["run_id", "prov_host"]
    return [
        tuple(row.values()) for path in fragments for row in pq.read_table(path, columns=columns).to_pylist()
    ]


def hosts(store: Path) -> list[str]:
    """Return the host that wrote each row in the store."""
    return [host for _, host in read_hosts(store)]


def wait_for_exit(driver: "subprocess.Popen[str]", code: int = 0, *, timeout_s: float = 300) -> str:
    """Wait for a driver to exit with a code; return its stderr."""
    _, errors = driver.communicate(timeout=timeout_s)
    assert driver.returncode == code, errors
    return errors


def test_two_machines_share_a_sweep(
    pair: RayMachines, study: Path, reference: list[object], tmp_path: Path
) -> None:
    assert "80 executed (ray" in wait_for_exit(pair.drive(study, str(tmp_path)))
    assert set(hosts(tmp_path)) == {"first", "second"}
    assert len(hosts(tmp_path)) == RUNS
    assert results(find_only_sweep(tmp_path)) == reference
    assert not list(find_only_sweep(tmp_path).glob(".*"))


def test_a_drained_machine_commits_its_rows_and_none_is_repeated(
    pair: RayMachines, study: Path, reference: list[object], tmp_path: Path
) -> None:
    driver = pair.drive(study, str(tmp_path))
    while "second" not in hosts(tmp_path):
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.05)
    pair.drain("second", deadline_s=60)
    # A node that is drained and idle ends by itself: its worker has left.
    pair.wait_for(lambda status: pair.nodes["second"] not in status["nodes"])
    assert len(hosts(tmp_path)) < RUNS
    wait_for_exit(driver)
    found = read_hosts(tmp_path)
    assert len(found) == len({run for run, _ in found}) == RUNS
    assert results(find_only_sweep(tmp_path)) == reference


@pytest.mark.chaos
def test_a_cluster_has_several_addresses_and_a_wrong_port(
    machines: RayMachines, study: Path, tmp_path: Path
) -> None:
    machines.start("first")
    for address in ("auto", f"ray://127.0.0.1:{machines.client}"):
        short = tmp_path / "short.yaml"
        short.write_text(spread(address[:3], 300))
        # In one store, the second sweep would take over the runs of the first one.
        store = tmp_path / address[:3]
        assert "80 executed (ray" in wait_for_exit(machines.drive(short, str(store), address)), address
    errors = wait_for_exit(machines.drive(study, str(tmp_path), f"127.0.0.1:{machines.client}"), 1)
    assert f"sweep.wrong-ray-port at 127.0.0.1:{machines.client}" in errors


@pytest.mark.chaos
def test_a_machine_lost_during_a_sweep_costs_no_row(
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
    wait_for_exit(driver)
    found = read_hosts(tmp_path)
    assert len({run for run, _ in found}) == RUNS
    # What the lost machine had committed without an answer was executed again, on the other one.
    repeated = [run for run, count in Counter(run for run, _ in found).items() if count > 1]
    assert all({host for run, host in found if run == one} == {"first", "second"} for one in repeated)
    sweep = find_only_sweep(tmp_path)
    assert sweeps.verify(locate(str(sweep))).repeated == len(found) - RUNS == len(repeated)
    assert results(sweep) == reference


@pytest.mark.chaos
def test_the_workers_of_a_stopped_driver_leave_their_processors(
    machines: RayMachines, reference: list[object], study: Path, tmp_path: Path
) -> None:
    """Ray leaves them to it, as its connection lasts; it goes on with others when it is continued."""
    machines.start("only")
    stopped = machines.drive(study, str(tmp_path / "stopped"))
    while not hosts(tmp_path / "stopped"):
        assert stopped.poll() is None, stopped.communicate()
        time.sleep(0.05)
    stopped.send_signal(signal.SIGSTOP)
    try:
        wait_for_exit(machines.drive(study, str(tmp_path / "other")))
    finally:
        stopped.send_signal(signal.SIGCONT)
    wait_for_exit(stopped)
    for store in ("stopped", "other"):
        assert results(find_only_sweep(tmp_path / store)) == reference


@pytest.mark.chaos
@pytest.mark.parametrize("exists", [False, True])
def test_a_machine_with_another_store_folder_is_rejected(
    machines: RayMachines, study: Path, tmp_path: Path, exists: bool
) -> None:
    machines.start("first")
    machines.start("second")
    # This path is another folder on each machine, since their processes run in different folders.
    driver = machines.drive(study, "/proc/self/cwd/store", cwd=machines.folder / "first")
    if exists:
        sweep = sweeps.sweep_path(sweeps.load_study(study), machines.folder / "second" / "store")
        (sweep / "fragments").mkdir(parents=True)
    errors = wait_for_exit(driver, 1)
    assert "sweep.worker-store-mismatch at second" in errors
    assert hosts(machines.folder / "second" / "store") == []
    assert tmp_path.exists()


@pytest.mark.chaos
def test_a_machine_joining_with_another_folder_is_an_error(machines: RayMachines, tmp_path: Path) -> None:
    """The sweep takes longer than a machine needs to join."""
    study = tmp_path / "long.yaml"
    study.write_text(spread("long", requests=500_000))
    machines.start("first")
    store = machines.folder / "first" / "store"
    driver = machines.drive(study, "/proc/self/cwd/store", cwd=machines.folder / "first")
    while len(hosts(store)) < 5:
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.05)
    second = machines.start("second")
    errors = wait_for_exit(driver, 4)
    assert "sweep.worker-store-mismatch at second" in errors
    machines.kill(second)
    wait_for_exit(machines.drive(study, str(store)))
    alone = sweeps.run(sweeps.load_study(study), tmp_path / "reference", executor="inline", workers=2)
    assert results(find_only_sweep(store)) == results(alone.path)
    assert len(hosts(store)) == RUNS


OTHER_VERSION = """
import importlib.metadata as m
m.version = lambda name, old=m.version: "0.0.1" if name == "destage" else old(name)
"""
NONE_AT_ALL = "import sys; sys.modules['destage'] = None"


@pytest.mark.chaos
@pytest.mark.parametrize(
    ("patch", "code"),
    [
        (OTHER_VERSION, "sweep.worker-version-mismatch at second"),
        (NONE_AT_ALL, "sweep.worker-without-destage"),
    ],
)
def test_a_machine_with_another_destage_is_rejected(
    machines: RayMachines, study: Path, tmp_path: Path, patch: str, code: str
) -> None:
    machines.start("first")
    machines.start("second", patch)
    assert code in wait_for_exit(machines.drive(study, str(tmp_path)), 1)
    assert hosts(tmp_path) == []


@pytest.mark.chaos
def test_another_ray_version_or_token_is_an_error(machines: RayMachines, study: Path, tmp_path: Path) -> None:
    machines.start("first", "import ray\nray.__version__ = '2.50.0'\n")
    errors = wait_for_exit(machines.drive(study, str(tmp_path)), 1)
    assert "sweep.ray-version-mismatch at 127.0.0.1:" in errors
    assert "Ray 2.50.0 and Python 3." in errors
    assert f"Ray {ray.__version__} and Python 3." in errors
    for env in ({**machines.env, "RAY_AUTH_TOKEN": "0" * 32}, without_token(machines.env, tmp_path)):
        errors = wait_for_exit(machines.drive(study, str(tmp_path), env=env), 1)
        assert "sweep.ray-token-required at 127.0.0.1:" in errors


def without_token(env: dict[str, str], home: Path) -> dict[str, str]:
    return {**{name: value for name, value in env.items() if "AUTH" not in name}, "HOME": str(home)}


def test_an_address_without_a_server_fails_at_once(
    study: Path, tmp_path: Path, machines: RayMachines
) -> None:
    began = time.monotonic()
    errors = wait_for_exit(machines.drive(study, str(tmp_path)), 4)
    assert f"sweep.no-ray-cluster at 127.0.0.1:{machines.gcs}" in errors
    assert time.monotonic() - began < 30


@pytest.mark.chaos
def test_a_lost_head_ends_the_session_and_its_rows_are_kept(
    machines: RayMachines, study: Path, reference: list[object], tmp_path: Path
) -> None:
    head = machines.start("first")
    driver = machines.drive(study, str(tmp_path))
    while not list(tmp_path.glob("sweeps/*/fragments/*.parquet")):
        assert driver.poll() is None
        time.sleep(0.1)
    machines.kill(head)
    errors = wait_for_exit(driver, code=4)
    assert errors.count("sweep.ray-lost") == 1
    assert errors.count("\nwarning:") + errors.startswith("warning:") == 2
    sweep = find_only_sweep(tmp_path)
    assert 0 < sweeps.resume(sweep, executor="inline").executed < RUNS
    assert results(sweep) == reference
