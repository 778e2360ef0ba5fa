"""A workload as a fio job file."""

from collections.abc import Iterator, Mapping

from destage.tools.export_report import (
    SECOND_NS,
    Part,
    Report,
    Sizes,
    Target,
    is_open,
    list_zones,
    render_size,
)
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
_DEFAULT_OPEN_DEPTH = 256
_ROUNDING = 1e-6


def write(workload: Part, target: Target, source: str) -> tuple[str, list[str]]:
    """Return the job file of a canonical workload, and what it does differently.

    Raises:
        ConfigError: With every part that fio cannot express.
    """
    report = Report("fio", target, int(workload.get("users", 1)))
    common = {"ioengine": "libaio", "direct": "1", "time_based": "1", "group_reporting": "1"}
    lines = ["[global]", *_list_lines(common)]
    writer = _Jobs(report, workload)
    jobs = [
        (f"{stream['name']}{suffix}", options)
        for index, stream in enumerate(workload["streams"])
        for suffix, options in writer.write(f"workload.streams.{index}", stream)
    ]
    for index, (name, options) in enumerate(jobs):
        # Clones of a job are one line of the results, different jobs are not.
        separate = {"new_group": "1"} if index else {}
        lines += ["", f"[{name}]".replace("]]", "]"), *_list_lines({**separate, **options})]
    report.finish(source)
    head = [f"; {line}" for line in (f"Exported from {source}.", *report.notes)]
    return "\n".join([*head, *lines]) + "\n", report.notes


def _list_lines(options: Options) -> list[str]:
    return [f"{name}={value}" for name, value in options.items()]


class _Jobs:
    def __init__(self, report: Report, workload: Part) -> None:
        self.report, self.workload, self.target = report, workload, report.target

    def write(self, place: str, stream: Part) -> Iterator[tuple[str, Options]]:
        """Yield suffix of the name and options of the jobs of a stream."""
        keys = {"name", "array", "arrival", "operations", "address", "mix", "steps", "start", "lasts"}
        self.report.check_keys(place, stream, keys | {"active"})
        times = self._times(place, stream)
        parts = self._parts(place, stream)
        for number, (part_place, share, operations, address) in enumerate(parts, 1):
            suffix = f".{number}" if len(parts) > 1 else ""
            load = self._load(place, stream, operations, share, address)
            requests = self._requests(part_place, operations, address, stream)
            yield suffix, {**requests, **load, **times}

    def _parts(self, place: str, stream: Part) -> list[tuple[str, float, Part, Part]]:
        """Return place, share of the rate, operations and addresses of each job of a stream."""
        mix, step = stream.get("mix"), _find_chain(stream)
        if stream["arrival"]["kind"] == "trace":
            self.report.reject(f"{place}.arrival.kind", "convert the trace and use read_iolog", "trace")
            return []
        if step is not None:
            flushed = {**step["operations"], "flush_every": step["ios"]}
            return [(f"{place}.steps.0", 1.0, flushed, step["address"])]
        if stream.get("steps"):
            self.report.reject(f"{place}.steps", "requests that wait for different requests")
            return []
        if not mix:
            return [(place, 1.0, stream["operations"], stream["address"])]
        return self._mix(place, stream, mix)

    def _mix(self, place: str, stream: Part, mix: list[Part]) -> list[tuple[str, float, Part, Part]]:
        merged = _merge_directions(mix)
        if merged is not None:
            return [(f"{place}.mix.0", 1.0, *merged)]
        if not is_open(stream):
            self.report.reject(f"{place}.mix", "jobs do not share a queue by weight")
            return []
        total = sum(part["weight"] for part in mix)
        if stream["arrival"]["kind"] == "constant":
            self.report.note(
                f"{place}.mix", "a job of its own for each kind of request, at its share of the rate"
            )
        return [
            (f"{place}.mix.{index}", part["weight"] / total, part["operations"], part["address"])
            for index, part in enumerate(mix)
        ]

    def _load(self, place: str, stream: Part, operations: Part, share: float, address: Part) -> Options:
        arrival, users = stream["arrival"], self.report.count_users(stream)
        place = f"{place}.arrival"
        match arrival["kind"]:
            case "fixed_outstanding":
                clones = {"numjobs": str(users)} if users > 1 else {}
                return {"iodepth": str(arrival["depth"]), **clones}
            case "poisson" | "constant":
                is_own = bool(address.get("per_user"))
                rate = arrival["rate"] * share * (1 if is_own else users)
                clones = {"numjobs": str(users)} if is_own and users > 1 else {}
                return {**self._rate(place, arrival["kind"], rate, operations), **clones}
            case "closed":
                return self._thinking(place, stream, users)
        self.report.reject(f"{place}.kind", "its rates are constant or Poisson", arrival["kind"])
        return {}

    def _rate(self, place: str, kind: str, rate: float, operations: Part) -> Options:
        reads = rate * operations["read_fraction"]
        whole = round(reads), round(rate - reads)
        # A rate without a second one is that of each direction.
        exact = reads, rate - reads
        is_missing = any(
            not rounded and share > _ROUNDING for rounded, share in zip(whole, exact, strict=True)
        )
        if sum(whole) == 0 or is_missing or abs(sum(whole) - rate) > 0.5 * rate:
            self.report.reject(
                f"{place}.rate", "its rates are whole requests per second, of reads and of writes", rate
            )
        elif abs(whole[0] - reads) > _ROUNDING or abs(sum(whole) - rate) > _ROUNDING:
            written = f"{reads:g} reads and {rate - reads:g} writes per second"
            self.report.note(f"{place}.rate", f"{written} are rounded to {whole[0]} and {whole[1]}")
        text = str(sum(whole)) if not all(whole) else f"{whole[0]},{whole[1]}"
        poisson = {"rate_process": "poisson"} if kind == "poisson" else {}
        return {"iodepth": str(_DEFAULT_OPEN_DEPTH), "rate_iops": text, **poisson}

    def _thinking(self, place: str, stream: Part, users: int) -> Options:
        arrival = {**stream["arrival"], **(_find_chain(stream) or {})}
        ios = arrival.get("ios") or 1
        options = {"iodepth": str(self.report.find_depth(arrival, ios))}
        if users > 1:
            options["numjobs"] = str(users)
        think = self.report.find_think_time(place, arrival)
        if think:
            if think % 1000:
                self.report.note(f"{place}.think_time", "is rounded to microseconds")
            options |= {"thinktime": f"{max(1, round(think / 1000))}us", "thinktime_blocks": str(ios)}
        if arrival.get("times"):
            options["number_ios"] = str(arrival["times"] * ios)
        return options

    def _requests(self, place: str, operations: Part, address: Part, stream: Part) -> Options:
        path = f"{place}.operations"
        reads, both, used = self.report.find_sizes(path, operations, "fua_fraction flush_every alignment")
        if {operations[key]["kind"] for key in ("size", "write_size") if operations.get(key)} == {"uniform"}:
            sizes, smallest, largest = self._range(path, operations, reads)
        else:
            sizes, smallest, largest = self._sizes(path, operations, reads, both), min(used), max(used)
        words = {ALL: ("read", "randread"), 0: ("write", "randwrite")}.get(reads, ("rw", "randrw"))
        span = smallest, largest
        pattern = _write_address(self.report, f"{place}.address", address, words, span, reads)
        options = {**pattern, **({"rwmixread": str(reads)} if 0 < reads < ALL else {}), **sizes}
        if self.report.is_forced(path, operations, reads):
            options["sync"] = "dsync"
        if operations.get("flush_every") and reads < ALL:
            options["fsync"] = str(operations["flush_every"])
        return {**options, **self._file(f"{place}.address", address, stream)}

    def _sizes(self, place: str, operations: Part, reads: int, both: tuple[Sizes, Sizes]) -> Options:
        read, write = both
        name, texts = "bssplit", []
        for key, sizes in (("size", read), ("write_size", write)):
            shares = zip(sizes, self.report.round_shares(f"{place}.{key}", list(sizes.values())), strict=True)
            texts.append(":".join(f"{render_size(size)}/{share}" for size, share in shares if share))
        if len(read) == len(write) == 1:
            name, texts = "bs", [render_size(next(iter(sizes))) for sizes in (read, write)]
        options = {name: _join_directions(texts, reads)}
        if operations.get("alignment") is not None:
            options["blockalign"] = render_size(operations["alignment"])
        elif len({*(read if reads else ()), *(write if reads < ALL else ())}) > 1:
            self.report.note(f"{place}.alignment", "the size of each request; fio aligns all to the smallest")
        return options

    def _range(self, place: str, operations: Part, reads: int) -> tuple[Options, int, int]:
        """Return the options of sizes that are equally likely between two."""
        read, write = operations["size"], operations.get("write_size") or operations["size"]
        for size in (read, write):
            if size.get("step") not in {None, size["min"]}:
                self.report.reject(f"{place}.size.step", "sizes are multiples of the smallest", size["step"])
        texts = [f"{render_size(size['min'])}-{render_size(size['max'])}" for size in (read, write)]
        options = {"bsrange": _join_directions(texts, reads)}
        if operations.get("alignment") is not None:
            options["blockalign"] = render_size(operations["alignment"])
        used = [write] if reads == 0 else [read] if reads == ALL else [read, write]
        return options, min(size["min"] for size in used), max(size["max"] for size in used)

    def _file(self, place: str, address: Part, stream: Part) -> Options:
        offset, size = self.report.find_footprint(place, address)
        users = self.report.count_users(stream)
        extent = {"size": str(size)}
        start = {"offset": str(offset)} if offset else {}
        if address.get("per_user") and users > 1:
            if self.target.is_device:
                return {"filename": self.target.path, **start, **extent, "offset_increment": str(size)}
            return {**start, **extent}
        if users > 1 and address["kind"] in {"sequential", "strided"} and not address.get("common"):
            self.report.note(place, "each user starts at a random address; fio's clones start together")
        if users > 1 and address.get("common") and not is_open(stream):
            self.report.reject(f"{place}.common", "clones do not share a position")
        return {"filename": self.target.path.replace(":", "\\:"), **start, **extent}

    def _times(self, place: str, stream: Part) -> Options:
        start = stream.get("start") or {}
        begin, spread = start.get("after") or 0, start.get("spread") or 0
        lasts = stream.get("lasts") or self.target.seconds * SECOND_NS
        active = stream.get("active")
        if active is not None:
            period = self._period(active)
            if period is None or start or stream.get("lasts"):
                self.report.reject(f"{place}.active", "a job has one period at one intensity")
                return {}
            begin, lasts = period
        times = {"runtime": f"{max(1, round(lasts / SECOND_NS))}s"}
        if begin or spread:
            first, last = (round(time / 1000) for time in (begin, begin + spread))
            times["startdelay"] = f"{first}us-{last}us" if spread else f"{first}us"
        return times

    def _period(self, active: list[Part]) -> tuple[int, int] | None:
        """Return start and length of the phases of a stream [ns]; None if they are not one period."""
        phases = self.workload.get("phases") or []
        names = [activity["phase"] for activity in active]
        if any(
            activity.get("intensity", 1) != 1 or activity.get("ramp_to") not in {None, 1}
            for activity in active
        ):
            return None
        positions = [index for index, phase in enumerate(phases) if phase["name"] in names]
        if positions != list(range(positions[0], positions[0] + len(positions))):
            return None
        lengths = [phase.get("lasts") or self.target.seconds * SECOND_NS for phase in phases]
        return sum(lengths[: positions[0]]), sum(lengths[index] for index in positions)


def _join_directions(texts: list[str], reads: int) -> str:
    """Return what is used of the texts of reads and of writes, once if both are the same."""
    is_same = texts[0] == texts[1] or reads in {0, ALL}
    return texts[1 if reads == 0 else 0] if is_same else ",".join(texts)


def _find_chain(stream: Part) -> Part | None:
    """Return the writes of a stream that waits for them and their flush, which fio expresses by fsync."""
    steps = stream.get("steps") or []
    is_chain = [step["kind"] for step in steps] == ["io", "flush"]
    return steps[0] if is_chain and steps[0]["operations"]["read_fraction"] == 0 else None


def _merge_directions(mix: list[Part]) -> tuple[Part, Part] | None:
    """Return operations and addresses of sequential reads and sequential writes, which fio's rw is."""
    if len(mix) != 2 or mix[0]["address"] != mix[1]["address"]:  # noqa: PLR2004 - reads, writes
        return None
    read, write = mix if mix[0]["operations"]["read_fraction"] else (mix[1], mix[0])
    if (read["operations"]["read_fraction"], write["operations"]["read_fraction"]) != (1, 0):
        return None
    if read["address"]["kind"] != "sequential" or read["address"].get("run"):
        return None
    share = read["weight"] / (read["weight"] + write["weight"])
    merged = {**write["operations"], "read_fraction": share, "size": read["operations"]["size"]}
    return {**merged, "write_size": write["operations"]["size"]}, read["address"]


def _write_address(
    report: Report, place: str, address: Part, words: tuple[str, str], span: tuple[int, int], reads: int
) -> Options:
    """Return the options of addresses; what fio cannot express is added to the report.

    Args:
        words: fio's words for the direction of the requests, in sequence and at random.
        span: Their smallest and their largest size [bytes].
        reads: Share of reads [%].
    """
    kind, (sequential, random) = address["kind"], words
    if not report.has_address(place, address, _READ):
        return {}
    if kind == "sequential":
        if 0 < reads < ALL:
            report.note(place, "reads and writes share a position; fio keeps one for each")
        return _write_sequence(report, place, address, words, span)
    if kind == "strided":
        if span[0] != span[1]:
            report.reject(f"{place}.stride", "the gap follows requests of one size")
        report.note(place, "a pass starts one request further; fio's starts where the last one did")
        return {"rw": f"{sequential}:{render_size(max(0, address['stride'] - span[0]))}"}
    if kind == "strided_zones":
        zones = {
            "zonemode": "strided",
            "zonerange": render_size(address["zone"]),
            "zonesize": render_size(address.get("accessed") or address["zone"]),
        }
        if address.get("skip"):
            zones["zoneskip"] = render_size(address["skip"])
        sampling = address.get("sampling")
        return {"rw": sequential if sampling is None else random, **zones, **_MAPS.get(sampling, {})}
    distribution = _write_distribution(report, place, address, span[1])
    if distribution is None:
        return {"rw": random, **_MAPS[address.get("sampling", "independent")]}
    return {"rw": random, "norandommap": "1", "random_distribution": distribution}


def _write_sequence(
    report: Report, place: str, address: Part, words: tuple[str, str], span: tuple[int, int]
) -> Options:
    sequential, random = words
    if address.get("jump_fraction"):
        jumps = report.round_share(f"{place}.jump_fraction", address["jump_fraction"])
        return {"rw": random, "norandommap": "1", "percentage_random": str(jumps)}
    run = address.get("run")
    if run is None:
        return {"rw": sequential}
    if span[0] != span[1]:
        report.reject(f"{place}.run", "a run is a number of requests of one size", run)
    requests = max(1, round(run / span[0]))
    if requests * span[0] != run:
        report.note(f"{place}.run", f"{run} bytes are rounded to {requests} requests")
    return {"rw": f"{random}:{requests}" if requests > 1 else random, "norandommap": "1"}


def _write_distribution(report: Report, place: str, address: Part, largest: int) -> str | None:
    block = address.get("block")
    if block is not None and block != largest:
        report.note(f"{place}.block", f"{block} bytes; fio's unit of popularity is its block size")
    match address["kind"]:
        case "zipf":
            exponent = address["exponent"]
            if exponent == 1:
                report.note(f"{place}.exponent", "1 is written as 1.0001, as fio rejects 1")
                exponent = 1.0001
            return f"zipf:{exponent:g}" if exponent else None
        case "normal":
            if abs(address.get("deviation", _DEVIATION) - _DEVIATION) > 1e-6:  # noqa: PLR2004 - rounding
                report.reject(f"{place}.deviation", "it is 1/12 of the file", address["deviation"])
            return f"normal:{ALL * (address.get('width') or 0.0):g}"
        case "pareto":
            return f"pareto:{address['hot_fraction']:g}"
        case "hot_cold" | "zoned":
            return _write_zones(report, place, address)
    return None


def _write_zones(report: Report, place: str, address: Part) -> str:
    zones = list_zones(address)
    accesses = report.round_shares(f"{place}.zones", [share for share, _ in zones])
    total = sum(size for _, size in zones)
    exact = [ALL * size / total for _, size in zones]
    name, sizes = "zoned", [round(size) for size in exact]
    if any(abs(size - whole) >= 1e-6 for size, whole in zip(exact, sizes, strict=True)):  # noqa: PLR2004
        _, footprint = report.find_footprint(place, address)
        name, sizes = "zoned_abs", [int(footprint * size / ALL) for size in exact]
    return ":".join([name, *(f"{share}/{size}" for share, size in zip(accesses, sizes, strict=True))])
