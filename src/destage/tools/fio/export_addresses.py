"""Addresses of a stream as options of a fio job."""

from collections.abc import Mapping
from dataclasses import dataclass

from destage.tools.export_report import Part, Report, list_zones, render_size
from destage.tools.values import ALL

Options = dict[str, str]
_KINDS = {
    "uniform": "sampling",
    "zipf": "exponent block approximate",
    "pareto": "hot_fraction block",
    "normal": "deviation width block",
    "hot_cold": "hot_fraction access_fraction",
    "zoned": "zones",
    "sequential": "run jump_fraction common",
    "strided": "stride",
    "strided_zones": "zone skip accessed sampling",
}
_READ = {kind: f"per_user {keys}" for kind, keys in _KINDS.items()}
_DEVIATION = 1 / 12
"""The standard deviation of fio's `normal`, as a share of the file."""
_MAPS: Mapping[str | None, Options] = {
    "independent": {"norandommap": "1"},
    "without_replacement": {},
    "cyclic": {"random_generator": "lfsr"},
}
"""The options of each way to draw uniform addresses."""


@dataclass(frozen=True, slots=True)
class Issued:
    """The requests that addresses are of.

    Attributes:
        words: fio's words for their direction, in sequence and at random.
        smallest: The smallest size [bytes].
        reads: Share of reads [%].
    """

    words: tuple[str, str]
    smallest: int
    largest: int
    reads: int


@dataclass(frozen=True, slots=True)
class AddressWriter:
    """Writes the options of addresses; what fio cannot express is added to the report."""

    report: Report

    def write(self, place: str, address: Part, requests: Issued) -> Options:
        """Return the options of a pattern."""
        kind = address["kind"]
        if not self.report.has_address(place, address, _READ):
            return {}
        sequential, random = requests.words
        span = (requests.smallest, requests.largest)
        if kind == "sequential":
            return self._sequence(place, address, requests)
        if kind == "strided":
            if span[0] != span[1]:
                self.report.reject(f"{place}.stride", "the gap follows requests of one size")
            self.report.note(place, "a pass starts one request further; fio's starts where the last one did")
            return {"rw": f"{sequential}:{render_size(max(0, address['stride'] - span[0]))}"}
        if kind == "strided_zones":
            accessed = address.get("accessed") or address["zone"]
            zones = {
                "zonemode": "strided",
                "zonerange": render_size(address["zone"]),
                "zonesize": render_size(accessed),
            }
            if address.get("skip"):
                zones["zoneskip"] = render_size(address["skip"])
            sampling = address.get("sampling")
            return {"rw": sequential if sampling is None else random, **zones, **_MAPS.get(sampling, {})}
        distribution = self._distribution(place, address, span[1])
        if distribution is None:
            return {"rw": random, **_MAPS[address.get("sampling", "independent")]}
        return {"rw": random, "norandommap": "1", "random_distribution": distribution}

    def _sequence(self, place: str, address: Part, issued: Issued) -> Options:
        sequential, random = issued.words
        span = (issued.smallest, issued.largest)
        if 0 < issued.reads < ALL:
            self.report.note(place, "reads and writes share a position; fio keeps one for each")
        if address.get("jump_fraction"):
            jumps = self.report.round_share(f"{place}.jump_fraction", address["jump_fraction"])
            return {"rw": random, "norandommap": "1", "percentage_random": str(jumps)}
        run = address.get("run")
        if run is None:
            return {"rw": sequential}
        if span[0] != span[1]:
            self.report.reject(f"{place}.run", "a run is a number of requests of one size", run)
        requests = max(1, round(run / span[0]))
        if requests * span[0] != run:
            self.report.note(f"{place}.run", f"{run} bytes are rounded to {requests} requests")
        return {"rw": f"{random}:{requests}" if requests > 1 else random, "norandommap": "1"}

    def _distribution(self, place: str, address: Part, largest: int) -> str | None:
        block = address.get("block")
        if block is not None and block != largest:
            self.report.note(f"{place}.block", f"{block} bytes; fio's unit of popularity is its block size")
        match address["kind"]:
            case "zipf":
                exponent = address["exponent"]
                if exponent == 1:
                    self.report.note(f"{place}.exponent", "1 is written as 1.0001, as fio rejects 1")
                    exponent = 1.0001
                return f"zipf:{exponent:g}" if exponent else None
            case "normal":
                if abs(address.get("deviation", _DEVIATION) - _DEVIATION) > 1e-6:  # noqa: PLR2004 - rounding
                    self.report.reject(f"{place}.deviation", "it is 1/12 of the file", address["deviation"])
                return f"normal:{ALL * (address.get('width') or 0.0):g}"
            case "pareto":
                return f"pareto:{address['hot_fraction']:g}"
            case "hot_cold" | "zoned":
                return self._zones(place, address)
        return None

    def _zones(self, place: str, address: Part) -> str:
        zones = list_zones(address)
        accesses = self.report.round_shares(f"{place}.zones", [share for share, _ in zones])
        total = sum(size for _, size in zones)
        exact = [ALL * size / total for _, size in zones]
        name, sizes = "zoned", [round(size) for size in exact]
        if any(abs(size - whole) >= 1e-6 for size, whole in zip(exact, sizes, strict=True)):  # noqa: PLR2004
            _, footprint = self.report.find_footprint(place, address)
            name, sizes = "zoned_abs", [int(footprint * size / ALL) for size in exact]
        return ":".join([name, *(f"{share}/{size}" for share, size in zip(accesses, sizes, strict=True))])
