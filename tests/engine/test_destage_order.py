"""How destages share the disks with reads."""

from small_scenarios import DISK, Scenario, constant_server, stream

from destage.engine import simulate


def _read_beside_destages(
    disk: Scenario, *, yields: bool, arrival: Scenario | None = None, depth: int = 2
) -> dict[str, float]:
    """Return a scenario of reads, by default one at a time, with `depth` concurrent destages."""
    reads = stream("reads", arrival or {"kind": "fixed_outstanding", "depth": 1}, read_fraction=1.0)
    writes = stream("writes", {"kind": "poisson", "rate": 20.0}, read_fraction=0.0)
    everywhere = {"kind": "uniform"}
    return simulate(
        {
            "workload": {"streams": [reads | {"address": everywhere}, writes | {"address": everywhere}]},
            "controller": {
                "cache": {
                    "capacity": "16MiB",
                    "usable": "16MiB",
                    "write_fraction": 1.0,
                    "write": {"destage_depth": depth, "yield_to_reads": yields},
                },
                "battery": {"state": "present"},
                "firmware": {"command_time": "1us"},
            },
            # A stripe of one line, so that a destage is one I/O.
            "array": {"raid": "0", "disks": 1, "disk": disk, "stripe_unit": "8KiB"},
            "run": {"warm_up": {"requests": 2_000}, "window": {"requests": 20_000}},
        }
    )


def test_a_read_waits_only_for_earlier_destages() -> None:
    """The rest of one destage, the next destage, its own service: at most three services of 5 ms."""
    row = _read_beside_destages(constant_server("5ms", capacity="100GB"), yields=False)
    assert row["destages"] > 100
    assert row["write_stalls"] == 0
    assert row["read_response_max_us"] <= 15_001


def test_a_read_with_precedence_waits_for_one_destage() -> None:
    row = _read_beside_destages(constant_server("5ms", capacity="100GB"), yields=True)
    assert row["destages"] > 100
    assert row["read_response_max_us"] <= 10_001


def test_precedence_shortens_reads_on_a_disk() -> None:
    arrival = {"kind": "poisson", "rate": 60.0}
    fair, first = (
        _read_beside_destages(DISK, yields=yields, arrival=arrival, depth=16) for yields in (False, True)
    )
    assert first["destages"] > 100 < fair["destages"]
    assert first["read_response_p95_us"] < 0.9 * fair["read_response_p95_us"]
