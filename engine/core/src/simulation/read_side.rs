//! The read side of the controller: the read cache, and the fetches into it.

use super::array_set::{ArraySet, Parent};
use super::cache_lines::CacheLines;
use super::context::Context;
use super::request::{Request, Service};
use super::write_back::WriteBack;
use crate::config::{self, ReadMode};
use crate::mutation::Mutation;
use crate::read_ahead::{Noticed, Stretch};
use crate::read_cache::{Line, ReadCache};
use crate::slab::{Link, Slab};
use crate::units::{Lba, Sectors};
use crate::write_cache::{Extent, Held, mask};

/// The read cache and the fetches into it.
#[derive(Debug)]
pub struct ReadSide {
    /// The read cache, if there is one.
    pub cache: Option<ReadCache>,
    /// The lines of the caches.
    pub lines: CacheLines,
    fetches: Slab<Fetch>,
    waiters: Slab<Waiter>,
    /// Extents that the read being looked up needs from the disks.
    missing: Vec<Extent>,
}

/// A run of lines that is being read into the read cache.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    array: u16,
    /// First line.
    first: u64,
    /// Last line.
    last: u64,
    /// Requests that wait for it.
    waiters: Link,
    /// The sequence that it is prefetched for.
    sequence: Option<u8>,
}

/// A request that waits for a fetch.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    request: u32,
    /// Next request that waits for the same fetch.
    next: Link,
}

/// Where a read's data comes from.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    has_miss: bool,
    has_late: bool,
    has_prefetched: bool,
    /// What the write cache has: dirty if any of it is.
    held: Option<Held>,
}

impl Found {
    const fn service(self, is_sequential: bool) -> Service {
        match self {
            Self { has_miss: true, .. } if is_sequential => Service::MissSequential,
            Self { has_miss: true, .. } => Service::MissRandom,
            Self { has_late: true, .. } => Service::HitLate,
            Self { has_prefetched: true, .. } => Service::HitAhead,
            Self { held: Some(Held::Dirty), .. } => Service::HitDirty,
            Self { held: Some(Held::Clean), .. } => Service::HitClean,
            Self { .. } => Service::Hit,
        }
    }
}

impl ReadSide {
    /// The read side of a controller with this cache, empty.
    pub fn new(cache: &config::Cache) -> Self {
        let is_used = cache.read_bytes() >= cache.line
            && (cache.read.mode == ReadMode::Cached || cache.read.read_ahead.is_some());
        Self {
            cache: is_used.then(|| ReadCache::new(cache.read_bytes(), cache.line, &cache.read)),
            lines: CacheLines::new(cache.line),
            fetches: Slab::default(),
            waiters: Slab::default(),
            missing: Vec::new(),
        }
    }

    /// Serves a read from the caches, and starts what has to be read from the disks. The request is left with one part
    /// pending more than it waits for.
    pub fn read(
        &mut self,
        context: &mut Context,
        arrays: &mut ArraySet,
        back: Option<&WriteBack>,
        requests: &mut Slab<Request>,
        request: u32,
    ) {
        let Request { array, command, .. } = requests[request];
        let Noticed { is_sequential, ahead, sequence } = self
            .cache
            .as_mut()
            .map_or_else(Noticed::default, |cache| cache.notice(array, command.lba.0, command.sectors.0));
        requests[request].pending = 1;
        requests[request].sequence = sequence;
        let found = self.look_up(context, back, requests, request);
        self.read_missing(context, arrays, requests, request);
        requests[request].service = found.service(is_sequential);
        if let Some(sequence) = sequence {
            if let Some(stretch) = ahead {
                self.read_ahead(context, arrays, back, (array, sequence), stretch);
            }
            self.top_up(context, arrays, back, sequence);
        }
    }

    /// A request is complete: a read leaves its sequence.
    #[inline]
    pub fn complete(&mut self, done: &Request) {
        if let Some(sequence) = done.sequence
            && let Some(cache) = &mut self.cache
        {
            cache.complete(sequence, done.command.sectors.0);
        }
    }

    /// Looks up every line of a read; leaves in `self.missing` what the disks have to provide.
    fn look_up(
        &mut self,
        context: &mut Context,
        back: Option<&WriteBack>,
        requests: &mut Slab<Request>,
        request: u32,
    ) -> Found {
        let Request { array, command, .. } = requests[request];
        let (lba, end) = (command.lba.0, command.lba.0 + command.sectors.0);
        let lines = self.lines;
        let mut found = Found::default();
        self.missing.clear();
        let whole_lines = self.reads_whole_lines();
        for line in lines.touched(lba, command.sectors.0) {
            let (line_start, line_end) = (lines.start(line), lines.start(line + 1));
            let (start, stop) = (lba.max(line_start), end.min(line_end));
            if let Some(back) = back {
                let mask = mask(start - line_start, stop - start);
                if let Some(held) = back.cache.holds(array, line, mask) {
                    found.held = found.held.filter(|&held| held == Held::Dirty).or(Some(held));
                    context.probe.watch(|oracle| oracle.read_held(array, start, stop, held));
                    continue;
                }
            }
            context.probe.mutate_read_cache(self.cache.as_mut(), array, line);
            match self.cache.as_mut().and_then(|cache| cache.touch(array, line)) {
                Some(Line::Valid { is_prefetched }) => {
                    found.has_prefetched |= is_prefetched;
                    context.probe.watch(|oracle| oracle.read_line(array, line, line_start, start, stop));
                }
                Some(Line::Pending { fetch }) => {
                    found.has_late = true;
                    context.probe.watch(|oracle| oracle.read_fetch(fetch, array, start, stop));
                    self.wait_for(fetch, requests, request);
                }
                None => {
                    found.has_miss = true;
                    context.probe.watch(|oracle| oracle.read_media(array, start, stop));
                    let (start, stop) = if whole_lines { (line_start, line_end) } else { (start, stop) };
                    match self.missing.last_mut() {
                        Some(last) if last.lba.0 + last.sectors.0 == start => {
                            last.sectors.0 += stop - start;
                        }
                        _ => self.missing.push(Extent { lba: Lba(start), sectors: Sectors(stop - start) }),
                    }
                }
            }
        }
        found
    }

    /// Whether reads from the disks are of whole lines, which the read cache keeps.
    fn reads_whole_lines(&self) -> bool {
        self.cache.as_ref().is_some_and(ReadCache::keeps_all)
    }

    fn wait_for(&mut self, fetch: u32, requests: &mut Slab<Request>, request: u32) {
        let entry = &mut self.fetches[fetch];
        entry.waiters = Link::to(self.waiters.insert(Waiter { request, next: entry.waiters }));
        requests[request].pending += 1;
    }

    /// Reads `self.missing`.
    fn read_missing(
        &mut self,
        context: &mut Context,
        arrays: &mut ArraySet,
        requests: &mut Slab<Request>,
        request: u32,
    ) {
        let array = requests[request].array;
        let whole_lines = self.reads_whole_lines();
        for index in 0..self.missing.len() {
            let extent = self.missing[index];
            if whole_lines {
                let fetch = self.fetch(context, arrays, array, extent, None);
                self.wait_for(fetch, requests, request);
            } else {
                requests[request].pending += 1;
                arrays.read(context, array, extent, Parent::Read { request });
            }
        }
    }

    /// Prefetches what a sequence needs in flight.
    pub fn top_up(
        &mut self,
        context: &mut Context,
        arrays: &mut ArraySet,
        back: Option<&WriteBack>,
        sequence: u8,
    ) {
        while let Some((array, stretch)) = self.cache.as_mut().and_then(|cache| cache.top_up(sequence)) {
            self.read_ahead(context, arrays, back, (array, sequence), stretch);
        }
    }

    /// Reads a stretch ahead, up to the end of the array, as far as it is neither here nor on its way.
    fn read_ahead(
        &mut self,
        context: &mut Context,
        arrays: &mut ArraySet,
        back: Option<&WriteBack>,
        (array, sequence): (u16, u8),
        Stretch { first, sectors }: Stretch,
    ) {
        let lines = self.lines;
        let end = (first + sectors).min(arrays[array].layout.capacity().0);
        let (mut line, last) = (lines.line_of(first), lines.line_of(end));
        while line < last {
            let start = line;
            while line < last && !self.is_cached(back, array, line) {
                line += 1;
            }
            if line > start {
                let sectors = Sectors(lines.start(line - start));
                let extent = Extent { lba: Lba(lines.start(start)), sectors };
                self.fetch(context, arrays, array, extent, Some(sequence));
            }
            while line < last && self.is_cached(back, array, line) {
                line += 1;
            }
        }
    }

    fn is_cached(&self, back: Option<&WriteBack>, array: u16, line: u64) -> bool {
        let all = mask(0, self.lines.sectors());
        self.cache.as_ref().is_some_and(|cache| cache.has(array, line))
            || back.is_some_and(|back| back.cache.holds(array, line, all).is_some())
    }

    /// Reads the lines of `extent` into the read cache, ahead for `sequence` if there is one; returns the fetch.
    fn fetch(
        &mut self,
        context: &mut Context,
        arrays: &mut ArraySet,
        array: u16,
        extent: Extent,
        sequence: Option<u8>,
    ) -> u32 {
        let touched = self.lines.touched(extent.lba.0, extent.sectors.0);
        let (first, last) = (*touched.start(), *touched.end());
        let fetch = self.fetches.insert(Fetch { array, first, last, waiters: Link::END, sequence });
        let lines = self.lines;
        context.probe.watch(|oracle| {
            oracle.begin_fetch(fetch, array, lines.start(first), lines.start(last + 1));
        });
        if let Some(cache) = &mut self.cache {
            for line in touched {
                if !cache.has(array, line) {
                    cache.insert(array, line, Some(fetch), sequence.is_some());
                }
            }
            if let Some(sequence) = sequence {
                cache.issue_ahead(sequence, extent.sectors.0);
            }
        }
        arrays.read(context, array, extent, Parent::Fetch { fetch });
        fetch
    }

    /// A fetch has ended; returns the first request that waits for it (see [`Self::next_waiter`]), and the sequence
    /// that it was prefetched for.
    pub fn end_fetch(&mut self, context: &mut Context, fetch: u32) -> (Link, Option<u8>) {
        let done = self.fetches.remove(fetch);
        let sectors = self.lines.sectors();
        if let Some(cache) = &mut self.cache {
            for line in done.first..=done.last {
                if cache.arrive(done.array, line, fetch) {
                    context.probe.watch(|oracle| oracle.arrive(fetch, line, sectors));
                }
            }
            if let Some(sequence) = done.sequence {
                cache.arrive_ahead(sequence, self.lines.start(done.last + 1 - done.first));
            }
        }
        context.probe.watch(|oracle| oracle.end_fetch(fetch));
        (done.waiters, done.sequence)
    }

    /// Removes a request from those that wait for a fetch, and advances to the next.
    pub fn next_waiter(&mut self, link: &mut Link) -> Option<u32> {
        let waiter = self.waiters.remove(link.get()?);
        *link = waiter.next;
        Some(waiter.request)
    }

    /// The data of these sectors changes: lines that have them are dropped.
    pub fn invalidate(&mut self, context: &Context, array: u16, extent: Extent) {
        if let Some(cache) = &mut self.cache
            && !context.probe.has(Mutation::StaleFetch)
        {
            for line in self.lines.touched(extent.lba.0, extent.sectors.0) {
                cache.invalidate(array, line);
            }
        }
    }

    /// Power is cut: the cache is empty, and fetches end.
    pub fn cut_power(&mut self) {
        self.fetches = Slab::default();
        self.waiters = Slab::default();
        if let Some(cache) = &mut self.cache {
            cache.cut_power();
        }
    }

    /// Whether no fetch is in progress.
    #[cfg(test)]
    pub fn is_quiet(&self) -> bool {
        self.fetches.len() == 0 && self.waiters.len() == 0
    }
}
