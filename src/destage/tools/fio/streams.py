"""The streams of one job, with a note on how each option was translated."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from destage.tools.fio.addresses import Address, describe_address, has_own_positions
from destage.tools.fio.layout import Region
from destage.tools.fio.quantities import describe_sizes
from destage.tools.fio.settings import Settings
from destage.tools.values import ALL
from destage.tools.workload_parts import Part, bursts_of, contiguous, operations_of, render_bytes, render_ns


@dataclass
class JobStreams:
    """The streams of one job.

    Attributes:
        is_per_user: Whether its clones are users of one stream instead of separate streams.
        name: The name of the streams; a number is appended for each clone.
        notes: How its options were translated, one line each.
    """

    settings: Settings
    region: Region
    is_per_user: bool
    name: str
    notes: list[str] = field(default_factory=list)

    def build(self, times: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the job's streams."""
        own = "each with its own file" if self.settings.filename is None else "all on the same file"
        streams = "one stream" if self.settings.clones == 1 else f"one stream per job, {own}"
        self.note("numjobs", f"{self.settings.clones} users, {own}" if self.is_per_user else streams)
        self._explain_operations()
        self._explain_place()
        arrivals = list(self._arrivals())
        count = 1 if self.is_per_user else self.settings.clones
        for clone in range(count):
            for suffix, arrival, reads in arrivals:
                name = f"{self.name}{suffix}" if count == 1 else f"{self.name}.{clone}{suffix}"
                requests = {} if arrival["kind"] == "trace" else self._requests(clone, reads)
                yield {"name": name, **times, "arrival": arrival, **requests}
        self._explain_times()

    def note(self, names: str, meaning: str) -> None:
        """Add a note on the translation of those of some options (separated by blanks) that the job has."""
        wanted = names.split()
        written = [str(option) for name, option in self.settings.options.items() if name in wanted]
        line = f"{', '.join(written)}: {meaning}"
        # The streams of a job have the same options; note each once.
        if written and line not in self.notes:
            self.notes.append(line)

    def _arrivals(self) -> Iterator[tuple[str, Part, float]]:
        """Yield suffix of the stream's name, arrival and percentage of reads of each stream."""
        settings = self.settings
        depth = f"{settings.depth} outstanding" + (" per job" if settings.clones > 1 else "")
        asked = settings.options.get("iodepth")
        is_capped = settings.depth == 1 and asked is not None and asked.value != "1"
        engine = settings.engine if settings.has("ioengine") else "psync, the default,"
        meaning = f"{depth}; {engine} waits for each I/O" if is_capped else depth
        if settings.rates is not None or settings.iolog is not None:
            meaning = "approximated: arrivals do not wait for completions at any depth"
        self.note("ioengine iodepth", meaning)
        per_user = {"per_user": True} if self.is_per_user else {}
        if settings.iolog is not None:
            yield "", self._replay(settings.iolog), settings.read_percentage
        elif settings.rates is not None:
            yield from self._rated(*settings.rates, per_user)
        elif settings.think_time:
            yield "", self._thinking(), settings.read_percentage
        else:
            arrival: Part = {"kind": "fixed_outstanding", "depth": settings.depth, **per_user}
            yield "", arrival, settings.read_percentage

    def _rated(self, read: float, write: float, per_user: Part) -> Iterator[tuple[str, Part, float]]:
        settings = self.settings
        total = f"{read + write:.10g}/s"
        names = "rate rate_iops rate_process"
        if settings.is_poisson or not (read and write):
            kind, gaps = ("poisson", "exponential") if settings.is_poisson else ("constant", "equal")
            self.note(names, f"open arrivals, {total}, {gaps} gaps")
            yield "", {"kind": kind, "rate": total, **per_user}, round(ALL * read / (read + write), 9)
            return
        streams = f"one stream of {read:.10g} reads/s, one of {write:.10g} writes/s"
        self.note(names, f"open arrivals at equal gaps: {streams}")
        yield ".read", {"kind": "constant", "rate": f"{read:.10g}/s", **per_user}, ALL
        yield ".write", {"kind": "constant", "rate": f"{write:.10g}/s", **per_user}, 0

    def _thinking(self) -> Part:
        settings = self.settings
        pause = render_ns(settings.think_time)
        blocks, depth = settings.think_blocks, settings.depth
        meaning = f"think time of {pause} after every {'I/O' if blocks == 1 else f'{blocks} I/Os'}"
        arrival = bursts_of(blocks, settings.think_time / 10**9, depth)
        if self._is_chain():
            meaning += " and their flush"
            arrival = {key: arrival[key] for key in ("kind", "think_time")}
        elif settings.flush_every:
            meaning = f"approximated: {meaning}, counting a flush as one"
        self.note("thinktime thinktime_blocks", meaning)
        return arrival

    def _is_chain(self) -> bool:
        """Return whether every think time follows writes and their flush, which steps can express."""
        settings = self.settings
        blocks = settings.think_blocks
        is_flushed = settings.read_percentage == 0 and settings.flush_every == blocks
        is_serial_or_parallel = settings.depth == 1 or settings.depth >= blocks
        return bool(settings.think_time) and is_flushed and is_serial_or_parallel

    def _replay(self, log: str) -> Part:
        settings = self.settings
        self.note("read_iolog", "the log is replayed with its own addresses and sizes")
        if not settings.has_no_stall:
            self.note("replay_no_stall replay_time_scale", "at the recorded times")
            return {"kind": "trace", "file": log, "mode": "open", "speed": settings.replay_scale / ALL}
        self.note("replay_no_stall replay_time_scale", f"in order, {settings.depth} outstanding")
        return {"kind": "trace", "file": log, "mode": "asap", "depth": settings.depth}

    def _requests(self, clone: int, reads: float) -> Part:
        """Return operations and addresses; reads and writes with positions of their own are a mixture."""
        mixed = (
            "rw rw_sequencer rwmixread rwmixwrite percentage_random random_distribution random_generator "
            "norandommap zonemode zonesize zonerange zoneskip"
        )
        is_mixed = 0 < reads < ALL
        if is_mixed and has_own_positions(self.settings):
            kinds = [(share, of, self._address(clone, of)) for share, of in ((reads, ALL), (ALL - reads, 0))]
            what = "addresses" if self.settings.pattern.is_random else "sequences"
            words = f"{kinds[0][2].words}; reads and writes are two separate {what}"
            self.note(mixed, f"{reads:g} % reads, {words}")
            mix = [
                {"weight": share, "operations": self._operations(of), "address": address.part}
                for share, of, address in kinds
            ]
            return {"mix": mix}
        where, address, _ = self._address(clone, reads)
        self.note(mixed, f"{reads:g} % reads, {where}")
        if self._is_chain():
            blocks = self.settings.think_blocks
            order = {"order": "parallel"} if self.settings.depth > 1 and blocks > 1 else {}
            operations = {key: item for key, item in self._operations(reads).items() if key != "flush_every"}
            step = {"kind": "io", "ios": blocks, **order, "operations": operations, "address": address}
            return {"steps": [step, {"kind": "flush"}]}
        return {"operations": self._operations(reads), "address": address}

    def _explain_operations(self) -> None:
        settings = self.settings
        by_direction = ", by direction" if settings.sizes[0] != settings.sizes[1] else ""
        self.note("bs bssplit bsrange", f"request sizes{by_direction}")
        read, write = (render_bytes(alignment or 0) for alignment in settings.alignments)
        units = read if read == write else f"{read} for reads, {write} for writes"
        self.note("blockalign", f"random addresses are multiples of {units}")
        self.note("sync", "every write waits for stable storage (FUA)" if settings.is_forced else "no FUA")
        self.note("direct buffered", "all requests go to the array; the host has no cache")
        every = settings.flush_every
        writes = "write" if every == 1 else f"{every} writes"
        self.note("fsync fdatasync", f"a flush after every {writes}" if every else "no flushes")

    def _operations(self, reads: float) -> Part:
        settings = self.settings
        return operations_of(
            reads,
            *map(describe_sizes, settings.sizes),
            is_forced=settings.is_forced,
            flush_every=settings.flush_every,
            alignment=settings.alignments[1 if reads == 0 else 0],
        )

    def _explain_times(self) -> None:
        is_whole = self.settings.has("time_based")
        ending = "" if is_whole else "; without time_based, fio ends earlier once all I/O is done"
        self.note("runtime", f"duration of the load{ending}")
        self.note("time_based", "the load lasts for the whole runtime")
        self.note("ramp_time", "runs before the measurement")
        self.note("startdelay", "start of the stream")
        self.note("stonewall", "starts a new phase")

    def _explain_place(self) -> None:
        length = self.region.length
        extent = "the whole array" if length is None else render_bytes(length)
        self.note(
            "size filesize filename nrfiles offset offset_increment kb_base",
            f"contiguous; the load uses {extent}",
        )
        ending = "ends the job in fio; the simulated load lasts as long as the run"
        self.note("io_size number_ios loops", ending)

    def _address(self, clone: int, reads: float) -> Address:
        """Return the addresses of the requests of a clone."""
        begin = self.region.offset + (0 if self.is_per_user else clone * self.region.pitch)
        chosen = describe_address(self.settings, reads)
        length = self.region.length
        if length is not None:
            # A skewed job with blockalign uses the part of the file that its blocks reach.
            length = round(length * chosen.reach)
        lies = contiguous(begin, length)
        if self.is_per_user and self.region.pitch:
            lies["per_user"] = True
        return Address(chosen.words, {**chosen.part, **lies}, chosen.reach)
