//! Buffer of a drive: segments of prefetched and of written data.
//!
//! ```text
//!   segment (read)    |sent, free again| start ── valid ── end | still coming under the head ... limit |
//!   segment (written) |                  start ── dirty or on the media ── end |
//! ```
//!
//! After a read the drive continues to read until another I/O needs its arm: up to a segment's size beyond the data sent
//! (`segment`), or the whole track from where the head arrived (`track`). With `segment_on_arrival` the sectors before a read
//! are kept until the ones after it need their memory; with `stream` the segment of a single read only remembers its end.
//! Prefetched sectors arrive at the sustained media
//! rate, track skews included; the memory of a sector that a command has taken is free for the following ones.
//!
//! The least recently used segment is dropped first, never while it is dirty.
//!
//! Ruemmler, Wilkes: An introduction to disk drive modeling, IEEE Computer 27(3), 1994 (read-ahead, write-behind).
//! Worthington, Ganger, Patt, Wilkes: On-line extraction of SCSI disk drive parameters, SIGMETRICS 1995 (segments).
//!
//! Cost: a scan over the segments per I/O that may be in one of them; nothing allocates after construction.

use std::hint::select_unpredictable;

use super::Io;
use crate::config::{self, DiskReadAhead};
use crate::disk::geometry::Pace;
use crate::rng::RandomStream;
use crate::units::{SimDuration, SimTime};

use fill::Fill;
use recency::Recency;
pub(super) use regions::Mark;
use regions::Regions;
use segment::{Segment, ones};
use written::Going;

mod fill;
mod recency;
mod regions;
mod segment;
mod written;

/// The part of a read that is in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// All of it, at a time.
    All {
        /// Time at which its last sector is read.
        ready: SimTime,
    },
    /// Its sectors up to this one.
    UpTo(u64),
    /// Nothing.
    Nothing,
}

/// A drive's buffer.
#[derive(Debug)]
pub(super) struct Buffer {
    segments: Box<[Segment]>,
    recency: Recency,
    /// Where the segments are, or will be when their read-ahead ends.
    regions: Regions,
    /// Dirty segments: a search for one is skipped if there is none.
    dirty_count: u32,
    /// Size of a segment \[sectors\].
    pub size: u64,
    pub read_ahead: DiskReadAhead,
    pub hit_time: SimDuration,
    pub write_time: SimDuration,
    pub caches_writes: bool,
    /// Whether the work of the arm is computed up to the I/O that starts now.
    pub is_current: bool,
    /// Time since which the arm only reads ahead and destages.
    pub idle_from: SimTime,
    /// Sectors that the arm writes to the media until `idle_from`.
    going: Vec<Going>,
    fill: Option<Fill>,
    lapse: f64,
    lapses: RandomStream,
    /// A defect for tests: forced writes complete in the buffer.
    #[cfg(all(test, debug_assertions))]
    pub ignores_force: bool,
}

impl Buffer {
    /// An empty buffer; `lapses` draws the abandoned read-aheads.
    pub fn new(config: &config::DiskBuffer, command_time: SimDuration, lapses: RandomStream) -> Self {
        let size = config.segment.sectors().0;
        Self {
            segments: vec![Segment::EMPTY; config.segments as usize].into(),
            recency: Recency::new(config.segments as usize),
            regions: Regions::new(size, config.write_cache),
            dirty_count: 0,
            size,
            read_ahead: config.read_ahead,
            hit_time: config.hit_time.unwrap_or(command_time),
            write_time: config.write_time.unwrap_or(command_time),
            caches_writes: config.write_cache,
            is_current: false,
            idle_from: SimTime::ZERO,
            going: Vec::with_capacity(2 * config.segments as usize + 1),
            fill: None,
            lapse: config.lapse.0,
            lapses,
            #[cfg(all(test, debug_assertions))]
            ignores_force: false,
        }
    }

    /// Whether the write `io` completes in the buffer.
    pub const fn takes(&self, io: &Io) -> bool {
        let is_forced = io.is_forced;
        #[cfg(all(test, debug_assertions))]
        let is_forced = is_forced && !self.ignores_force;
        self.caches_writes && !is_forced && io.sectors as u64 <= self.size
    }

    /// The mark of `io` for [`Self::may_serve`].
    #[inline]
    pub const fn mark_of(&self, io: &Io) -> Mark {
        if io.is_write { Mark::WRITE } else { self.regions.mark_of(io.lba.0) }
    }

    /// Whether an I/O with this mark may complete without a movement of the arm; most that wait cannot.
    #[inline]
    pub const fn may_serve(&self, mark: Mark) -> bool {
        self.regions.has(mark)
    }

    /// Advances the read-ahead to `now`; returns its end if it reached its limit.
    pub fn advance_fill(&mut self, now: SimTime) -> Option<SimTime> {
        let fill = self.fill?;
        let segment = &mut self.segments[fill.segment];
        segment.end = segment.end.max(fill.valid(now));
        if self.read_ahead == DiskReadAhead::SegmentOnArrival {
            segment.start = segment.start.max(segment.end.saturating_sub(self.size));
        }
        if let Some((time, start)) = fill.whole
            && now >= time
        {
            segment.start = segment.start.min(start);
        }
        let done = fill.done();
        (done <= now).then_some(done)
    }

    /// Whether the arm still reads ahead at `now`.
    pub fn is_filling(&self, now: SimTime) -> bool {
        self.fill.is_some_and(|fill| fill.done() > now)
    }

    /// The last prefetched sector, where the head is now.
    pub fn head(&self) -> Option<u64> {
        let fill = self.fill?;
        let end = self.segments[fill.segment].end;
        (end > fill.first).then(|| end - 1)
    }

    /// Whether one of the last reads ended before this sector.
    pub fn ends_at(&self, sector: u64) -> bool {
        sector > 0 && self.places(|segment| !segment.is_dirty && segment.end == sector) != 0
    }

    /// Ends the read-ahead: another I/O needs the arm.
    pub fn end_fill(&mut self) {
        self.fill = None;
    }

    /// The part of the sectors `first..end` in the buffer at `now`, up to which [`Self::advance_fill`] was called. Sectors that
    /// start less than a track (`track`) from a head that reads ahead are waited for.
    pub fn find(&mut self, first: u64, end: u64, now: SimTime, track: u64) -> Found {
        let (found, held_by) = self.look(first, end, now, track);
        if let Some(index) = held_by {
            self.recency.touch(index);
            let segment = &mut self.segments[index];
            if self.read_ahead.follows_streams() && !segment.is_dirty {
                // Sectors still to be read start no earlier than those already read.
                segment.start = end;
                segment.end = segment.end.max(end);
            }
        }
        found
    }

    /// Time at which the first sector of a read passes the head without a movement of the arm, or `now` if it has passed. Finds
    /// such a read as [`Self::find`] does, but changes nothing.
    pub fn comes_at(&self, first: u64, end: u64, now: SimTime, track: u64) -> Option<SimTime> {
        let (Found::All { .. }, Some(index)) = self.look(first, end, now, track) else { return None };
        let fill = self.fill.filter(|fill| fill.segment == index);
        Some(fill.map_or(now, |fill| fill.ready(first).max(now)))
    }

    /// Whether a read-ahead at `from` may continue past its limit to `end`, for a read that starts within it: sent data make
    /// room. Data written there must reach the media first.
    fn runs_on(&self, from: u64, end: u64) -> bool {
        self.read_ahead.follows_streams() && self.dirty_overlap(from, end).is_none()
    }

    /// The part of a read in the buffer, and the segment if it has all of it.
    #[inline]
    fn look(&self, first: u64, end: u64, now: SimTime, track: u64) -> (Found, Option<usize>) {
        if self.regions.may_hold(first) {
            return self.search(first, end, now, track);
        }
        debug_assert_eq!(self.search(first, end, now, track), (Found::Nothing, None), "an unmarked segment");
        (Found::Nothing, None)
    }

    fn search(&self, first: u64, end: u64, now: SimTime, track: u64) -> (Found, Option<usize>) {
        let mut found = Found::Nothing;
        let mut places = self.places(|segment| segment.holds(first));
        if let Some(fill) = &self.fill {
            places |= u64::from(self.segments[fill.segment].start <= first) << fill.segment;
        }
        for index in ones(places) {
            let segment = &self.segments[index];
            if end <= segment.end {
                return (Found::All { ready: now }, Some(index));
            }
            if let Some(fill) = self.fill
                && fill.segment == index
                && (end <= fill.limit || (first <= fill.limit && self.runs_on(segment.end, end)))
                && first.saturating_sub(segment.end) < track
                && fill.done() > now
            {
                return (Found::All { ready: fill.ready(end) }, Some(index));
            }
            if first < segment.end {
                found = Found::UpTo(segment.end);
            }
        }
        (found, None)
    }

    /// Where a read-ahead at its limit would continue, after the sectors below `sent` were sent.
    pub fn resumes_at(&self, sent: u64, now: SimTime) -> Option<u64> {
        let fill = self.fill.filter(|_| self.read_ahead.follows_streams())?;
        let is_its_own = self.segments[fill.segment].start == sent;
        (is_its_own && fill.done() <= now && fill.limit < sent + self.size).then_some(fill.limit)
    }

    /// Extends a read-ahead in progress as far as there is room, after the sectors below `sent` were sent.
    pub fn make_room(&mut self, sent: u64, disk_end: u64) {
        if let Some(fill) = &mut self.fill
            && self.read_ahead.follows_streams()
            && self.segments[fill.segment].start == sent
        {
            fill.limit = fill.limit.max((sent + self.size).min(disk_end));
            let limit = fill.limit;
            self.mark(sent, limit);
        }
    }

    /// Continues the read-ahead from its limit at `from`.
    pub fn resume(&mut self, from: SimTime, pace: Pace, sent: u64, disk_end: u64) {
        if let Some(fill) = &mut self.fill {
            fill.first = fill.limit;
            fill.from = from;
            fill.pace = pace;
        }
        self.make_room(sent, disk_end);
    }

    /// The first sector of the next zone if the read-ahead of the data sent, below `sent`, has reached it.
    pub fn reached_zone(&self, sent: u64) -> Option<u64> {
        self.fill.map(|fill| fill.pace.until).filter(|&until| until < sent)
    }

    /// The read-ahead continues with the pace of the zone it has reached.
    pub fn enter_zone(&mut self, pace: Pace) {
        if let Some(fill) = &mut self.fill {
            fill.enter_zone(pace);
        }
    }

    /// The segments that `is_one` chooses, as a set of bits: any segment may be one, which a processor cannot predict.
    #[inline]
    fn places(&self, is_one: impl Fn(&Segment) -> bool) -> u64 {
        (0..)
            .zip(&*self.segments)
            .fold(0, |places, (index, segment)| places | u64::from(is_one(segment)) << index)
    }

    /// The segment used least recently of those that are free at `now`: neither dirty nor in flight.
    fn free(&self, now: SimTime) -> Option<usize> {
        let is_going = |index| self.going.iter().any(|going| going.segment == index && going.until > now);
        self.recency.oldest_first().find(|&index| !self.segments[index].is_dirty && !is_going(index))
    }

    /// Whether a segment is free at `now`.
    pub fn has_room(&self, now: SimTime) -> bool {
        self.free(now).is_some()
    }

    /// Takes the least recently used segment that is free at `now` for `start..end`; none if none is free.
    fn take(&mut self, start: u64, end: u64, is_dirty: bool, now: SimTime) -> Option<usize> {
        let index = self.free(now)?;
        if self.fill.is_some_and(|fill| fill.segment == index) {
            self.fill = None;
        }
        self.recency.touch(index);
        self.segments[index] = Segment { start, end, is_dirty };
        self.dirty_count += u32::from(is_dirty);
        Some(index)
    }

    /// A read of `..end` was served from the media, of which `start..end` stays here; the read-ahead starts at `from` with
    /// `pace` up to `limit`.
    pub fn begin_fill(
        &mut self,
        kept: (u64, u64),
        from: SimTime,
        pace: Pace,
        limit: u64,
        whole: Option<(SimTime, u64)>,
    ) {
        self.forget(kept.0, limit.max(kept.1));
        let Some(segment) = self.take(kept.0, kept.1, false, from) else { return };
        self.mark(whole.map_or(kept.0, |(_, start)| start.min(kept.0)), limit.max(kept.1));
        if self.lapse > 0.0 && self.lapses.unit() < self.lapse {
            return;
        }
        self.fill = Some(Fill { segment, first: kept.1, from, pace, limit, whole });
    }

    /// Drops clean data of `first..end`, all data before them in a segment, and the read-ahead of them.
    pub fn forget(&mut self, first: u64, end: u64) {
        if self.regions.may_overlap(first, end) {
            for segment in &mut self.segments {
                let is_clean = !segment.is_dirty & segment.overlaps(first, end);
                // Any segment may be the one: a processor cannot predict it.
                segment.start = select_unpredictable(is_clean, segment.end.min(end), segment.start);
            }
        }
        if let Some(fill) = &mut self.fill {
            let at = self.segments[fill.segment].end;
            if first < fill.limit && end > at {
                fill.limit = at.max(first.min(fill.limit));
                fill.whole = None;
            }
        }
    }
}
