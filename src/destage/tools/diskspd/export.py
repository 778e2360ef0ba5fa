"""A workload as a command line of DiskSpd, or as an XML profile if it has several streams."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from destage.tools.export_report import Part, Report, Target, is_open, list_zones, render_size
from destage.tools.values import ALL

_OPEN_DEPTH = 64
_WARM_UP_S = 5
_KINDS = {
    "uniform": "",
    "hot_cold": "hot_fraction access_fraction",
    "zoned": "zones",
    "sequential": "jump_fraction common",
    "strided": "stride",
}


@dataclass
class _Load:
    """The load of a target: its options with their elements of a profile.

    Attributes:
        options: Each option of the command line.
    """

    options: list[str]
    elements: list[tuple[str, object]]

    def add(self, option: str, tag: str, value: object) -> None:
        """Add an option and its element."""
        self.options.append(option)
        self.elements.append((tag, value))


def write(workload: Part, target: Target, source: str) -> tuple[str, list[str]]:
    """Return the command line or profile of a canonical workload, and what it does differently.

    Raises:
        ConfigError: With every part that DiskSpd cannot express.
    """
    report = Report("DiskSpd", target, int(workload.get("users", 1)))
    loads = [
        _write_load(report, f"workload.streams.{index}", stream)
        for index, stream in enumerate(workload["streams"])
    ]
    report.finish(source)
    if len(loads) == 1:
        options = [*loads[0].options, f"-W{_WARM_UP_S}", f"-d{target.seconds}", "-L"]
        path = f'"{target.path}"' if " " in target.path else target.path
        head = [f"rem {line}" for line in (f"Exported from {source}.", *report.notes)]
        return "\n".join([*head, f"diskspd {' '.join(options)} {path}"]) + "\n", report.notes
    return _write_profile(loads, target, source, report.notes), report.notes


def _write_load(report: Report, place: str, stream: Part) -> _Load:
    load = _Load([], [])
    report.check_keys(place, stream, {"name", "array", "arrival", "operations", "address", "mix", "steps"})
    for key in ("mix", "steps"):
        if stream.get(key):
            report.reject(f"{place}.{key}", "all requests of a target are of one kind")
            return load
    if stream["arrival"]["kind"] == "trace":
        report.reject(f"{place}.arrival.kind", "it does not replay traces", "trace")
        return load
    block = _write_operations(report, f"{place}.operations", stream["operations"], load)
    _write_arrival(report, f"{place}.arrival", stream, load)
    _write_address(report, f"{place}.address", stream, block, load)
    return load


def _write_operations(report: Report, place: str, operations: Part, load: _Load) -> int:
    reads, _, used = report.find_sizes(place, operations, "fua_fraction alignment")
    if len(used) > 1:
        listed = ", ".join(map(str, sorted(used)))
        report.reject(f"{place}.size", "all requests of a target have one size", listed)
    block, writes = max(used), ALL - reads
    load.add(f"-b{_size(block)}", "BlockSize", block)
    load.add(f"-w{writes}", "WriteRatio", writes)
    is_forced = report.is_forced(place, operations, reads)
    load.add("-Sh" if is_forced else "-Su", "DisableOSCache", "true")
    load.elements += [("WriteThrough", "true")] * is_forced
    return block


def _write_arrival(report: Report, place: str, stream: Part, load: _Load) -> None:
    arrival, count = stream["arrival"], report.count_users(stream)
    threads, depth = count, 1
    match arrival["kind"]:
        case "fixed_outstanding":
            depth = arrival["depth"]
        case "poisson" | "constant":
            rate = arrival["rate"] * count
            threads, depth = 1, _OPEN_DEPTH
            whole = round(rate)
            if arrival["kind"] == "poisson":
                report.note(f"{place}.kind", "poisson; the job sends at equal gaps")
            if not whole:
                report.reject(f"{place}.rate", "its rates are whole requests per second", rate)
            elif abs(whole - rate) > 1e-6:  # noqa: PLR2004 - rounding error
                report.note(f"{place}.rate", f"{rate:g} requests per second are rounded to {whole}")
            load.add(f"-g{whole}i", 'Throughput unit="IOPS"', whole)
        case "closed":
            depth = _write_pauses(report, place, arrival, load)
        case kind:
            report.reject(f"{place}.kind", "its rates are constant", kind)
    load.add(f"-t{threads}", "ThreadsPerFile", threads)
    load.add(f"-o{depth}", "RequestCount", depth)


def _write_pauses(report: Report, place: str, arrival: Part, load: _Load) -> int:
    """Write the bursts of closed users, and return the outstanding requests of each."""
    ios = arrival.get("ios") or 1
    if arrival.get("times"):
        report.reject(f"{place}.times", "a test has no number of requests", arrival["times"])
    pause = round(report.find_think_time(place, arrival) / 1e6)
    if pause:
        load.add(f"-i{ios}", "BurstSize", ios)
        load.add(f"-j{pause}", "ThinkTime", pause)
    elif report.find_think_time(place, arrival):
        report.note(f"{place}.think_time", "is less than a millisecond and left out")
    return report.find_depth(arrival, ios)


def _write_address(report: Report, place: str, stream: Part, block: int, load: _Load) -> None:
    address, count = stream["address"], report.count_users(stream)
    if not report.has_address(place, address, _KINDS):
        return
    kind, is_device = address["kind"], report.target.is_device
    offset, length = report.find_footprint(place, address)
    alignment = stream["operations"].get("alignment") or block
    load.options += [f"-B{_size(offset)}"] * bool(offset)
    load.elements += [("BaseFileOffset", offset)]
    load.add(f"{'-f' if is_device else '-c'}{_size(offset + length)}", "MaxFileSize", offset + length)
    load.elements += [] if is_device else [("FileSize", offset + length)]
    if kind == "sequential" and not address.get("jump_fraction"):
        if count > 1 and address.get("common") and not is_open(stream):
            load.options.append("-si")
            load.elements += [("StrideSize", block), ("InterlockedSequential", "true")]
            return
        if count > 1 and not is_open(stream):
            report.note(place, "each user starts at a random address; DiskSpd's threads start together")
        load.add("-s", "StrideSize", block)
    elif kind == "strided":
        report.note(place, "a pass starts one request further; DiskSpd's starts where the last one did")
        load.add(f"-s{_size(address['stride'])}", "StrideSize", address["stride"])
    else:
        load.add("-r" if alignment == block else f"-r{_size(alignment)}", "Random", alignment)
        _write_distribution(report, place, address, load)


def _write_distribution(report: Report, place: str, address: Part, load: _Load) -> None:
    if address.get("jump_fraction"):
        jumps = report.round_share(f"{place}.jump_fraction", address["jump_fraction"])
        if jumps < ALL:
            load.add(f"-rs{jumps}", "RandomRatio", jumps)
        report.note(place, "a sequence mixes reads and writes; DiskSpd's are of one kind each")
        return
    if address["kind"] not in {"hot_cold", "zoned"}:
        return
    zones = list_zones(address)
    accesses = report.round_shares(f"{place}.zones", [share for share, _ in zones])
    sizes = report.round_shares(f"{place}.zones", [size for _, size in zones])
    if not all(sizes):
        report.reject(f"{place}.zones", "a zone is less than 1 % of the target")
    rounded = list(zip(accesses, sizes, strict=True))
    text = ":".join(f"{share}/{size}" for share, size in rounded)
    ranges = "".join(f'<Range IO="{share}">{size}</Range>' for share, size in rounded)
    load.add(f"-rdpct{text}", "Distribution", _Markup(f"<Percent>{ranges}</Percent>"))


class _Markup(str):
    """Text that is XML already."""

    __slots__ = ()


def _write_profile(loads: Sequence[_Load], target: Target, source: str, notes: Sequence[str]) -> str:
    comment = "; ".join((f"Exported from {source}", *notes)).replace("--", "- -")
    lines = ["<Profile>", f"  <!-- {comment} -->", "  <TimeSpans>", "    <TimeSpan>"]
    lines += [f"      <Duration>{target.seconds}</Duration>", f"      <Warmup>{_WARM_UP_S}</Warmup>"]
    lines += ["      <MeasureLatency>true</MeasureLatency>", "      <Targets>"]
    for load in loads:
        lines += ["        <Target>", f"          <Path>{escape(target.path)}</Path>"]
        lines += [f"          {_element(tag, value)}" for tag, value in load.elements]
        lines += ["        </Target>"]
    lines += ["      </Targets>", "    </TimeSpan>", "  </TimeSpans>", "</Profile>"]
    return "\n".join(lines) + "\n"


def _element(tag: str, value: object) -> str:
    text = value if isinstance(value, _Markup) else escape(str(value))
    return f"<{tag}>{text}</{tag.split(maxsplit=1)[0]}>"


def _size(size: float) -> str:
    return render_size(size).upper()
