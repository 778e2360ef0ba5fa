//! Replay of a recorded trace: open, as soon as possible, or with each process's dependences kept.

mod mapping;

use std::sync::Arc;

use crate::config::ReplayMode;
use crate::event::Event;
use crate::simulation::context::Context;
use crate::simulation::request::Request;
use crate::trace::Trace;
use crate::units::{SimDuration, SimTime};
use crate::workload::{Command, Op};

pub use mapping::Mapping;

/// Gaps are kept up to this length: a longer pause is the process waiting for something else.
const LONGEST_GAP: SimDuration = SimDuration(1_000_000_000);

/// A process that issued again within this time cannot have waited for a device: the two requests were submitted
/// together, and the process waited for both afterwards.
const SUBMITTED_TOGETHER: SimDuration = SimDuration(10_000);

/// The period after which `trace` can repeat: the mean gap separates its last record from its first.
pub fn length(trace: &Trace) -> SimDuration {
    let gaps = trace.len().saturating_sub(1).max(1) as u64;
    trace.duration() + SimDuration(trace.duration().0 / gaps)
}

/// A trace, or one process of it, as a source of requests.
#[derive(Debug)]
pub struct Replay {
    pub array: u16,
    pub trace: Arc<Trace>,
    pub mapping: Arc<Mapping>,
    pub mode: ReplayMode,
    pub speed: f64,
    pub depth: u32,
    /// Which copy of the trace it is.
    pub copy: u32,
    /// How long after the start of the run it starts.
    pub delay: SimDuration,
    /// The records that it replays; `None` for the whole trace.
    pub records: Option<Arc<[u32]>>,
    /// Index of the record at which it begins; the first record follows the last.
    pub first: usize,
    /// The moment of the trace at which it begins.
    pub shift: SimDuration,
    /// Period after which the trace repeats.
    pub length: SimDuration,
    /// How many of them have been issued.
    pub issued: usize,
    /// Requests in progress.
    pub outstanding: u32,
    /// When its latest request completed.
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

    /// When the record at `position` is due, independently of the others.
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

    /// Schedules the first events of the replay, which is source number `source`.
    pub fn start(&self, context: &mut Context, source: u32) {
        if self.is_over() {
            return;
        }
        let (count, at) = match self.mode {
            ReplayMode::Asap => (self.depth, SimTime::ZERO + self.delay),
            ReplayMode::Open | ReplayMode::Dependent => (1, self.due(0)),
        };
        for _ in 0..count {
            context.schedule(at, Event::Source(source));
        }
    }

    /// The array, the command and the number of the next record; `None` if all have been issued.
    pub fn next_command(&mut self, context: &mut Context, source: u32) -> Option<(u16, Command, u32)> {
        if self.is_over() {
            return None;
        }
        let now = context.now();
        let position = self.issued;
        let record = self.record_at(position);
        self.issued += 1;
        self.outstanding += 1;
        let command = self.command(record);
        let next = match self.mode {
            ReplayMode::Asap => None,
            ReplayMode::Open => (!self.is_over()).then(|| self.due(position + 1)),
            ReplayMode::Dependent => {
                let gap = self.gap_after(position);
                if self.is_awaited(record) {
                    // A commit begins with the writes that directly precede its flush, not with what was over before.
                    let is_alone = self.awaited == 0 && command.operation == Op::Write;
                    if is_alone || self.commit_start.is_none() {
                        self.commit_start = Some(now);
                    }
                    self.awaited += 1;
                }
                match gap {
                    Some(gap)
                        if self.awaited > 0
                            && self.is_awaited(record)
                            && (gap >= SUBMITTED_TOGETHER || command.operation == Op::Flush) =>
                    {
                        self.held_gap = Some(gap);
                        None
                    }
                    gap => gap.map(|gap| now + gap),
                }
            }
        };
        if let Some(next) = next {
            context.schedule(next, Event::Source(source));
        }
        Some((self.array, command, record as u32))
    }

    /// A request of the replay is complete; returns whether it was the last.
    pub fn complete(&mut self, context: &mut Context, done: &Request) -> bool {
        let now = context.now();
        self.outstanding -= 1;
        self.last_completion = now;
        match self.mode {
            ReplayMode::Open => {}
            ReplayMode::Asap => {
                if !self.is_over() {
                    context.schedule(now, Event::Source(done.source));
                }
            }
            ReplayMode::Dependent => {
                if self.is_awaited(done.record as usize) {
                    self.end_wait(context, done);
                }
            }
        }
        self.is_over() && self.outstanding == 0
    }

    /// A request is complete that its process may have waited for.
    fn end_wait(&mut self, context: &mut Context, done: &Request) {
        let now = context.now();
        self.awaited -= 1;
        if done.command.operation == Op::Flush
            && let Some(start) = self.commit_start.take()
        {
            context.measures.commit.record(now.since(start));
        }
        if self.awaited == 0
            && let Some(gap) = self.held_gap.take()
        {
            context.schedule(now + gap, Event::Source(done.source));
        }
    }
}

#[cfg(test)]
mod copies_tests;
#[cfg(test)]
mod tests;
