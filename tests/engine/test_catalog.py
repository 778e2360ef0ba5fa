"""The catalogue: every entry has a source, is a valid configuration, and can be overridden."""

import tomllib
from importlib.resources import files
from typing import Any

import pytest

from destage.engine import catalog, normalise, simulate
from destage.errors import ConfigError
from destage.spec import quantities

ALL = [pytest.param(entry, id=entry.name) for kind in catalog.KINDS for entry in catalog.entries(kind)]
MIB = 2**20


def scenario(**parts: Any) -> dict[str, Any]:
    """Return a configuration of catalogue names, with some parts replaced."""
    return {
        "workload": {"use": "call_center"},
        "controller": {"use": "smart_array_5i_plus"},
        "array": {"raid": "5", "disks": 4, "disk": {"use": "u320_10k_36gb"}},
        **parts,
    }


def build_scenario(entry: catalog.Entry) -> dict[str, Any]:
    """Return a configuration that uses the entry."""
    if entry.kind == "disks":
        return scenario(
            workload={"use": "iometer_oltp"}, array={"raid": "5", "disks": 4, "disk": {"use": entry.name}}
        )
    # A load that changes over time needs a defined window.
    run = {"run": {"warm_up": "none", "window": {"requests": 1000}}} if "phases" in entry.config else {}
    return scenario(**{entry.kind.removesuffix("s"): {"use": entry.name}}, **run)


def test_entries_read_one_by_one_are_those_of_the_files() -> None:
    folder = files("destage.engine").joinpath("catalog_data")
    whole = {
        name: fields
        for file in ("controllers", "disks", "ssds", "workloads")
        for name, fields in tomllib.loads(folder.joinpath(f"{file}.toml").read_text("utf-8")).items()
    }
    found = [entry for kind in catalog.KINDS for entry in catalog.entries(kind)]
    assert [entry.name for entry in found] == list(whole)
    for entry in found:
        fields = whole[entry.name]
        assert entry.config == fields["config"]
        assert (entry.title, entry.source, entry.note) == (
            fields["title"],
            fields["source"],
            fields.get("note"),
        )
        assert (entry.claim, dict(entry.sheet)) == (fields.get("claim"), fields.get("sheet", {}))
        assert list(entry.reference.figures) == fields.get("reference", {}).get("figures", [])


@pytest.mark.parametrize("entry", ALL)
def test_every_entry_resolves_and_normalises(entry: catalog.Entry) -> None:
    canonical = normalise(build_scenario(entry))
    assert normalise(canonical) == canonical


@pytest.mark.parametrize("entry", ALL)
def test_every_entry_has_title_and_source(entry: catalog.Entry) -> None:
    assert len(entry.source) > 10
    assert entry.title


@pytest.mark.parametrize("entry", ALL)
def test_every_mark_refers_to_a_figure(entry: catalog.Entry) -> None:
    for path in (*entry.unverified, *entry.assumed):
        place: Any = entry.config
        for step in path.split("."):
            place = place[int(step)] if step.isdigit() else place[step]
        assert entry.mark(path) in {"typical", "assumed"}
    assert entry.mark("no.such.figure") is None


def test_nvme_drives_are_those_whose_titles_say_so() -> None:
    for entry in catalog.entries("disks"):
        assert bool(entry.nvme) == ("NVMe" in entry.title), entry.name


def test_a_controller_of_a_user_may_take_nvme_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_added", {})
    catalog.add({"controllers": {"ours": {"config": {}}, "old": {"config": {}, "nvme": False}}})
    taken = [
        name
        for name in ("ours", "old", "perc_h755", "perc_h965i")
        if catalog.may_connect(name, "pm963_960gb")
    ]
    assert taken == ["ours", "perc_h965i"]
    assert catalog.may_connect("old", "exos_x18")


def test_published_baseline_is_a_read_cache_of_32_mib() -> None:
    cache = normalise(scenario(controller={"use": "smart_array_5i"}))["controller"]["cache"]
    assert cache["capacity"] == 32 * MIB
    assert cache["write_fraction"] == 0
    assert cache["read"]["mode"] == "prefetch_only"
    assert cache["read"]["read_ahead"] is not None


@pytest.mark.parametrize(
    ("name", "usable"),
    [
        ("smart_array_5302", 96 * MIB),
        ("smart_array_5304", 224 * MIB),
        ("smart_array_p400i_256", 208 * MIB),
        ("smart_array_p400_512", 464 * MIB),
        ("smart_array_p410_1gb", 912 * MIB),
        ("smart_array_p420_1gb", 816 * MIB),
    ],
)
def test_usable_cache_equals_the_listed_size(name: str, usable: int) -> None:
    assert normalise(scenario(controller={"use": name}))["controller"]["cache"]["usable"] == usable


@pytest.mark.parametrize("mib", [16, 64, 256, 512, 4096])
def test_usable_cache_without_a_listed_size(mib: int) -> None:
    controller = {"use": "smart_array_5i_plus", "cache": {"capacity": f"{mib}MiB"}}
    usable = normalise(scenario(controller=controller))["controller"]["cache"]["usable"]
    nominal = mib * MIB
    assert usable == pytest.approx(max(nominal / 2, nominal - 32e6 - 0.06 * nominal), abs=1)


def test_another_capacity_resets_the_usable_size() -> None:
    controller = {"use": "smart_array_p400i_256", "cache": {"capacity": "64MiB"}}
    assert normalise(scenario(controller=controller))["controller"]["cache"]["usable"] == 32 * MIB


def test_listed_sizes_are_near_the_default_share() -> None:
    for name, low, high in (("smart_array_5302", 0.7, 0.8), ("smart_array_p420_2gb", 0.85, 0.95)):
        cache = normalise(scenario(controller={"use": name}))["controller"]["cache"]
        assert low <= cache["usable"] / cache["capacity"] <= high


def test_fields_override_and_another_kind_replaces_the_union() -> None:
    disk = {"use": "u320_10k_36gb", "rpm": "15000rpm", "seek": {"average": "3.8ms"}}
    resolved = catalog.resolve(scenario(array={"raid": "5", "disks": 4, "disk": disk}))
    assert resolved["array"]["disk"]["rpm"] == "15000rpm"
    assert resolved["array"]["disk"]["seek"] == {
        "kind": "figures",
        "track_to_track": "0.3ms",
        "average": "3.8ms",
        "full_stroke": "10ms",
    }
    table = {"kind": "table", "points": [{"distance": 1, "time": "1ms"}, {"distance": 100, "time": "2ms"}]}
    disk = {"use": "u320_10k_36gb", "seek": table}
    assert (
        catalog.resolve(scenario(array={"raid": "5", "disks": 4, "disk": disk}))["array"]["disk"]["seek"]
        == table
    )


def test_a_named_stream_starts_from_the_catalogues_stream() -> None:
    streams = [{"name": "call_center", "operations": {"read_fraction": 0.25}}]
    resolved = catalog.resolve(scenario(workload={"use": "call_center", "streams": streams}))
    assert resolved["workload"]["streams"][0]["operations"]["read_fraction"] == 0.25
    (theirs,) = catalog.entry("workloads", "call_center").config["streams"]
    assert resolved["workload"]["streams"][0]["arrival"] == theirs["arrival"]


def test_resolving_does_not_modify_its_inputs() -> None:
    given = scenario()
    resolved = catalog.resolve(given)
    resolved["controller"]["cache"]["capacity"] = "1GiB"
    assert given == scenario()
    assert catalog.resolve(scenario())["controller"]["cache"]["capacity"] == "64MiB"


def test_an_unknown_name_has_a_suggestion_and_the_list() -> None:
    with pytest.raises(ConfigError) as caught:
        catalog.resolve(scenario(workload={"use": "call_centre"}, controller={"use": "smart_array_5ii"}))
    workload, controller = caught.value.issues
    assert (workload.code, workload.place, workload.value) == (
        "catalog.unknown-entry",
        "workload.use",
        "call_centre",
    )
    assert "iometer_oltp" in workload.data["known"]
    assert "'call_center'" in workload.message
    assert "'smart_array_5i'" in controller.message
    with pytest.raises(ConfigError) as caught:
        catalog.entry("disks", "no_such_disk")
    assert caught.value.data["kind"] == "disks"


@pytest.mark.parametrize(
    "entry",
    [
        entry
        for entry in catalog.entries("disks")
        if entry.config["kind"] == "disk" and entry.config["seek"]["kind"] == "figures"
    ],
    ids=lambda entry: entry.name,
)
def test_a_random_read_is_a_seek_and_half_a_revolution(entry: catalog.Entry) -> None:
    """The mechanics reproduce the data sheet: average seek, half a revolution, and about 0.3 ms."""
    stream = {
        "name": "random",
        "arrival": {"kind": "fixed_outstanding", "depth": 1},
        "operations": {"read_fraction": 1, "size": {"kind": "constant", "value": "4KiB"}},
        "address": {"kind": "uniform"},
    }
    row = simulate(
        {
            "workload": {"streams": [stream]},
            "array": {"raid": "0", "disks": 1, "disk": {"use": entry.name}},
            "run": {"warm_up": {"requests": 100}, "window": {"requests": 20_000}},
        }
    )
    average_ms = quantities.parse(entry.config["seek"]["average"], "ns") / 1e6
    half_turn_ms = 30_000 / quantities.parse(entry.config["rpm"], "rpm")
    assert row["response_mean_us"] / 1e3 == pytest.approx(average_ms + half_turn_ms + 0.3, rel=0.02)
