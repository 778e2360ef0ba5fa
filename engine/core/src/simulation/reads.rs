//! Reads: from dirty lines, from the read cache, from data on its way there, or from the disks.

use super::Simulation;
use super::array_state::{Fetch, Waiter};
use super::operation::Parent;
use super::request::Service;
use crate::read_ahead::Stretch;
use crate::read_cache::Line;
use crate::slab::Link;
use crate::units::{Lba, Sectors};
use crate::write_cache::{Extent, Held, mask};

/// Where a read's data came from.
#[derive(Clone, Copy, Default)]
struct Found {
    has_miss: bool,
    has_late: bool,
    has_prefetched: bool,
    /// What the write cache gave: dirty where any of it was.
    held: Option<Held>,
}

impl Simulation {
    /// A read has reached the caches.
    pub(super) fn read(&mut self, request: u32) {
        let entry = self.requests[request];
        let (array, lba, sectors) = (entry.array, entry.command.lba, entry.command.sectors);
        if self.write_back.is_none() && self.read_cache.is_none() {
            self.requests[request].service = Service::MissRandom;
            self.requests[request].pending = 1;
            self.probe.watch(|oracle| oracle.read_media(array, lba.0, lba.0 + sectors.0));
            self.read_array(array, Extent { lba, sectors }, Parent::Read { request });
            return;
        }
        let (is_sequential, ahead) =
            self.read_cache.as_mut().map_or((false, None), |cache| cache.notice(array, lba.0, sectors.0));
        // Held until all parts have been asked for.
        self.requests[request].pending = 1;
        let found = self.look_up(request, array, lba, sectors);
        self.read_missing(request, array);
        self.requests[request].service = match found {
            Found { has_miss: true, .. } if is_sequential => Service::MissSequential,
            Found { has_miss: true, .. } => Service::MissRandom,
            Found { has_late: true, .. } => Service::HitLate,
            Found { has_prefetched: true, .. } => Service::HitAhead,
            Found { held: Some(Held::Dirty), .. } => Service::HitDirty,
            Found { held: Some(Held::Clean), .. } => Service::HitClean,
            Found { .. } => Service::Hit,
        };
        if let Some(stretch) = ahead {
            self.read_ahead(array, stretch);
        }
        self.part_done(request);
    }

    /// Looks every line of a read up; leaves what is missing in `self.extents`.
    fn look_up(&mut self, request: u32, array: u16, lba: Lba, sectors: Sectors) -> Found {
        let mut found = Found::default();
        let (line_sectors, line_bits) = (self.line_sectors, self.line_bits);
        let end = lba.0 + sectors.0;
        self.extents.clear();
        let whole_lines = self.read_cache.as_ref().is_some_and(crate::read_cache::ReadCache::keeps_all);
        for line in lba.0 >> line_bits..=(end - 1) >> line_bits {
            let start = lba.0.max(line * line_sectors);
            let stop = end.min((line + 1) * line_sectors);
            if let Some(back) = &self.write_back {
                let mask = mask(start - line * line_sectors, stop - start);
                if let Some(held) = back.cache.holds(array, line, mask) {
                    found.held = found.held.filter(|&held| held == Held::Dirty).or(Some(held));
                    self.probe.watch(|oracle| oracle.read_held(array, start, stop, held));
                    continue;
                }
            }
            self.probe.mutate_read_cache(self.read_cache.as_mut(), array, line);
            match self.read_cache.as_mut().and_then(|cache| cache.touch(array, line)) {
                Some(Line::Valid { is_prefetched }) => {
                    found.has_prefetched |= is_prefetched;
                    self.probe
                        .watch(|oracle| oracle.read_line(array, line, line * line_sectors, start, stop));
                }
                Some(Line::Pending { fetch }) => {
                    found.has_late = true;
                    self.probe.watch(|oracle| oracle.read_fetch(fetch, array, start, stop));
                    let next = self.fetches[fetch].waiters;
                    let waiter = self.waiters.insert(Waiter { request, next });
                    self.fetches[fetch].waiters = Link::to(waiter);
                    self.requests[request].pending += 1;
                }
                None => {
                    found.has_miss = true;
                    self.probe.watch(|oracle| oracle.read_media(array, start, stop));
                    let (start, stop) = if whole_lines {
                        (line * line_sectors, (line + 1) * line_sectors)
                    } else {
                        (start, stop)
                    };
                    match self.extents.last_mut() {
                        Some(last) if last.lba.0 + last.sectors.0 == start => {
                            last.sectors.0 += stop - start;
                        }
                        _ => self.extents.push(Extent { lba: Lba(start), sectors: Sectors(stop - start) }),
                    }
                }
            }
        }
        found
    }

    /// Reads what `look_up` has left.
    fn read_missing(&mut self, request: u32, array: u16) {
        let whole_lines = self.read_cache.as_ref().is_some_and(crate::read_cache::ReadCache::keeps_all);
        let extents = std::mem::take(&mut self.extents);
        for &extent in &extents {
            self.requests[request].pending += 1;
            if whole_lines {
                let fetch = self.fetch(array, extent, false);
                let waiter = self.waiters.insert(Waiter { request, next: Link::END });
                self.fetches[fetch].waiters = Link::to(waiter);
            } else {
                self.read_array(array, extent, Parent::Read { request });
            }
        }
        self.extents = extents;
    }

    /// Reads a stretch ahead, up to the end of the array, what is not here or on its way.
    fn read_ahead(&mut self, array: u16, Stretch { first, sectors }: Stretch) {
        let line_sectors = self.line_sectors;
        let end = (first + sectors).min(self.arrays[array as usize].layout.capacity().0);
        let (mut line, last) = (first / line_sectors, end / line_sectors);
        while line < last {
            let start = line;
            while line < last && !self.is_cached(array, line) {
                line += 1;
            }
            if line > start {
                let extent = Extent {
                    lba: Lba(start * line_sectors),
                    sectors: Sectors((line - start) * line_sectors),
                };
                self.fetch(array, extent, true);
            }
            while line < last && self.is_cached(array, line) {
                line += 1;
            }
        }
    }

    fn is_cached(&self, array: u16, line: u64) -> bool {
        self.read_cache.as_ref().is_some_and(|cache| cache.has(array, line))
            || self
                .write_back
                .as_ref()
                .is_some_and(|back| back.cache.holds(array, line, mask(0, self.line_sectors)).is_some())
    }

    fn fetch(&mut self, array: u16, extent: Extent, is_prefetch: bool) -> u32 {
        let first = extent.lba.0 / self.line_sectors;
        let last = (extent.lba.0 + extent.sectors.0 - 1) / self.line_sectors;
        let fetch = self.fetches.insert(Fetch { array, first, last, waiters: Link::END });
        let line_sectors = self.line_sectors;
        self.probe.watch(|oracle| {
            oracle.begin_fetch(fetch, array, first * line_sectors, (last + 1) * line_sectors);
        });
        if let Some(cache) = &mut self.read_cache {
            for line in first..=last {
                if !cache.has(array, line) {
                    cache.insert(array, line, Some(fetch), is_prefetch);
                }
            }
        }
        self.read_array(array, extent, Parent::Fetch { fetch });
        fetch
    }

    /// A fetch has brought its lines.
    pub(super) fn fetch_done(&mut self, fetch: u32) {
        let done = self.fetches.remove(fetch);
        if let Some(cache) = &mut self.read_cache {
            for line in done.first..=done.last {
                if cache.arrive(done.array, line, fetch) {
                    self.probe.watch(|oracle| oracle.arrive(fetch, line, self.line_sectors));
                }
            }
        }
        self.probe.watch(|oracle| oracle.end_fetch(fetch));
        let mut link = done.waiters;
        while let Some(index) = link.get() {
            let waiter = self.waiters.remove(index);
            link = waiter.next;
            self.part_done(waiter.request);
        }
    }
}
