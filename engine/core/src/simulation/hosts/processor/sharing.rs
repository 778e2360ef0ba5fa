//! Processor sharing: of n interactions on c cores, each progresses at the speed min(1, c / n).
//!
//! The progress of an interaction that was always there is a clock of its own, and each interaction has the reading at
//! which its demand is met. So an arrival or an end changes the speed of the clock, and nothing of the others.
//!
//! Cost: O(log n) per arrival and end.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Alarm, Job};
use crate::units::SimTime;

/// Fractions of a nanosecond of the clock, as a power of two: the error of a demand is below a nanosecond.
const FRACTION_BITS: u32 = 20;

/// An interaction, ordered by when its demand is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// Reading of the clock at which its demand is met.
    due: u128,
    /// Number of its arrival.
    arrival: u64,
    job: Job,
}

/// Interactions that share the cores.
#[derive(Debug)]
pub(super) struct Sharing {
    cores: u32,
    /// Reading of the clock at `at`.
    progress: u128,
    at: SimTime,
    jobs: BinaryHeap<Reverse<Entry>>,
    arrivals: u64,
    /// Number of the latest alarm; earlier ones are void.
    alarm: u32,
}

impl Sharing {
    pub const fn new(cores: u32) -> Self {
        Self { cores, progress: 0, at: SimTime::ZERO, jobs: BinaryHeap::new(), arrivals: 0, alarm: 0 }
    }

    /// An interaction arrives.
    pub fn start(&mut self, now: SimTime, job: Job) -> Option<Alarm> {
        self.advance(now);
        self.arrivals += 1;
        let due = self.progress + (u128::from(job.demand.0) << FRACTION_BITS);
        self.jobs.push(Reverse(Entry { due, arrival: self.arrivals, job }));
        self.next_alarm()
    }

    /// The demand of the first interactions is met, unless the alarm is void.
    pub fn end(&mut self, now: SimTime, alarm: u32, ready: &mut VecDeque<Job>) -> Option<Alarm> {
        if alarm != self.alarm {
            return None;
        }
        self.advance(now);
        while let Some(Reverse(first)) = self.jobs.peek()
            && first.due <= self.progress
        {
            ready.push_back(first.job);
            self.jobs.pop();
        }
        self.next_alarm()
    }

    /// The slowdown of each interaction, as a fraction.
    fn share(&self) -> (u128, u128) {
        let (jobs, cores) = (self.jobs.len() as u128, u128::from(self.cores));
        (jobs.max(cores), cores)
    }

    fn advance(&mut self, now: SimTime) {
        let (jobs, cores) = self.share();
        self.progress += (u128::from(now.since(self.at).0) << FRACTION_BITS) * cores / jobs;
        self.at = now;
    }

    fn next_alarm(&mut self) -> Option<Alarm> {
        let Reverse(first) = self.jobs.peek()?;
        let (jobs, cores) = self.share();
        // Rounded up, so that the first demand is met then.
        let left = first.due.saturating_sub(self.progress) * jobs;
        let wait = left.div_ceil(cores << FRACTION_BITS);
        self.alarm = self.alarm.wrapping_add(1);
        let at = SimTime(self.at.0.saturating_add(u64::try_from(wait).unwrap_or(u64::MAX)));
        Some((at, self.alarm))
    }

    /// All interactions end.
    pub fn clear(&mut self) {
        self.jobs.clear();
        self.alarm = self.alarm.wrapping_add(1);
    }
}
