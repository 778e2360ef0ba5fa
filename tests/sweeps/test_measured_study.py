"""A calibration made of a measured set and an array: its loads, its figures and the usual unknowns."""

import copy
import statistics
from pathlib import Path
from typing import Any

import pytest
import yaml

import destage
from destage import engine, sweeps
from destage.errors import ConfigError
from destage.measured.line import MeasuredLine
from destage.measured.line_load import make_size
from destage.measured_systems.calibrated import find_discrepancy
from destage.store import open_sweep
from destage.sweeps.calibration.measured_study import make_measured_study, name_figures
from destage.sweeps.reading.expansion import expand
from destage.sweeps.space import parameters
from destage.tools.results import read_results

FIGURES = Path(__file__).parents[1] / "measured" / "data" / "figures.csv"
SSD: dict[str, Any] = {
    "controller": {"use": "ahci_sata_6gb"},
    "array": {"raid": "0", "disks": 1, "disk": {"use": "d3_s4610_480gb"}},
}
CACHED: dict[str, Any] = {
    "controller": {"use": "smart_array_p420_1gb"},
    "array": {"raid": "5", "disks": 4, "disk": {"use": "savvio_10k4"}},
}


def line(workload: str | None, **figures: Any) -> MeasuredLine:
    return MeasuredLine(tool="fio", source_file="r.json", workload=workload, **figures)


READ = line("read", outstanding=8.0, request_bytes=4096.0, read_fraction=1.0, response_mean_us=127.1)


def make(
    *lines: MeasuredLine,
    hardware: dict[str, Any] = SSD,
    held: tuple[MeasuredLine, ...] = (),
    **others: Any,
) -> dict[str, Any]:
    named = list(zip(name_figures((*lines, *held)), (*lines, *held), strict=True))
    fitted, predicted = dict(named[: len(lines)]), dict(named[len(lines) :])
    given = {"predicted": {}, "unknowns": {}, **others}
    return make_measured_study("ours", fitted, hardware, held=predicted, **given)


@pytest.mark.parametrize("mean", [300.0, 512.0, 4096.0, 8191.995, 8192.3, 8322.0, 8704.25, 700.0])
def test_requests_have_the_mean_size(mean: float) -> None:
    size = make_size(mean)
    options = size.get("options", [{"value": size.get("value"), "weight": 1.0}])
    sizes = [engine.quantities.parse(option["value"], "bytes") for option in options]
    weights = [option["weight"] for option in options]
    assert all(one % 512 == 0 for one in sizes)
    assert all(weights)
    assert sum(one * weight for one, weight in zip(sizes, weights, strict=True)) == pytest.approx(
        max(512, mean) * sum(weights), abs=1
    )


def test_each_line_is_a_figure_with_its_own_load() -> None:
    by_rate = line(
        "disk 0", request_bytes=8322.0, throughput_iops=150.0, read_fraction=0.7, response_mean_us=9e3
    )
    scan = line("scan", outstanding=1.0, request_bytes=131072.0, random_fraction=0.0, response_mean_us=400.0)
    figures = make(READ, by_rate, scan, READ, line("rate only", throughput_iops=5.0))["calibrate"]["figures"]
    assert list(figures) == ["read", "disk 0", "scan", "read #2"]
    streams = {name: figure["set"]["workload.streams.0"] for name, figure in figures.items()}
    assert streams["read"]["arrival"] == {"kind": "fixed_outstanding", "depth": 8}
    assert streams["disk 0"]["arrival"] == {"kind": "poisson", "rate": "150/s"}
    assert streams["disk 0"]["operations"]["read_fraction"] == 0.7
    assert streams["scan"]["address"] == {"kind": "sequential"}
    assert (figures["read"]["of"], figures["read"]["value"]) == ("response_mean", "0.1271ms")


@pytest.mark.parametrize(("reads", "kinds"), [(0.25, 2), (0.00003, 0), (0.99998, 0)])
def test_reads_and_writes_of_a_log_have_their_own_sizes(reads: float, kinds: int) -> None:
    """A kind of request must have a weight, which one that hardly occurs has not."""
    rate = 100.0
    read, written = rate * reads * 16384, rate * (1 - reads) * 4096
    log = line(
        "sda",
        throughput_iops=rate,
        read_fraction=reads,
        read_bytes_per_s=read,
        write_bytes_per_s=written,
        request_bytes=(read + written) / rate,
        response_mean_us=9e3,
    )
    document = make(log)
    assert len(document["calibrate"]["figures"]["sda"]["set"]["workload.streams.0"].get("mix", ())) == kinds
    assert expand(sweeps.parse_study(yaml.safe_dump(document), name="ours")).points


def test_no_two_figures_have_one_name() -> None:
    """A numbered name may be that of another line."""
    labels = ["read", "read #2", "read", "read", "write"]
    names = name_figures([line(label) for label in labels])
    assert names == ["read", "read #2", "read #3", "read #4", "write"]


def test_each_line_of_a_csv_is_a_figure() -> None:
    lines = read_results("figures.csv", FIGURES.read_bytes()).lines
    figures = make(*lines, hardware=CACHED)["calibrate"]["figures"]
    assert [(name, figure["value"]) for name, figure in figures.items()] == [
        ("read-d1", "5.81ms"),
        ("read-d16", "21.6ms"),
        ("mix-d16", "23.2ms"),
        ("scan", "0.7ms"),
    ]
    streams = [figure["set"]["workload.streams.0"] for figure in figures.values()]
    assert [stream["arrival"]["depth"] for stream in streams] == [1, 16, 16, 1]
    assert [stream["address"]["kind"] for stream in streams] == ["uniform"] * 3 + ["sequential"]


def test_held_lines_and_tests_are_predicted() -> None:
    held = line("write", outstanding=4.0, request_bytes=4096.0, read_fraction=0.0, response_mean_us=75.0)
    stream = make(READ)["calibrate"]["figures"]["read"]["set"]["workload.streams.0"]
    written = make(READ, held=(held,), predicted={"read": stream})["calibrate"]
    assert written["fits"] == {"given": ["read"]}
    assert list(written["figures"]) == ["read", "write", "read #2"]
    assert "value" in written["figures"]["write"]
    assert "value" not in written["figures"]["read #2"]


def test_what_is_predicted_has_the_discrepancy_of_measured_systems() -> None:
    held = line("write", outstanding=4.0, request_bytes=4096.0, read_fraction=0.0, response_mean_us=75.0)
    stream = make(READ)["calibrate"]["figures"]["read"]["set"]["workload.streams.0"]
    figures = make(READ, held=(held,), predicted={"next": stream})["calibrate"]["figures"]
    assert "discrepancy" not in figures["read"]
    classes = {name: figure["class"] for name, figure in figures.items()}
    assert classes == {"read": "reads", "write": "writes", "next": "reads"}
    mixed = line("mix", outstanding=4.0, request_bytes=4096.0, read_fraction=0.7, response_mean_us=75.0)
    written = make(READ, mixed)["calibrate"]
    assert written["figures"]["mix"]["class"] == "mixed loads"
    assert "mixed loads" in {candidate["class"] for candidate in written["candidates"].values()}
    assert figures["write"]["discrepancy"] == f"{find_discrepancy('flash', 0.0):.0%}"
    assert figures["next"]["discrepancy"] == f"{find_discrepancy('flash', 1.0):.0%}"
    spinning = make(READ, held=(held,), hardware=CACHED)["calibrate"]["figures"]
    assert spinning["write"]["discrepancy"] == f"{find_discrepancy('spinning', 0.0):.0%}"


def test_where_files_lie_on_disks_is_unknown() -> None:
    """Three of four disks of 600 GB hold data: a file of a tenth of it needs a tenth of the array."""
    usable = engine.usable_capacity(CACHED["array"])
    loads = {"outstanding": 8.0, "request_bytes": 4096.0, "response_mean_us": 9e3}
    file = line("file", footprint_bytes=usable // 10, **loads)
    document = make(READ, file, hardware=CACHED)
    assert document["calibrate"]["unknowns"]["share_in_use"] == {"uniform": [0.1, 1.0]}
    figures = document["calibrate"]["figures"]
    path = "workload.streams.0.address"
    assert figures["file"]["set"][f"{path}.placement.share"] == {"unknown": "share_in_use"}
    assert figures["file"]["set"][f"{path}.footprint"] == f"{usable // 10}B"
    assert set(figures["read"]["set"]) == {"workload.streams.0"}
    study = sweeps.parse_study(yaml.safe_dump(document), name="ours")
    assert expand(study).points
    for other in (
        make(READ, hardware=CACHED),
        make(file),
        make(line("all", footprint_bytes=usable, **loads), hardware=CACHED),
        make(file, hardware=CACHED, known=["share_in_use"]),
    ):
        assert "share_in_use" not in other["calibrate"]["unknowns"]
        assert all(
            set(figure["set"]) == {"workload.streams.0"} for figure in other["calibrate"]["figures"].values()
        )


def test_a_predicted_file_lies_where_measured_files_do() -> None:
    """A test of the same job as a line is the same configuration; one at a stated offset stays there."""
    usable = engine.usable_capacity(CACHED["array"])
    size = usable // 10
    loads = {"outstanding": 8.0, "request_bytes": 4096.0, "read_fraction": 1.0, "response_mean_us": 9e3}
    stream = {
        "name": "next",
        "arrival": {"kind": "fixed_outstanding", "depth": 8},
        "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": "4096B"}},
        "address": {"kind": "uniform", "footprint": f"{size}B"},
    }
    first = {"kind": "contiguous", "offset": "0B"}
    predicted = {
        "next": stream | {"address": stream["address"] | {"placement": first}},
        "behind": stream | {"address": stream["address"] | {"placement": first | {"offset": "1GiB"}}},
        "drawn": stream | {"address": stream["address"] | {"sampling": "without_replacement"}},
    }
    path = "workload.streams.0.address"
    for measured in (line("file", footprint_bytes=size, **loads), line("device", **loads)):
        document = make(measured, hardware=CACHED, predicted=predicted)["calibrate"]
        figures = document["figures"]
        assert document["unknowns"]["share_in_use"] == {"uniform": [0.1, 1.0]}
        assert figures["next"]["set"][f"{path}.placement.share"] == {"unknown": "share_in_use"}
        assert figures["behind"]["set"]["workload.streams.0"]["address"] == predicted["behind"]["address"]
        assert figures["drawn"]["set"][f"{path}.sampling"] == "without_replacement"
        if measured.workload == "file":
            assert figures["next"]["set"] == figures["file"]["set"]
        study = yaml.safe_dump(make(measured, hardware=CACHED, predicted=predicted))
        assert expand(sweeps.parse_study(study, name="ours")).points


def test_a_file_in_a_smaller_share_of_the_array_is_faster(tmp_path: Any) -> None:
    """Seeks are shorter: a file of a tenth of the data, in narrow and in wide shares."""
    usable = engine.usable_capacity(CACHED["array"])
    load = {"outstanding": 1.0, "request_bytes": 4096.0, "response_mean_us": 6000.0}
    # A cache that is soon full takes little processor time, and does not change random reads.
    controller = CACHED["controller"] | {"cache": {"capacity": "64MiB"}}
    hardware = CACHED | {"controller": controller}
    document = make(line("file", footprint_bytes=usable // 10, **load), hardware=hardware)
    shares, responses = [], []
    with destage.run(document, store=tmp_path, executor="inline") as sweep:
        for row in sweep.arrow("SELECT * FROM posterior").to_pylist():
            shares.append(row["share_in_use"])
            responses.append(row["file: response_mean"])
    assert len(shares) >= 64
    order = sorted(range(len(shares)), key=shares.__getitem__)
    third = len(order) // 3
    narrow, wide = ([responses[index] for index in part] for part in (order[:third], order[-third:]))
    assert statistics.fmean(narrow) < statistics.fmean(wide)


@pytest.mark.parametrize("footprint", [None, 100 << 30])
def test_random_writes_without_pauses_start_with_a_full_cache(footprint: int | None) -> None:
    """The only loads that certainly end up with one; on disks, pieces of a file stay scattered."""
    known = {"request_bytes": 8192.0, "response_mean_us": 4e3, "footprint_bytes": footprint}
    lines = [
        line("reads", outstanding=8.0, read_fraction=1.0, **known),
        line("mixed", outstanding=8.0, read_fraction=0.5, **known),
        line("writes", outstanding=8.0, read_fraction=0.0, **known),
        line("scan", outstanding=8.0, read_fraction=0.0, random_fraction=0.0, **known),
        line("rate", throughput_iops=150.0, read_fraction=0.0, **known),
    ]
    for hardware, full in ((CACHED, {"writes": 1.0}), (SSD, {})):
        study = make(*lines, hardware=hardware)
        figures = study["calibrate"]["figures"]
        starts = {name: figure["set"].get("run.initial_dirty") for name, figure in figures.items()}
        assert {name: start for name, start in starts.items() if start is not None} == full
        expand(sweeps.parse_study(yaml.safe_dump(study)))


def test_unknowns_are_those_of_the_parts() -> None:
    flash = make(READ)["calibrate"]["unknowns"]
    assert {"array.disk.precondition", "array.disk.write_cache", "array.disk.read_time"} < flash.keys()
    tunnelled = make(READ, hardware=SSD | {"controller": {"use": "serveraid_m1015"}})["calibrate"]["unknowns"]
    sata = {"controller.back_end.sata_overhead", "controller.back_end.sata_write_overhead"}
    assert sata <= tunnelled.keys()
    assert not sata & flash.keys()
    spinning = make(READ, hardware=CACHED)
    unknowns = spinning["calibrate"]["unknowns"]
    assert unknowns["controller.cache.write.destage_depth"] == {"integer": [1, 16]}
    assert "array.disk.queue.choice_fraction" in unknowns
    assert spinning["scenario"]["controller"]["cache"]["write"]["force_destages"] is False
    stated = {"array.disk.command_time": {"uniform": ["0.1ms", "0.2ms"]}, "array.disks": {"integer": [4, 8]}}
    known = ["controller.cache.write.destage_depth"]
    changed = make(READ, hardware=CACHED, unknowns=stated, known=known)["calibrate"]["unknowns"]
    assert changed == {path: prior for path, prior in (unknowns | stated).items() if path not in known}
    with pytest.raises(ConfigError) as raised:
        make(READ, known=["array.disks"])
    assert [(issue.code, issue.place) for issue in raised.value.issues] == [("study.unknown-name", "--known")]


def test_lines_without_a_load_are_no_calibration() -> None:
    with pytest.raises(ConfigError) as raised:
        make(line("device", throughput_iops=100.0, response_mean_us=9e3))
    assert raised.value.code == "study.no-measured-value"


def test_what_was_changed_in_an_array_is_found(tmp_path: Any) -> None:
    """Reads of a simulated drive whose interface takes 2.5 times the catalogue's time for a command.

    Firmware explains them as well as the interface does; the prediction is the same.
    """
    disk = {"use": "d3_s4610_480gb", "interface": {"command_overhead": "8us"}, "precondition": "empty"}
    lines = []
    for depth in (1, 8, 32):
        study = make(line("x", outstanding=float(depth), request_bytes=4096.0, response_mean_us=1.0))
        scenario = study["scenario"] | {"array": {"raid": "0", "disks": 1, "disk": disk}}
        row = engine.simulate(scenario)
        figures = {"response_mean_us": row["response_mean_us"], "read_fraction": 1.0}
        lines.append(line(f"d{depth}", outstanding=float(depth), request_bytes=4096.0, **figures))
    # An SSD filled at random takes ten times the processor time.
    filled = {"array.disk.precondition": {"choice": ["sequential", "empty"]}}
    document = make(lines[0], lines[2], held=(lines[1],), unknowns=filled)
    outcome = sweeps.run(sweeps.parse_study(yaml.safe_dump(document)), tmp_path, executor="inline", workers=2)
    tables = open_sweep(outcome.path).analyses()
    predicted = {row["figure"]: row for row in tables["predictive"].to_pylist()}
    assert predicted["d8"]["inside_90"]
    assert predicted["d8"]["median"] == pytest.approx(lines[1].response_mean_us, rel=0.15)


@pytest.mark.parametrize(
    ("changed", "unknown"),
    [
        (
            {"controller.use": "smart_array_p840"},
            ["controller.firmware.command_time", "controller.cache.write.destage_depth"],
        ),
        ({"array.disk.use": "exos_x18"}, ["array.disk.command_time", "array.disk.seek.average"]),
    ],
)
def test_another_part_has_its_own_figures(changed: dict[str, str], unknown: list[str]) -> None:
    """What was fitted to the old part says nothing of the new one; what both arrays share stays fitted."""
    document = make(READ, hardware=CACHED, changed=changed)
    figures, priors = document["calibrate"]["figures"], document["calibrate"]["unknowns"]
    (after,) = figures.keys() - {"read"}
    new = copy.deepcopy(CACHED | {"workload": {"streams": []}})
    new["controller"] |= {"use": changed.get("controller.use", CACHED["controller"]["use"])}
    new["array"]["disk"] |= {"use": changed.get("array.disk.use", CACHED["array"]["disk"]["use"])}
    expected = engine.normalise(
        document["scenario"] | {"controller": new["controller"], "array": new["array"]}
    )
    added = figures[after]["set"].keys() - figures["read"]["set"].keys() - changed.keys()
    prefix = next(iter(changed)).removesuffix("use")
    assert added == {path for path in priors if path.startswith(prefix)} >= {*unknown}
    for path in unknown:
        stated = figures[after]["set"][path]
        value = engine.quantities.parse(stated, "ns") if isinstance(stated, str) else stated
        assert value == parameters.read(expected, path)
    larger = make(READ, hardware=CACHED, changed={"controller.cache.capacity": "4GiB"})["calibrate"][
        "figures"
    ]
    assert larger["read with controller.cache.capacity=4GiB"]["set"].keys() & priors.keys() == set()


def test_a_change_is_predicted_for_the_loads_asked_for() -> None:
    size = {"controller.cache.capacity": "2GiB"}
    name = "read with controller.cache.capacity=2GiB"
    asked = make(READ, hardware=CACHED, changed=size, predicted={"next": {"operations": {}}})["calibrate"]
    assert list(asked["figures"]) == ["read", "next", name.replace("read", "next")]
    found = make(READ, hardware=CACHED, changed=size)["calibrate"]
    assert list(found["figures"]) == ["read", name]
    assert found["fits"] == {"all": ["read"]}
    fitted, changed = found["figures"]["read"], found["figures"][name]
    assert changed["set"] == {**fitted["set"], **size}
    assert "value" not in changed
    assert changed["discrepancy"] == f"{find_discrepancy('spinning', 1.0):.0%}"
