//! The hosts: when each source issues, and what it does when one of its requests is complete.

mod build;
mod processor;
mod replay;

use super::context::Context;
use super::request::Request;
use crate::event::Event;
use crate::slab::Slab;
use crate::trace::{Columns, Flags, Record};
use crate::units::{SimDuration, SimTime};
use crate::workload::{Command, RequestModel, Synthetic, Timing};
use replay::Replay;

pub use processor::Processor;

/// Something that issues requests.
#[derive(Debug)]
pub enum Source {
    /// A user, or a stream that all users share.
    Synthetic(Synthetic),
    /// A trace, or one process of it.
    Replay(Replay),
}

/// The sources of requests.
#[derive(Debug, Default)]
pub struct Hosts {
    /// The sources, in order of streams and users.
    pub sources: Vec<Source>,
    /// What the requests of synthetic sources are.
    pub models: Vec<RequestModel>,
    /// Replays that have records to issue, or requests outstanding.
    replays_left: usize,
    has_replays: bool,
    /// Think times, gaps and slots of outstanding I/Os of synthetic sources that continue.
    threads: u64,
    /// The processors, if interactions demand processor time.
    pub processor: Option<Box<Processor>>,
    /// The commands issued so far, if the run is recorded.
    pub recorded: Option<Box<Columns>>,
}

/// The share of its time that the backlog of an open load may take at its end. With more it is overloaded.
const BACKLOG_SHARE: f64 = 0.05;

impl Hosts {
    /// Schedules the first event of every source, at the start of the run or after a loss of mains.
    pub fn start(&mut self, context: &mut Context) {
        self.threads = 0;
        for (index, source) in (0..).zip(&mut self.sources) {
            match source {
                Source::Synthetic(source) => {
                    let count = if let Timing::Outstanding { depth } = source.timing { depth } else { 1 };
                    for _ in 0..count {
                        if let Some(at) = source.first_time(context.now()) {
                            self.threads += 1;
                            context.schedule(at, Event::Source(index));
                        }
                    }
                }
                Source::Replay(replay) => replay.start(context, index),
            }
        }
    }

    /// Starts all sources again, after a loss of mains that ended all their requests.
    pub fn restart(&mut self, context: &mut Context) {
        for source in &mut self.sources {
            if let Source::Synthetic(source) = source {
                source.forget_requests();
            }
        }
        self.start(context);
    }

    /// Whether every source has issued all its requests, and all of them are complete but those in the controller.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.threads == 0 && self.replays_left == 0 && self.computing() == 0
    }

    /// Interactions that wait for processors or use them.
    #[inline]
    pub fn computing(&self) -> usize {
        self.processor.as_ref().map_or(0, |processor| processor.present())
    }

    /// Whether a replay has records to issue, or requests outstanding.
    #[inline]
    pub const fn is_replaying(&self) -> bool {
        self.replays_left > 0
    }

    /// Whether there is a replay.
    pub const fn has_replays(&self) -> bool {
        self.has_replays
    }

    /// The most requests that closed sources have outstanding.
    pub fn population(&self) -> usize {
        let of_source = |source: &Source| match source {
            Source::Synthetic(source) => source.population(),
            Source::Replay(replay) => replay.depth as usize,
        };
        self.sources.iter().map(of_source).sum()
    }

    /// A think time, a gap or a hold of a source is over; returns how many requests it issues. If an interaction starts
    /// that demands processor time, there are none yet.
    #[inline]
    pub fn wake(&mut self, context: &mut Context, index: u32) -> u32 {
        let now = context.now();
        let Source::Synthetic(source) = &mut self.sources[index as usize] else { return 1 };
        match source.timing {
            Timing::Closed { .. } if source.outstanding == 0 => {
                if source.is_between() {
                    source.started = now;
                } else {
                    return source.begin_step();
                }
            }
            // A thread that continues was counted when its last request completed.
            Timing::Closed { .. } => return 1,
            Timing::Outstanding { .. } => {}
            Timing::Open(_) => match source.next_time(now) {
                Some(next) => context.schedule(next, Event::Source(index)),
                None => self.threads -= 1,
            },
        }
        if let Some(processor) = &mut self.processor
            && processor.start(context, index)
        {
            return 0;
        }
        source.begin_step()
    }

    /// An event of the processors occurs.
    pub fn end_processing(&mut self, context: &mut Context, which: u32) {
        if let Some(processor) = &mut self.processor {
            processor.end(context, which);
        }
    }

    /// A source whose interaction has its processor time, and how many requests it issues.
    pub fn next_ready(&mut self) -> Option<(u32, u32)> {
        let index = self.processor.as_mut()?.take_ready()?;
        let Source::Synthetic(source) = &mut self.sources[index as usize] else { return None };
        Some((index, source.begin_step()))
    }

    /// Brings the use of the processors up to date.
    pub fn advance_measures(&mut self, now: SimTime) {
        if let Some(processor) = &mut self.processor {
            processor.advance(now);
        }
    }

    /// Restarts the measurement of the processors.
    pub fn reset_measures(&mut self, now: SimTime) {
        if let Some(processor) = &mut self.processor {
            processor.reset(now);
        }
    }

    /// Power is cut: all interactions end.
    pub fn cut_power(&mut self, now: SimTime) {
        if let Some(processor) = &mut self.processor {
            processor.cut_power(now);
        }
    }

    /// Issues the next request of a source into `requests`; `None` at the end of a replay.
    // Not part of the event loop, which stays small.
    #[inline(never)]
    pub fn issue(&mut self, context: &mut Context, requests: &mut Slab<Request>, index: u32) -> Option<u32> {
        let (array, command, record) = match &mut self.sources[index as usize] {
            Source::Synthetic(source) => (source.array, source.command(&self.models), 0),
            Source::Replay(replay) => replay.next_command(context, index)?,
        };
        // Field by field: a load that spans several stores just made has to wait for all of them.
        let Command { operation, lba, sectors, is_forced } = command;
        let command = Command { operation, lba, sectors, is_forced };
        let request = requests.insert(Request::new(index, record, array, command, context.now()));
        if let Some(columns) = &mut self.recorded {
            columns.push(record_of(&requests[request]));
        }
        Some(request)
    }

    /// A request is complete: its source continues.
    #[inline]
    pub fn complete(&mut self, context: &mut Context, done: &Request) {
        let now = context.now();
        let source = match &mut self.sources[done.source as usize] {
            Source::Synthetic(source) => source,
            Source::Replay(replay) => {
                self.replays_left -= usize::from(replay.complete(context, done));
                return;
            }
        };
        match source.timing {
            Timing::Closed { .. } => {
                source.outstanding -= 1;
                if source.to_issue > 0 {
                    source.to_issue -= 1;
                    source.outstanding += 1;
                    context.schedule(now, Event::Source(done.source));
                } else if source.outstanding == 0 {
                    if source.next_step() {
                        context.schedule(now, Event::Source(done.source));
                        return;
                    }
                    // Interactions that began before the window are measured too: they are as likely as any.
                    context.measures.interaction.record(now.since(source.started));
                    if let Some(pace) = &mut source.pace {
                        pace.count_interaction();
                    }
                    match source.next_time(now) {
                        Some(next) => context.schedule(next, Event::Source(done.source)),
                        None => self.threads -= 1,
                    }
                }
            }
            Timing::Outstanding { .. } => match source.next_time(now) {
                Some(next) => context.schedule(next, Event::Source(done.source)),
                None => self.threads -= 1,
            },
            Timing::Open(_) => {}
        }
    }

    /// Whether a replay ended long after its last arrival: the array cannot carry it.
    pub fn is_overloaded(&self) -> bool {
        let ends = self.sources.iter().filter_map(|source| match source {
            Source::Synthetic(_) => None,
            Source::Replay(replay) => replay.open_end(),
        });
        ends.map(|(end, late): (SimTime, SimDuration)| (end, late.as_secs_f64()))
            .any(|(end, late)| late > BACKLOG_SHARE * end.since(SimTime::ZERO).as_secs_f64() && late > 1.0)
    }
}

/// The trace record of a request that is issued.
fn record_of(request: &Request) -> Record {
    let command = &request.command;
    Record {
        time: request.issued.since(SimTime::ZERO),
        process: request.source,
        volume: 0,
        lba: command.lba,
        sectors: command.sectors,
        op: command.operation,
        flags: if command.is_forced { Flags::FUA } else { Flags::NONE },
        response: None,
    }
}

#[cfg(test)]
mod stack_distance_tests;
#[cfg(test)]
mod tests;
