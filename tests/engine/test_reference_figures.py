"""The figures that sources state hold for the requests that the engine draws from each preset."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from destage.engine import catalog
from destage.engine.reference_figures import FIGURES, Compared, compare_figures

ENTRIES = catalog.entries("workloads")
UNPUBLISHED = {"call_center", "heavy_user", "heavy_user_logon"}
"""Presets of which no source states a figure of the load."""


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_each_preset_claims_something_and_states_figures(entry: catalog.Entry) -> None:
    assert entry.claim
    assert entry.claim.endswith(".")
    assert bool(entry.reference.figures) == (entry.name not in UNPUBLISHED)
    for figure in entry.reference.figures:
        assert figure["figure"] in FIGURES
        assert figure["source"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_drawn_figures_lie_in_the_stated_ranges(entry: catalog.Entry) -> None:
    missed = [(each.stated, each.size, each.drawn) for each in compare_figures(entry) if not each.agrees]
    assert not missed


def changed(name: str, path: str, value: Any) -> list[str]:
    """Return the names of the figures that a preset misses after a change."""
    entry = catalog.entry("workloads", name)
    config: Any = copy.deepcopy(dict(entry.config))
    *parents, last = path.split(".")
    here = config
    for key in parents:
        here = here[int(key)] if isinstance(here, list) else here[key]
    here[last] = value
    return [
        each.stated["figure"] for each in compare_figures(replace(entry, config=config)) if not each.agrees
    ]


@pytest.mark.parametrize(
    ("name", "path", "value", "missed"),
    [
        ("vdi", "streams.0.arrival.rate", "12/s", {"rate_per_user"}),
        ("vdi", "streams.0.operations.read_fraction", 0.3, {"read_share"}),
        ("vdi", "streams.0.operations.size.value", "8KiB", {"size_range"}),
        ("iometer_file_server", "streams.0.operations.size.options.0.weight", 15, {"size_shares"}),
        ("iometer_file_server", "streams.0.arrival.depth", 32, {"outstanding"}),
        ("jesd219", "streams.0.address.zones.0.accesses", 70, {"zone_share"}),
        ("exchange_2003", "streams.1.arrival.rate", "0.5/s", {"writes_for_each"}),
        ("jetstress", "streams.0.steps.0.ios", 8, {"forced_share"}),
        ("crystaldiskmark_random_4k_q1", "streams.0.address.footprint", "2GiB", {"span"}),
        ("loadsim_mmb3", "streams.0.address.footprint", "50MiB", {"span_per_user"}),
        ("tpch_scan", "streams.0.mix.0.address.run", "512KiB", {"sequential_share"}),
        ("spc1_like", "streams.1.address.write_spacing", 1, {"different_writes", "write_miss_ratio"}),
        (
            "spc1_like",
            "streams.1.address.levels",
            0,
            {"different_reads", "different_writes", "write_miss_ratio", "sequential_share"},
        ),
    ],
)
def test_a_changed_preset_misses_its_figures(name: str, path: str, value: Any, missed: set[str]) -> None:
    assert set(changed(name, path, value)) == missed


def test_a_figure_agrees_within_its_sampling_error() -> None:
    def compared(drawn: float, error: float) -> bool:
        return Compared({"figure": "read_share"}, 0.4, 0.5, (drawn, drawn), error).agrees

    assert compared(0.4, 0.0)
    assert compared(0.5, 0.0)
    assert not compared(0.51, 0.0)
    assert compared(0.51, 0.0021)
    assert not compared(0.39, 0.0019)
