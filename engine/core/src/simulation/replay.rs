//! Replay of a recorded trace: open, as soon as possible, or with each process's dependences kept.

use std::sync::Arc;

use super::Simulation;
use super::hosts::Source;
use super::request::Request;
use crate::config::{AddressMap, ReplayMode};
use crate::event::Event;
use crate::trace::Trace;
use crate::units::{Lba, Sectors, SimDuration, SimTime};
use crate::workload::{Command, Op};

/// Gaps are kept up to this length: a longer pause is the process waiting for something else.
const LONGEST_GAP: SimDuration = SimDuration(1_000_000_000);

/// A process that issued again within this time cannot have waited for a device: the two requests were submitted
/// together, and the process waited for both afterwards.
const SUBMITTED_TOGETHER: SimDuration = SimDuration(10_000);

/// 1 MiB, the unit in which `compact` moves addresses \[sectors\].
const EXTENT: u64 = 2048;

/// How the trace's addresses become the array's.
#[derive(Debug)]
pub(super) enum Mapping {
    /// As they are.
    Same,
    /// Modulo the capacity.
    Wrap { capacity: u64 },
    /// The touched extents, moved together.
    Compact { extents: Box<[u64]> },
}

impl Mapping {
    /// The mapping of `trace` onto `capacity` sectors; nothing where it does not fit.
    pub fn new(map: AddressMap, trace: &Trace, capacity: Sectors) -> Option<Self> {
        if trace.end().0 <= capacity.0 {
            return Some(Self::Same);
        }
        match map {
            AddressMap::Error => None,
            AddressMap::Wrap => (0..trace.len())
                .all(|index| trace.record(index).sectors <= capacity)
                .then_some(Self::Wrap { capacity: capacity.0 }),
            AddressMap::Compact => {
                let mut extents: Vec<u64> = (0..trace.len())
                    .map(|index| trace.record(index))
                    .filter(|record| record.sectors.0 > 0)
                    .flat_map(|record| record.lba.0 / EXTENT..=(record.lba.0 + record.sectors.0 - 1) / EXTENT)
                    .collect();
                extents.sort_unstable();
                extents.dedup();
                (extents.len() as u64 * EXTENT <= capacity.0)
                    .then(|| Self::Compact { extents: extents.into() })
            }
        }
    }

    fn apply(&self, lba: Lba, sectors: Sectors) -> Lba {
        match self {
            Self::Same => lba,
            Self::Wrap { capacity } => Lba((lba.0 % capacity).min(capacity - sectors.0)),
            Self::Compact { extents } => {
                let place = extents.partition_point(|&extent| extent < lba.0 / EXTENT);
                Lba(place as u64 * EXTENT + lba.0 % EXTENT)
            }
        }
    }
}

/// A trace, or one process of it, as a source of requests.
#[derive(Debug)]
pub(super) struct Replay {
    pub array: u16,
    pub trace: Arc<Trace>,
    pub mapping: Arc<Mapping>,
    pub mode: ReplayMode,
    pub speed: f64,
    pub depth: u32,
    /// The records that it replays; all of the trace where there is no list.
    pub records: Option<Box<[u32]>>,
    /// How many of them have been issued.
    pub issued: usize,
    /// Requests that are under way.
    pub outstanding: u32,
    /// When the last of its requests so far was over.
    pub last_completion: SimTime,
    /// Requests of this source that a dependent process waits for.
    pub awaited: u32,
    /// The gap to keep once they are done.
    pub held_gap: Option<SimDuration>,
    /// When the synchronous writes began that the next flush may commit.
    pub commit_start: Option<SimTime>,
}

impl Replay {
    fn count(&self) -> usize {
        self.records.as_ref().map_or(self.trace.len(), |records| records.len())
    }

    fn record_at(&self, position: usize) -> usize {
        self.records.as_ref().map_or(position, |records| records[position] as usize)
    }

    /// Whether all records have been issued.
    pub fn is_over(&self) -> bool {
        self.issued >= self.count()
    }

    /// When the record at `position` is due, counted from the start of the trace.
    fn due(&self, position: usize) -> SimTime {
        let time = SimTime::ZERO + self.trace.record(self.record_at(position)).time;
        if self.mode == ReplayMode::Open { SimTime((time.0 as f64 / self.speed) as u64) } else { time }
    }

    /// When an open replay issues its last record, and how much later its last completion so far was.
    pub fn open_end(&self) -> Option<(SimTime, SimDuration)> {
        let last = self.count().checked_sub(1)?;
        (self.mode == ReplayMode::Open).then(|| {
            let end = self.due(last);
            (end, self.last_completion.since(end))
        })
    }

    /// The recorded gap after the record at `position`, cut at [`LONGEST_GAP`].
    fn gap_after(&self, position: usize) -> Option<SimDuration> {
        (position + 1 < self.count())
            .then(|| self.due(position + 1).since(self.due(position)).min(LONGEST_GAP))
    }

    fn command(&self, record: usize) -> Command {
        let record = self.trace.record(record);
        if record.op == Op::Flush {
            return Command::FLUSH;
        }
        Command {
            operation: record.op,
            lba: self.mapping.apply(record.lba, record.sectors),
            sectors: record.sectors,
            is_forced: record.flags.is_forced(),
        }
    }

    /// Whether the process may wait for this record: a flush, or a synchronous write.
    fn is_awaited(&self, record: usize) -> bool {
        let record = self.trace.record(record);
        match record.op {
            Op::Flush => true,
            Op::Write => record.flags.is_sync() || record.flags.is_forced(),
            Op::Read => false,
        }
    }
}

impl Simulation {
    /// The first events of a replay.
    pub(super) fn start_replay(&mut self, source: u32) {
        let Source::Replay(replay) = &self.sources[source as usize] else { return };
        if replay.is_over() {
            return;
        }
        let (count, at) = match replay.mode {
            ReplayMode::Asap => (replay.depth, SimTime::ZERO),
            ReplayMode::Open | ReplayMode::Dependent => (1, replay.due(0)),
        };
        for _ in 0..count {
            self.events.schedule(at, Event::Source(source));
        }
    }

    /// A replay issues its next record.
    pub(super) fn replay_next(&mut self, source: u32) {
        let now = self.now;
        let Source::Replay(replay) = &mut self.sources[source as usize] else { return };
        if replay.is_over() {
            return;
        }
        let position = replay.issued;
        let record = replay.record_at(position);
        replay.issued += 1;
        replay.outstanding += 1;
        let (array, command) = (replay.array, replay.command(record));
        let next = match replay.mode {
            ReplayMode::Asap => None,
            ReplayMode::Open => (!replay.is_over()).then(|| replay.due(position + 1)),
            ReplayMode::Dependent => {
                let gap = replay.gap_after(position);
                if replay.is_awaited(record) {
                    // A commit begins with the writes that directly precede its flush; what was over before is none of it.
                    let is_alone = replay.awaited == 0 && command.operation == Op::Write;
                    if is_alone || replay.commit_start.is_none() {
                        replay.commit_start = Some(now);
                    }
                    replay.awaited += 1;
                }
                match gap {
                    Some(gap)
                        if replay.awaited > 0
                            && replay.is_awaited(record)
                            && (gap >= SUBMITTED_TOGETHER || command.operation == Op::Flush) =>
                    {
                        replay.held_gap = Some(gap);
                        None
                    }
                    gap => gap.map(|gap| now + gap),
                }
            }
        };
        if let Some(next) = next {
            self.events.schedule(next, Event::Source(source));
        }
        self.issue(source, array, command, record as u32);
    }

    /// A request of a replay is over.
    pub(super) fn replay_completed(&mut self, done: &Request) {
        let now = self.now;
        let Source::Replay(replay) = &mut self.sources[done.source as usize] else { return };
        replay.outstanding -= 1;
        replay.last_completion = now;
        if replay.is_over() && replay.outstanding == 0 {
            self.replays_left -= 1;
        }
        match replay.mode {
            ReplayMode::Open => {}
            ReplayMode::Asap => {
                if !replay.is_over() {
                    self.events.schedule(now, Event::Source(done.source));
                }
            }
            ReplayMode::Dependent => {
                if !replay.is_awaited(done.record as usize) {
                    return;
                }
                replay.awaited -= 1;
                if done.command.operation == Op::Flush
                    && let Some(start) = replay.commit_start.take()
                {
                    self.measures.commit.record(now.since(start));
                }
                if replay.awaited == 0
                    && let Some(gap) = replay.held_gap.take()
                {
                    self.events.schedule(now + gap, Event::Source(done.source));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
