"""`destage admin validate`."""

import gzip
import json
import sys
from pathlib import Path

import pytest
from cli.conftest import Destage
from validation.disksim_samples import SPECS, write_files

DISK = """\
rpm = "6000rpm"
head_switch = "1ms"
command_time = "0.1ms"
bus_rate = "20MB/s"

[buffer]
segments = 2
segment = "64KiB"
hit_time = "0.1ms"
write_cache = false

[geometry]
kind = "zones"
surfaces = 2
zones = [{ cylinders = 100, sectors_per_track = 100 }]

[seek]
kind = "figures"
track_to_track = "1ms"
average = "4ms"
full_stroke = "8ms"
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    trace, disk = tmp_path / "disk.trace.gz", tmp_path / "disk.toml"
    lines = [
        f"{'RW'[index % 5 == 0]} Hit {index * 7919 % 19_000} 8 {5000 + index % 977}.0 {20_000 + index}.0"
        for index in range(400)
    ]
    trace.write_bytes(gzip.compress("\n".join(lines).encode()))
    disk.write_text(DISK)
    return trace, disk


def test_fitting_without_scipy_names_the_extra(
    destage: Destage, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    trace, disk = files
    failed = destage("admin", "validate", "--trace", trace, "--disk", disk, "--json")
    assert failed.code != 0
    (error,) = json.loads(failed.out)["errors"]
    assert (error["code"], error["place"]) == ("usage.missing-extra", "")


def test_a_disk_is_scored_class_by_class(destage: Destage, files: tuple[Path, Path]) -> None:
    trace, disk = files
    done = destage("admin", "validate", "--trace", trace, "--disk", disk, "--no-fit", "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert found["fitted"] == {}
    # Without a write cache there is no write into the buffer whose time would have to be assumed.
    assert found["assumed"] == {"read_settle": "1ms"}
    names = [each["name"] for each in found["classes"]]
    assert names[:2] == ["all requests", "writes"]
    assert found["classes"][0]["requests"] == 200
    low, high = found["classes"][0]["interval_ms"]
    assert 0 < low < high


def test_limits_decide_the_exit_code_if_strict(destage: Destage, files: tuple[Path, Path]) -> None:
    trace, disk = files
    given = ["admin", "validate", "--trace", trace, "--disk", disk, "--fit", "command_time", "--phases", "1"]
    done = destage(*given)
    assert done.code == 0
    assert "fitted on the first half: command_time = " in done.out
    assert "NOT MET" in done.out
    assert destage(*given, "--strict").code == 1
    verdicts = [
        destage(*given, "--limit-ms", limit).out.count("NOT MET") for limit in ("0.000001", "1000000")
    ]
    assert verdicts[0] == verdicts[1] + 1


@pytest.mark.parametrize(
    ("line", "code", "place"),
    [
        ("X Hit 0 8 1.0 1.0", "trace.bad-record", "wrong.trace:2, column 1 (R or W)"),
        ("R Hit -1 8 1.0 1.0", "trace.bad-record", "wrong.trace:2, column 3 (first sector)"),
        ("R Hit 0 0 1.0 1.0", "trace.bad-record", "wrong.trace:2, column 4 (sectors)"),
        ("R Hit 0 8 nan 1.0", "trace.bad-record", "wrong.trace:2, column 5 (service time in us)"),
        ("R Hit 0 8 1.0", "trace.bad-record", "wrong.trace:2, column 6 (gap in us)"),
        ("R Hit 30000 8 1.0 1.0", "disk.bad-request", "request 1"),
    ],
)
def test_a_malformed_measurement_is_rejected(
    destage: Destage, files: tuple[Path, Path], tmp_path: Path, line: str, code: str, place: str
) -> None:
    trace = tmp_path / "wrong.trace"
    trace.write_text(f"R Hit 0 8 1.0 1.0\n{line}\n")
    done = destage("admin", "validate", "--trace", trace, "--disk", files[1], "--no-fit")
    assert (done.code, [(name, at.rpartition("/")[2]) for name, at in done.issues]) == (2, [(code, place)])


@pytest.mark.parametrize(
    ("disk", "options", "issue"),
    [
        ("wrong.toml", [], ("scenario.bad-quantity", "array.disk.rpm")),
        ("cheetah_9l", [], ("catalog.unknown-entry", "use")),
        ("disk.toml", ["--fit", "rpm"], ("disk.not-fittable", "--fit")),
        ("disk.toml", ["--fit", "rpm", "--no-fit"], ("usage.conflicting-options", "--no-fit")),
    ],
)
def test_an_unusable_description_is_rejected(
    destage: Destage, files: tuple[Path, Path], disk: str, options: list[str], issue: tuple[str, str]
) -> None:
    Path("wrong.toml").write_text(DISK.replace("6000rpm", "slow"))
    done = destage("admin", "validate", "--trace", files[0], "--disk", disk, *options)
    assert (done.code, done.issues) == (2, [issue])


def test_a_fitted_disk_is_saved(destage: Destage, files: tuple[Path, Path], tmp_path: Path) -> None:
    """The file validates like the fit that wrote it, with nothing left to assume."""
    trace, disk = files
    saved = tmp_path / "fitted.toml"
    given = ["admin", "validate", "--trace", trace, "--phases", "1", "--json"]
    fitted = destage(*given, "--disk", disk, "--fit", "command_time", "--save", saved)
    assert fitted.code == 0
    again = destage(*given, "--disk", saved, "--no-fit")
    assert json.loads(again.out)["assumed"] == {}
    assert json.loads(again.out)["classes"] == json.loads(fitted.out)["classes"]
    unwritable = destage(*given, "--disk", disk, "--no-fit", "--save", tmp_path / "none" / "fitted.toml")
    assert unwritable.issues == [("disk.unwritable", "--save")]


def test_what_the_model_leaves_out_is_a_warning(destage: Destage, tmp_path: Path) -> None:
    disk = write_files(
        tmp_path, specs=SPECS.replace("   Read hit", "   Minimum seek delay = 0.6,\n   Read hit", 1)
    )
    trace = tmp_path / "disk.trace"
    trace.write_text("".join(f"R Hit {index * 37 % 1700} 8 5000.0 20000.0\n" for index in range(40)))
    arguments = ["admin", "validate", "--trace", trace, "--disk", disk, "--no-fit"]
    done = destage(*arguments, "--json")
    assert done.code == 0
    (warning,) = json.loads(done.out)["warnings"]
    assert (warning["code"], warning["place"]) == ("disk.not-modelled", "Minimum seek delay")
    assert "disk.not-modelled at Minimum seek delay" in destage(*arguments).err
