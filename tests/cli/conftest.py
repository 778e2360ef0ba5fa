"""Running the command line as a user does, in this process, with a store of its own."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from api_server import ApiServer, serve
from small_studies import RATE, small_calibration, small_study

from destage.cli import app

AXES = ("controller.battery.state: [present, absent]", "workload.users: [5, 10]")


NAMESPACES = "|".join(
    (
        *("bucket", "catalog", "cluster", "disk", "diskspd", "export", "fio", "import", "iometer"),
        *(
            "measured",
            "query",
            "run",
            "scenario",
            "settings",
            "store",
            "study",
            "sweep",
            "sysbench",
            "system",
            "trace",
            "usage",
        ),
        "vdbench",
    )
)
ISSUE = re.compile(
    rf"(?:error|warning): (?:.*?: )??((?:{NAMESPACES})\.(?!toml|yaml)[a-z0-9-]+)(?: at (.+?))?: .+"
)


@dataclass(frozen=True)
class Done:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def issues(self) -> list[tuple[str, str]]:
        """The code and the place of each error and warning."""
        found = [ISSUE.fullmatch(line) for line in self.err.splitlines()]
        return [(match[1], match[2] or "") for match in found if match]


Destage = Callable[..., Done]


@pytest.fixture
def destage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Return a function that runs `destage ARGS...` in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DESTAGE_STORE", str(tmp_path / "store"))
    # pytest-xdist sets it for its workers, and tables would have that width.
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(app, "is_debugging", False)

    def run(*args: str) -> Done:
        capfd.readouterr()
        with pytest.raises(SystemExit) as exit_:
            app([*args])
        out, err = capfd.readouterr()
        return Done(int(exit_.value.code or 0), out, err)

    return run


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Write a study of eight runs."""
    path = tmp_path / "small.yaml"
    path.write_text(small_study("small", *AXES))
    return path


def finish_sweep(folder: Path, text: str) -> Path:
    """Run a study in a store in `folder`, with report and export; return the store."""
    path = folder / "small.yaml"
    path.write_text(text)
    with pytest.raises(SystemExit, match="^0$"):
        app(["run", str(path), "--store", str(folder / "store"), "--executor", "inline", "--quiet"])
    return folder / "store"


@pytest.fixture(scope="session")
def finished_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with the finished sweep of `study`; tests copy it."""
    return finish_sweep(tmp_path_factory.mktemp("finished"), small_study("small", *AXES))


@pytest.fixture
def sweep(finished_store: Path, tmp_path: Path) -> str:
    """Copy the finished sweep of `study` into the test's store; return its name."""
    shutil.copytree(finished_store, tmp_path / "store")
    return "small"


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    """Write a calibration of one unknown on one figure, of 16 draws, with another figure to predict."""
    figures = {
        "busy": {"of": "response_mean", "set": {RATE: "100/s"}, "value": "8ms", "tolerance": "10%"},
        "idle": {"of": "response_mean", "set": {RATE: "20/s"}},
    }
    path = tmp_path / "queue.yaml"
    path.write_text(small_calibration("queue", {}, figures, {"points": 16, "most": 1}))
    return path


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """Serve an API to which the kubeconfig points."""
    with serve(tmp_path) as (api, config):
        monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(config))
        yield api
