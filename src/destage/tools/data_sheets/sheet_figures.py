"""The figures of data sheets that a part is made from; 0 stands for one that a sheet does not state."""

from typing import Annotated

from destage.spec.typed_tables import key, table

Size = Annotated[float, {"x-unit": "bytes", "exclusiveMinimum": 0}]
Memory = Annotated[float, {"x-unit": "bytes", "minimum": 0}]
# Bounds that no disk has been beyond: a figure beyond them has a wrong unit.
Capacity = Annotated[float, {"x-unit": "bytes", "minimum": 10**8, "maximum": 10**15}]
Speed = Annotated[float, {"x-unit": "rpm", "minimum": 2_000, "maximum": 20_000}]
Seek = Annotated[float, {"x-unit": "ns", "minimum": 50_000, "maximum": 60_000_000}]
DiskRate = Annotated[float, {"x-unit": "bytes_per_s", "minimum": 10**6, "maximum": 10**9}]
SsdRate = Annotated[float, {"x-unit": "bytes_per_s", "minimum": 10**7, "maximum": 10**11}]
Latency = Annotated[float, {"x-unit": "ns", "minimum": 1_000, "maximum": 20_000_000}]
Bandwidth = Annotated[float, {"x-unit": "bytes_per_s", "exclusiveMinimum": 0}]
Rate = Annotated[float, {"x-unit": "per_s", "exclusiveMinimum": 0}]
Count = Annotated[int, {"minimum": 1}]
Interface = Annotated[str, {"enum": ["sas", "sata", "nvme", "scsi"]}]


@table
class DiskFigures:
    """Figures of a hard disk."""

    capacity: Capacity = key("formatted capacity, as in 1.2TB")
    rpm: Speed = key("rotation speed, as in 10500rpm")
    average_seek: Seek = key("average seek of reads, as in 3.7ms")
    outer_rate: DiskRate = key("highest sustained transfer rate, as in 215MB/s")
    inner_rate: DiskRate = key("sustained rate at the inner edge", default=0.0)
    write_seek: Seek = key("average seek of writes", default=0.0)
    track_to_track: Seek = key("seek to the next track", default=0.0)
    full_stroke: Seek = key("seek over all tracks", default=0.0)
    surfaces: Count = key("number of heads", default=0)
    cache: Size = key("size of the buffer", default=64 << 20)
    interface: Interface = key("sas, sata, nvme or scsi.", default="sas")
    interface_rate: Bandwidth = key("rate of the interface, as in 1200MB/s", default=0.0)


@table
class SsdFigures:
    """Figures of a solid-state disk; rates and latencies are those of 4 KiB and 128 KiB."""

    capacity: Capacity = key("capacity, as in 1.92TB")
    random_reads: Rate = key("random reads of 4 KiB a second, as in 97000/s")
    random_writes: Rate = key("random writes of 4 KiB a second, as in 30000/s")
    read_rate: SsdRate = key("sequential reads, as in 560MB/s")
    write_rate: SsdRate = key("sequential writes, as in 530MB/s")
    read_latency: Latency = key("random read of 4 KiB, one at a time, as in 100us", default=0.0)
    write_latency: Latency = key("random write of 4 KiB, one at a time", default=0.0)
    writes_are: str = key(
        "sustained (random writes in the steady state) or fresh (those of a new drive).",
        default="sustained",
        enum=["sustained", "fresh"],
    )
    depth: Count = key("commands outstanding at the random rates", default=0)
    flash: Size = key("raw flash; more than the capacity", default=0.0)
    interface: Interface = key("sas, sata, nvme or scsi.", default="sata")
    power_loss_protection: bool | None = key(
        "Whether capacitors protect its cache (assumed: true).", default=None
    )


@table
class ControllerFigures:
    """Figures of a RAID controller."""

    cache: Memory = key("memory, as in 8GiB; 0B for none")
    protected: bool = key("Whether a battery or flash protects the cache.", default=True)
    write_share: float = key("Share of the cache for writes.", default=0.5, minimum=0, maximum=1)
    lanes: Count = key("links to disks", default=8)
    lane_rate: Bandwidth = key("rate of a link, as in 1200MB/s", default=1_200_000_000)
    pcie_generation: int = key("Generation of PCI Express.", default=4, minimum=1, maximum=5)
    pcie_lanes: Count = key("lanes of PCI Express", default=8)
    operations: Rate = key("most random reads a second, as in 200000/s", default=200_000)
    outstanding: Count = key("most commands outstanding", default=1_020)


MEDIUM_RATES = frozenset({"outer_rate", "inner_rate", "read_rate", "write_rate"})
"""Rates of the medium, which sheets give in bytes; those of links are specified in bits, too."""

FIGURES: dict[str, type] = {"disk": DiskFigures, "ssd": SsdFigures, "controller": ControllerFigures}
"""The tables of figures by the kind of part."""
