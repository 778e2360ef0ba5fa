//! Replay of a recorded trace: open, as soon as possible, or with each process's dependences kept.

mod mapping;

use std::sync::Arc;

use super::Simulation;
use super::hosts::Source;
use super::request::Request;
use crate::config::ReplayMode;
use crate::event::Event;
use crate::trace::Trace;
use crate::units::{SimDuration, SimTime};
use crate::workload::{Command, Op};

pub(super) use mapping::Mapping;

/// Gaps are kept up to this length: a longer pause is the process waiting for something else.
const LONGEST_GAP: SimDuration = SimDuration(1_000_000_000);

/// A process that issued again within this time cannot have waited for a device: the two requests were submitted
/// together, and the process waited for both afterwards.
const SUBMITTED_TOGETHER: SimDuration = SimDuration(10_000);

/// The time after which `trace` can begin anew: the mean gap lies between its last record and its first.
pub(super) fn length(trace: &Trace) -> SimDuration {
    let gaps = trace.len().saturating_sub(1).max(1) as u64;
    trace.duration() + SimDuration(trace.duration().0 / gaps)
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
    /// Which of the copies of the trace it is.
    pub copy: u32,
    /// How long after the start of the run it starts.
    pub delay: SimDuration,
    /// The records that it replays; all of the trace where there is no list.
    pub records: Option<Arc<[u32]>>,
    /// The place among them at which it begins; from the last it goes on with the first.
    pub first: usize,
    /// The moment of the trace at which it begins.
    pub shift: SimDuration,
    /// Time from the first moment of the trace to where it begins anew.
    pub length: SimDuration,
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

    /// The record that is issued after `position` others.
    fn record_at(&self, position: usize) -> usize {
        let place = if position < self.count() - self.first {
            self.first + position
        } else {
            self.first + position - self.count()
        };
        self.records.as_ref().map_or(place, |records| records[place] as usize)
    }

    /// Goes to the first record at or after the shift.
    pub fn find_first(&mut self) {
        let time = |place: usize| self.trace.record(self.record_at(place)).time;
        let (mut before, mut after) = (0, self.count());
        while before < after {
            let middle = usize::midpoint(before, after);
            if time(middle) < self.shift { before = middle + 1 } else { after = middle }
        }
        self.first = before % self.count().max(1);
    }

    /// Whether all records have been issued.
    pub fn is_over(&self) -> bool {
        self.issued >= self.count()
    }

    /// When the record at `position` is due, were it not for the others.
    fn due(&self, position: usize) -> SimTime {
        let recorded = self.trace.record(self.record_at(position)).time;
        let time = if recorded >= self.shift { recorded } else { recorded + self.length } - self.shift;
        let time = if self.mode == ReplayMode::Open {
            SimDuration((time.0 as f64 / self.speed) as u64)
        } else {
            time
        };
        SimTime::ZERO + self.delay + time
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
            lba: self.mapping.apply(record.lba, record.sectors, self.copy),
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
            ReplayMode::Asap => (replay.depth, SimTime::ZERO + replay.delay),
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
mod copies_tests;
#[cfg(test)]
mod tests;
