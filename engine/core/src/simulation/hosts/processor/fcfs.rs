//! First come, first served: an interaction keeps its core until its demand is met.

use std::collections::VecDeque;

use super::{Alarm, Job};
use crate::units::SimTime;

/// Cores, and one queue for all of them.
#[derive(Debug)]
pub(super) struct Fcfs {
    running: Box<[Option<Job>]>,
    /// Indices of idle cores.
    idle: Vec<u32>,
    waiting: VecDeque<Job>,
}

impl Fcfs {
    pub fn new(cores: u32) -> Self {
        Self {
            running: vec![None; cores as usize].into(),
            idle: (0..cores).rev().collect(),
            waiting: VecDeque::new(),
        }
    }

    /// An interaction arrives.
    pub fn start(&mut self, now: SimTime, job: Job) -> Option<Alarm> {
        let Some(core) = self.idle.pop() else {
            self.waiting.push_back(job);
            return None;
        };
        Some(self.run(now, core, job))
    }

    /// The interaction on `core` has its processor time.
    pub fn end(&mut self, now: SimTime, core: u32, ready: &mut VecDeque<Job>) -> Option<Alarm> {
        ready.extend(self.running[core as usize].take());
        let Some(next) = self.waiting.pop_front() else {
            self.idle.push(core);
            return None;
        };
        Some(self.run(now, core, next))
    }

    fn run(&mut self, now: SimTime, core: u32, job: Job) -> Alarm {
        self.running[core as usize] = Some(job);
        (now + job.demand, core)
    }

    /// All interactions end.
    pub fn clear(&mut self) {
        *self = Self::new(self.running.len() as u32);
    }
}
