//! The hosts: when each source issues, and what it does when a request of its own is over.

use super::Simulation;
use super::replay::Replay;
use super::request::Request;
use crate::event::Event;
use crate::units::{SimDuration, SimTime};
use crate::workload::{Synthetic, Timing};

/// Something that issues requests.
#[derive(Debug)]
pub(super) enum Source {
    /// A user, or a stream that all users share.
    Synthetic(Synthetic),
    /// A trace, or one process of it.
    Replay(Replay),
}

impl Simulation {
    /// Schedules the first event of every source, at the start of the run or after a loss of mains.
    pub(super) fn start_sources(&mut self) {
        self.threads = 0;
        for index in 0..self.sources.len() as u32 {
            match &mut self.sources[index as usize] {
                Source::Synthetic(source) => {
                    let count = if let Timing::Outstanding { depth } = source.timing { depth } else { 1 };
                    for _ in 0..count {
                        if let Some(at) = source.first_time(self.now) {
                            self.threads += 1;
                            self.events.schedule(at, Event::Source(index));
                        }
                    }
                }
                Source::Replay(_) => self.start_replay(index),
            }
        }
    }

    /// Whether every source has issued all that it ever will, and all of it is over.
    #[inline]
    pub(super) fn is_input_over(&self) -> bool {
        self.outstanding == 0 && self.threads == 0 && self.replays_left == 0
    }

    /// A think time, a gap or a hold of a source is over.
    #[inline]
    pub(super) fn on_source(&mut self, index: u32) {
        let now = self.now;
        if self.is_draining() {
            return;
        }
        let Source::Synthetic(source) = &mut self.sources[index as usize] else {
            self.replay_next(index);
            return;
        };
        let mut count = 1;
        match source.timing {
            Timing::Closed { ios, width, .. } => {
                // What goes on has been counted when the one before it was over.
                if source.outstanding == 0 {
                    if source.is_between() {
                        source.started = now;
                    }
                    count = width;
                    source.to_issue = ios - width;
                    source.outstanding = width;
                }
            }
            Timing::Outstanding { .. } => {}
            Timing::Open(_) => match source.next_time(now) {
                Some(next) => self.events.schedule(next, Event::Source(index)),
                None => self.threads -= 1,
            },
        }
        for _ in 0..count {
            let Source::Synthetic(source) = &mut self.sources[index as usize] else { return };
            let command = source.command(&self.models);
            let array = source.array;
            self.issue(index, array, command, 0);
        }
    }

    /// A request is over: its source learns of it.
    #[inline]
    pub(super) fn on_completion(&mut self, done: &Request) {
        let now = self.now;
        let Source::Synthetic(source) = &mut self.sources[done.source as usize] else {
            self.replay_completed(done);
            return;
        };
        match source.timing {
            Timing::Closed { .. } => {
                source.outstanding -= 1;
                if source.to_issue > 0 {
                    source.to_issue -= 1;
                    source.outstanding += 1;
                    self.events.schedule(now, Event::Source(done.source));
                } else if source.outstanding == 0 {
                    if source.next_step() {
                        self.events.schedule(now, Event::Source(done.source));
                        return;
                    }
                    // Interactions that began before the window are measured too: they are as likely as any.
                    self.measures.interaction.record(now.since(source.started));
                    if let Some(pace) = &mut source.pace {
                        pace.count_interaction();
                    }
                    match source.next_time(now) {
                        Some(next) => self.events.schedule(next, Event::Source(done.source)),
                        None => self.threads -= 1,
                    }
                }
            }
            Timing::Outstanding { .. } => match source.next_time(now) {
                Some(next) => self.events.schedule(next, Event::Source(done.source)),
                None => self.threads -= 1,
            },
            Timing::Open(_) => {}
        }
    }
}

impl Source {
    /// Its host has lost its power, and all requests with it.
    pub(super) fn forget_requests(&mut self) {
        if let Self::Synthetic(source) = self {
            source.forget_requests();
        }
    }

    /// Whether this is a replay with records to issue.
    pub(super) fn is_replay_to_do(&self) -> bool {
        matches!(self, Self::Replay(replay) if !replay.is_over())
    }

    /// The most requests that a closed source has outstanding; 0 for an open one.
    pub(super) fn population(&self) -> usize {
        match self {
            Self::Synthetic(source) => source.population(),
            Self::Replay(replay) => replay.depth as usize,
        }
    }

    /// When an open replay issues its last record, and how much later its last completion so far was; nothing for
    /// other sources.
    pub(super) fn open_end(&self) -> Option<(SimTime, SimDuration)> {
        match self {
            Self::Synthetic(_) => None,
            Self::Replay(replay) => replay.open_end(),
        }
    }
}

#[cfg(test)]
mod stack_distance_tests;
#[cfg(test)]
mod tests;
